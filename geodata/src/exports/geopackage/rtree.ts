import type { DatabaseSync } from 'node:sqlite'
import { sortPositions } from './sort-positions.ts'
import { BtreeWriter } from './sqlite/btree-writer.ts'
import type { PageFile } from './sqlite/page-file.ts'
import { SqliteRecord } from './sqlite/record.ts'

/** SQLite's own limit for two dimensions: 51 cells of 24 bytes after a header of 4 bytes. */
const NODE_CELLS = 51
const CELL = 24
const NODE_BYTES = 4 + NODE_CELLS * CELL
const ROOT = 1

/** The boxes of one level: of rows, or of the nodes of the level below. */
interface Level {
  boxes: Float32Array
  count: number
}

/** The root pages of the tables in which SQLite stores an R*Tree. */
export interface RtreeRoots {
  node: number
  parent: number
  rowid: number
}

export function createRtree(database: DatabaseSync, name: string): RtreeRoots {
  database.exec(`CREATE VIRTUAL TABLE "${name}" USING rtree(id, minx, maxx, miny, maxy)`)
  const rootOf = (table: string) => rootPage(database, `${name}_${table}`)
  return { node: rootOf('node'), parent: rootOf('parent'), rowid: rootOf('rowid') }
}

export function rootPage(database: DatabaseSync, table: string): number {
  const row = database.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(table)
  return row!['rootpage'] as number
}

/**
 * Fills an R*Tree from boxes in Hilbert order by writing SQLite's shadow tables directly. Neighbours share a node,
 * every node is full, and it takes a tenth of the time of inserting the boxes one by one.
 */
export class RtreeBuilder {
  readonly #ids: Float64Array
  readonly #boxes: Float32Array
  #count = 0

  constructor(maxBoxes: number) {
    this.#ids = new Float64Array(maxBoxes)
    this.#boxes = new Float32Array(maxBoxes * 4)
  }

  add(id: number, west: number, east: number, south: number, north: number): void {
    this.#ids[this.#count] = id
    setBox(this.#boxes, this.#count++, below(west), above(east), below(south), above(north))
  }

  write(file: PageFile, roots: RtreeRoots): void {
    const levels: Level[] = [{ boxes: this.#boxes, count: this.#count }]
    while (levels.at(-1)!.count > NODE_CELLS) levels.push(levelAbove(levels.at(-1)!))
    const firstNodes = firstNodesOf(levels)
    this.#writeNodes(new BtreeWriter(file, roots.node), levels, firstNodes)
    this.#writeParents(new BtreeWriter(file, roots.parent), levels, firstNodes)
    this.#writeRows(new BtreeWriter(file, roots.rowid), levels, firstNodes)
  }

  #writeNodes(table: BtreeWriter, levels: Level[], firstNodes: number[]): void {
    const record = new SqliteRecord(2)
    for (let height = levels.length - 1; height >= 0; height--) {
      const nodes = levels[height + 1]?.count ?? 1
      for (let j = 0; j < nodes; j++) {
        record.begin()
        record.null()
        record.blob(NODE_BYTES, (view, at) => this.#putNode(view, at, levels, firstNodes, height, j))
        record.finish()
        table.add(firstNodes[height]! + j, record.buffer, record.start, record.end)
      }
    }
    table.finish()
  }

  #putNode(
    view: DataView,
    start: number,
    levels: Level[],
    firstNodes: number[],
    height: number,
    j: number,
  ): number {
    const { boxes, count } = levels[height]!
    const nodes = levels[height + 1]?.count ?? 1
    const first = startOf(j, nodes, count)
    const end = startOf(j + 1, nodes, count)
    // Only the root says how many levels are below it.
    view.setUint16(start, height === levels.length - 1 ? height : 0)
    view.setUint16(start + 2, end - first)
    let at = start + 4
    for (let i = first; i < end; i++, at += CELL) {
      const id = height === 0 ? this.#ids[i]! : firstNodes[height - 1]! + i
      const high = Math.floor(id / 2 ** 32)
      view.setInt32(at, high)
      view.setUint32(at + 4, id - high * 2 ** 32)
      for (let side = 0; side < 4; side++) view.setFloat32(at + 8 + side * 4, boxes[i * 4 + side]!)
    }
    for (; at < start + NODE_BYTES; at += 4) view.setUint32(at, 0)
    return at
  }

  #writeParents(table: BtreeWriter, levels: Level[], firstNodes: number[]): void {
    const record = new SqliteRecord(2)
    for (let height = levels.length - 1; height > 0; height--) {
      const nodes = levels[height + 1]?.count ?? 1
      const { count } = levels[height]!
      for (let j = 0; j < nodes; j++) {
        for (let i = startOf(j, nodes, count); i < startOf(j + 1, nodes, count); i++)
          addNumber(table, record, firstNodes[height - 1]! + i, firstNodes[height]! + j)
      }
    }
    table.finish()
  }

  /** The leaf of each row. */
  #writeRows(table: BtreeWriter, levels: Level[], firstNodes: number[]): void {
    const record = new SqliteRecord(2)
    const leaves = levels[1]?.count ?? 1
    const leafOf = new Uint32Array(this.#count)
    for (let j = 0; j < leaves; j++)
      leafOf.fill(firstNodes[0]! + j, startOf(j, leaves, this.#count), startOf(j + 1, leaves, this.#count))
    for (const position of sortPositions(this.#ids, 0, this.#count))
      addNumber(table, record, this.#ids[position]!, leafOf[position]!)
    table.finish()
  }
}

function addNumber(table: BtreeWriter, record: SqliteRecord, id: number, value: number): void {
  record.begin()
  // The id is the key of the row.
  record.null()
  record.integer(value)
  record.finish()
  table.add(id, record.buffer, record.start, record.end)
}

/** Nodes are numbered from the root down, so that they are written in the order of their numbers. */
function firstNodesOf(levels: Level[]): number[] {
  const firstNodes: number[] = []
  let next = ROOT
  for (let height = levels.length - 1; height >= 0; height--) {
    firstNodes[height] = next
    next += levels[height + 1]?.count ?? 1
  }
  return firstNodes
}

/** Where node `j` begins if `count` boxes are divided evenly. */
function startOf(j: number, nodes: number, count: number): number {
  return Math.floor((j * count) / nodes)
}

function levelAbove({ boxes, count }: Level): Level {
  const nodes = Math.ceil(count / NODE_CELLS)
  const above: Level = { boxes: new Float32Array(nodes * 4), count: nodes }
  for (let j = 0; j < nodes; j++)
    uniteBoxes(boxes, startOf(j, nodes, count), startOf(j + 1, nodes, count), above.boxes, j)
  return above
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
