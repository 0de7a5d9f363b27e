import type { DatabaseSync } from 'node:sqlite'

/** SQLite's own limit for two dimensions: 51 cells of 24 bytes after a header of 4 bytes. */
const NODE_CELLS = 51
const CELL = 24
const NODE_BYTES = 4 + NODE_CELLS * CELL
const ROOT = 1
/** Rows of one statement: calling SQLite for each row took as long as the inserting. */
const BATCH = 250

/** The boxes of one level and their ids: a row, or a node of the level below. */
interface Level {
  ids: Float64Array<ArrayBuffer>
  boxes: Float32Array
  count: number
}

/**
 * Fills an R*Tree from boxes whose positions are in Hilbert order by writing SQLite's shadow tables directly.
 * Neighbours share a node, every node is full, and it takes a tenth of the time of inserting the boxes one by
 * one.
 */
export class RtreeBuilder {
  readonly #database: DatabaseSync
  readonly #name: string
  /** By position. */
  readonly #ids: Float64Array<ArrayBuffer>
  /** By position; NaN for features without a box. */
  readonly #boxes: Float32Array<ArrayBuffer>

  constructor(database: DatabaseSync, name: string, features: number) {
    this.#database = database
    this.#name = name
    this.#ids = new Float64Array(features)
    this.#boxes = new Float32Array(features * 4).fill(Number.NaN)
    database.exec(`CREATE VIRTUAL TABLE "${name}" USING rtree(id, minx, maxx, miny, maxy)`)
  }

  set(position: number, id: number, west: number, east: number, south: number, north: number): void {
    this.#ids[position] = id
    setBox(this.#boxes, position, below(west), above(east), below(south), above(north))
  }

  /** `order` has the positions in the order of their ids; null if that is the order of positions. */
  finish(order: Uint32Array | null): void {
    const node = this.#database.prepare(
      `INSERT OR REPLACE INTO "${this.#name}_node" (nodeno, data) VALUES (?, ?)`,
    )
    const parent = this.#database.prepare(
      `INSERT INTO "${this.#name}_parent" (nodeno, parentnode) VALUES (?, ?)`,
    )
    const leaves = this.#withBoxes()
    const leafNodes = new Uint32Array(leaves.count).fill(ROOT)
    let level = leaves
    let height = 0
    let next = ROOT + 1
    while (level.count > NODE_CELLS) {
      const nodes = Math.ceil(level.count / NODE_CELLS)
      const above: Level = { ids: new Float64Array(nodes), boxes: new Float32Array(nodes * 4), count: nodes }
      for (let j = 0; j < nodes; j++) {
        const start = Math.floor((j * level.count) / nodes)
        const end = Math.floor(((j + 1) * level.count) / nodes)
        above.ids[j] = next
        uniteBoxes(level.boxes, start, end, above.boxes, j)
        node.run(next, encodeNode(level, start, end, 0))
        if (height === 0) leafNodes.fill(next, start, end)
        else for (let i = start; i < end; i++) parent.run(level.ids[i]!, next)
        next++
      }
      level = above
      height++
    }
    node.run(ROOT, encodeNode(level, 0, level.count, height))
    if (height > 0) for (let i = 0; i < level.count; i++) parent.run(level.ids[i]!, ROOT)
    this.#insertRows(leafNodes, order)
  }

  /** The boxes in the order of positions, without features that have none. */
  #withBoxes(): Level {
    const level: Level = { ids: this.#ids.slice(), boxes: this.#boxes.slice(), count: 0 }
    for (let position = 0; position < this.#ids.length; position++) {
      if (!this.#hasBox(position)) continue
      level.ids[level.count] = this.#ids[position]!
      level.boxes.copyWithin(level.count * 4, position * 4, position * 4 + 4)
      level.count++
    }
    return level
  }

  /** Inserts in the order of ids, because the table is a B-tree by id. */
  #insertRows(leafNodes: Uint32Array, order: Uint32Array | null): void {
    const insertOf = (rows: number) =>
      this.#database.prepare(
        `INSERT INTO "${this.#name}_rowid" (rowid, nodeno) VALUES ${Array(rows).fill('(?, ?)').join()}`,
      )
    const insertBatch = insertOf(BATCH)
    const batch: number[] = []
    const leafOf = new Uint32Array(this.#ids.length)
    for (let position = 0, leaf = 0; position < leafOf.length; position++)
      if (this.#hasBox(position)) leafOf[position] = leaf++
    for (let k = 0; k < leafOf.length; k++) {
      const position = order ? order[k]! : k
      if (!this.#hasBox(position)) continue
      batch.push(this.#ids[position]!, leafNodes[leafOf[position]!]!)
      if (batch.length < BATCH * 2) continue
      insertBatch.run(...batch)
      batch.length = 0
    }
    if (batch.length > 0) insertOf(batch.length / 2).run(...batch)
  }

  #hasBox(position: number): boolean {
    return !Number.isNaN(this.#boxes[position * 4]!)
  }
}

function encodeNode(level: Level, start: number, end: number, height: number): Uint8Array {
  const bytes = new Uint8Array(NODE_BYTES)
  const view = new DataView(bytes.buffer)
  view.setUint16(0, height)
  view.setUint16(2, end - start)
  for (let i = start, at = 4; i < end; i++, at += CELL) {
    view.setBigInt64(at, BigInt(level.ids[i]!))
    for (let side = 0; side < 4; side++) view.setFloat32(at + 8 + side * 4, level.boxes[i * 4 + side]!)
  }
  return bytes
}

function setBox(
  boxes: Float32Array,
  i: number,
  west: number,
  east: number,
  south: number,
  north: number,
): void {
  boxes[i * 4] = west
  boxes[i * 4 + 1] = east
  boxes[i * 4 + 2] = south
  boxes[i * 4 + 3] = north
}

function uniteBoxes(boxes: Float32Array, start: number, end: number, into: Float32Array, at: number): void {
  let [west, east, south, north] = [Infinity, -Infinity, Infinity, -Infinity]
  for (let i = start; i < end; i++) {
    west = Math.min(west, boxes[i * 4]!)
    east = Math.max(east, boxes[i * 4 + 1]!)
    south = Math.min(south, boxes[i * 4 + 2]!)
    north = Math.max(north, boxes[i * 4 + 3]!)
  }
  setBox(into, at, west, east, south, north)
}

const float = new Float32Array(1)
const bits = new Int32Array(float.buffer)

/** The largest 32-bit float that is not greater: boxes are stored as such floats and must not shrink. */
function below(value: number): number {
  float[0] = value
  if (float[0] > value) step(-1)
  return float[0]
}

function above(value: number): number {
  float[0] = value
  if (float[0] < value) step(1)
  return float[0]
}

/** Moves to the next 32-bit float up or down. The bits of a float count away from zero on both sides. */
function step(direction: 1 | -1): void {
  if (float[0] === 0) {
    bits[0] = direction === 1 ? 1 : -0x7fffffff
  } else bits[0]! += float[0]! > 0 ? direction : -direction
}
