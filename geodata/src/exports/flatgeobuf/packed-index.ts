import type { ByteSink } from '../byte-sink.ts'

export const NODE_SIZE = 16
const NODE_BYTES = 40
const LEAVES_PER_WRITE = 1 << 14

/** The number of nodes of each level, from the leaves to the root. */
function levelCounts(items: number): number[] {
  const counts = [items]
  do counts.push(Math.ceil(counts.at(-1)! / NODE_SIZE))
  while (counts.at(-1)! > 1)
  return counts
}

function indexBytes(items: number): number {
  return levelCounts(items).reduce((sum, count) => sum + count, 0) * NODE_BYTES
}

/**
 * FlatGeobuf's packed R-tree over features that are already in Hilbert order. It precedes the features in the
 * file and needs their sizes, so its space is reserved and filled while they are written. Only the levels
 * above the leaves are kept in memory.
 */
export class PackedIndex {
  readonly #sink: ByteSink
  readonly #start: number
  readonly #counts: number[]
  readonly #parents: Float64Array
  readonly #leaves = new DataView(new ArrayBuffer(LEAVES_PER_WRITE * NODE_BYTES))
  #held = 0
  #added = 0

  /** Reserves space in `sink` for the index of `items` features. */
  constructor(sink: ByteSink, items: number) {
    this.#sink = sink
    this.#start = sink.length
    this.#counts = levelCounts(items)
    this.#parents = emptyBoxes(this.#counts[1]!)
    for (let remainingBytes = indexBytes(items); remainingBytes > 0; remainingBytes -= 1 << 20)
      sink.write(Buffer.alloc(Math.min(remainingBytes, 1 << 20)))
  }

  /** `offset` is relative to the first feature. Without a location the box is inverted: no search hits it. */
  add(west: number, south: number, east: number, north: number, offset: number): void {
    putNode(this.#leaves, this.#held++ * NODE_BYTES, west, south, east, north, offset)
    extend(this.#parents, Math.floor(this.#added++ / NODE_SIZE), west, south, east, north)
    if (this.#held === LEAVES_PER_WRITE) this.#flushLeaves()
  }

  finish(): void {
    this.#flushLeaves()
    let boxes = this.#parents
    for (let level = 1; level < this.#counts.length; level++) {
      const count = this.#counts[level]!
      const nodes = new DataView(new ArrayBuffer(count * NODE_BYTES))
      const above = emptyBoxes(this.#counts[level + 1] ?? 1)
      for (let i = 0; i < count; i++) {
        const [west, south, east, north] = boxes.subarray(i * 4, i * 4 + 4) as unknown as [
          number,
          number,
          number,
          number,
        ]
        const child = this.#firstOfLevel(level - 1) + i * NODE_SIZE
        putNode(nodes, i * NODE_BYTES, west, south, east, north, child)
        extend(above, Math.floor(i / NODE_SIZE), west, south, east, north)
      }
      this.#sink.patch(this.#start + this.#firstOfLevel(level) * NODE_BYTES, new Uint8Array(nodes.buffer))
      boxes = above
    }
  }

  /** Levels are stored from the root down. */
  #firstOfLevel(level: number): number {
    return this.#counts.slice(level + 1).reduce((sum, count) => sum + count, 0)
  }

  #flushLeaves(): void {
    const first = this.#firstOfLevel(0) + this.#added - this.#held
    this.#sink.patch(
      this.#start + first * NODE_BYTES,
      new Uint8Array(this.#leaves.buffer, 0, this.#held * NODE_BYTES),
    )
    this.#held = 0
  }
}

function emptyBoxes(count: number): Float64Array {
  const boxes = new Float64Array(count * 4)
  for (let i = 0; i < boxes.length; i++) boxes[i] = i % 4 < 2 ? Infinity : -Infinity
  return boxes
}

function extend(
  boxes: Float64Array,
  i: number,
  west: number,
  south: number,
  east: number,
  north: number,
): void {
  const at = i * 4
  if (west < boxes[at]!) boxes[at] = west
  if (south < boxes[at + 1]!) boxes[at + 1] = south
  if (east > boxes[at + 2]!) boxes[at + 2] = east
  if (north > boxes[at + 3]!) boxes[at + 3] = north
}

function putNode(
  view: DataView,
  at: number,
  west: number,
  south: number,
  east: number,
  north: number,
  offset: number,
): void {
  view.setFloat64(at, west, true)
  view.setFloat64(at + 8, south, true)
  view.setFloat64(at + 16, east, true)
  view.setFloat64(at + 24, north, true)
  view.setUint32(at + 32, offset % 2 ** 32, true)
  view.setUint32(at + 36, Math.floor(offset / 2 ** 32), true)
}
