import { closeSync, openSync } from 'node:fs'
import { readFullySync } from '../../bytes/read-fully.ts'
import { idBuckets } from '../../snapshot/id-table.ts'
import { HEAD_NUMBERS, type IndexShape, MAGIC } from '../../snapshot/index-file.ts'
import { treeNodeNumbers } from '../../snapshot/index-tree.ts'
import { IdTableWriter } from './id-table-writer.ts'
import { SectionWriter, writeWhole } from './section-writer.ts'

/** The children of a node: see index-tree.ts. */
const FANOUT = 16

/**
 * Writes `features.index` (see index-file.ts) while the features are merged, all parts at the same time, each from
 * its offset on. Its memory does not grow with the number of features.
 */
export class IndexWriter {
  readonly shape: IndexShape
  readonly #handle: number
  readonly #leaves: SectionWriter
  readonly #levels: TreeLevel[]
  readonly #offsets: SectionWriter
  readonly #offsetsAt: number
  readonly #idStarts: SectionWriter
  readonly #idPositions: SectionWriter
  readonly #ids: IdTableWriter

  /** `scratchFolder` is for temporary files; `partitionRows` is how many ids are sorted in memory at once. */
  constructor(path: string, shape: IndexShape, scratchFolder: string, partitionRows?: number) {
    const { rows, located, isPoints, narrow } = shape
    const handle = openSync(path, 'w+')
    const head = new Float64Array(HEAD_NUMBERS)
    head.set([MAGIC, rows, located, isPoints ? 1 : 0, narrow ? 1 : 0])
    writeWhole(handle, new Uint8Array(head.buffer), 0)
    const leafNumbers = located * (isPoints ? 2 : 4)
    const leavesAt = HEAD_NUMBERS * 8
    const nodesAt = leavesAt + leafNumbers * 8
    this.#offsetsAt = nodesAt + treeNodeNumbers(located) * 8
    const startsAt = this.#offsetsAt + (rows + 1) * (narrow ? 4 : 8)
    const buckets = idBuckets(rows)
    this.shape = shape
    this.#handle = handle
    this.#leaves = new SectionWriter(handle, leavesAt, leafNumbers, true)
    this.#levels = treeLevels(handle, nodesAt, located)
    this.#offsets = new SectionWriter(handle, this.#offsetsAt, rows + 1, !narrow)
    this.#idStarts = new SectionWriter(handle, startsAt, buckets + 1, false)
    this.#idPositions = new SectionWriter(handle, startsAt + (buckets + 1) * 4, rows, false)
    this.#ids = new IdTableWriter(rows, scratchFolder, partitionRows)
  }

  /** Adds the offset of the next feature in the pack, and after the last one that of the end. */
  addOffset(offset: number): void {
    this.#offsets.add(offset)
  }

  /** Adds the hash of the next feature's id. */
  addId(hash: number): void {
    this.#ids.add(hash)
  }

  /** Adds the box of the next feature that has a location. */
  addLeaf(west: number, south: number, east: number, north: number): void {
    const leaves = this.#leaves
    leaves.add(west)
    leaves.add(south)
    if (!this.shape.isPoints) {
      leaves.add(east)
      leaves.add(north)
    }
    this.#levels[0]?.extend(west, south, east, north)
  }

  finish(): void {
    this.#leaves.finish()
    for (const level of this.#levels) level.finish()
    this.#offsets.finish()
    this.#ids.finish(this.#idStarts, this.#idPositions)
    this.#idStarts.finish()
    this.#idPositions.finish()
  }

  /** The offsets of a feature and of the next one, after `finish`. */
  rangeOf(position: number): [from: number, to: number] {
    const width = this.shape.narrow ? 4 : 8
    const bytes = new Uint8Array(2 * width)
    readFullySync(this.#handle, bytes, this.#offsetsAt + position * width)
    const offsets = this.shape.narrow ? new Uint32Array(bytes.buffer) : new Float64Array(bytes.buffer)
    return [offsets[0]!, offsets[1]!]
  }

  close(): void {
    this.#ids.close()
    closeSync(this.#handle)
  }
}

/** The levels of inner nodes, from the leaves' parents to the root, each with the one above. */
function treeLevels(handle: number, nodesAt: number, leaves: number): TreeLevel[] {
  const counts: number[] = []
  for (let count = leaves; count > 1; ) {
    count = Math.ceil(count / FANOUT)
    counts.push(count)
  }
  const starts = counts.map((_, i) => counts.slice(0, i).reduce((sum, count) => sum + count, 0))
  let above: TreeLevel | null = null
  const levels: TreeLevel[] = []
  for (let i = counts.length - 1; i >= 0; i--) {
    const section: SectionWriter = new SectionWriter(handle, nodesAt + starts[i]! * 32, counts[i]! * 4, true)
    above = new TreeLevel(section, above)
    levels.unshift(above)
  }
  return levels
}

/** The nodes of one level: the box of the current one grows with its children. */
class TreeLevel {
  readonly #section: SectionWriter
  readonly #above: TreeLevel | null
  #children = 0
  #west = Infinity
  #south = Infinity
  #east = -Infinity
  #north = -Infinity

  constructor(section: SectionWriter, above: TreeLevel | null) {
    this.#section = section
    this.#above = above
  }

  extend(west: number, south: number, east: number, north: number): void {
    if (west < this.#west) this.#west = west
    if (south < this.#south) this.#south = south
    if (east > this.#east) this.#east = east
    if (north > this.#north) this.#north = north
    if (++this.#children === FANOUT) this.#close()
  }

  finish(): void {
    if (this.#children > 0) this.#close()
    this.#section.finish()
  }

  #close(): void {
    const section = this.#section
    section.add(this.#west)
    section.add(this.#south)
    section.add(this.#east)
    section.add(this.#north)
    this.#above?.extend(this.#west, this.#south, this.#east, this.#north)
    this.#children = 0
    this.#west = this.#south = Infinity
    this.#east = this.#north = -Infinity
  }
}
