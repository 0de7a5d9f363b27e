import { gzipSync } from 'node:zlib'
import { GrowingBytes } from '../../bytes/growing-bytes.ts'

/** The entries of a PMTiles 3 archive in ascending order of their tile numbers. */
export interface TileEntries {
  count: number
  /** The number of the first tile of each entry. */
  ids: Float64Array
  /** Where its bytes begin in the tile data. */
  offsets: Float64Array
  lengths: Uint32Array
  /** How many tiles in a row have these bytes; 0 marks a leaf directory. */
  runs: Uint32Array
}

const ENTRIES_PER_LEAF = 4096

export function makeEntries(capacity: number): TileEntries {
  return {
    count: 0,
    ids: new Float64Array(capacity),
    offsets: new Float64Array(capacity),
    lengths: new Uint32Array(capacity),
    runs: new Uint32Array(capacity),
  }
}

export function addEntry(
  entries: TileEntries,
  id: number,
  offset: number,
  length: number,
  run: number,
): void {
  if (entries.count === entries.ids.length) grow(entries)
  const at = entries.count++
  entries.ids[at] = id
  entries.offsets[at] = offset
  entries.lengths[at] = length
  entries.runs[at] = run
}

function grow(entries: TileEntries): void {
  const larger = makeEntries(entries.ids.length * 2)
  larger.ids.set(entries.ids)
  larger.offsets.set(entries.offsets)
  larger.lengths.set(entries.lengths)
  larger.runs.set(entries.runs)
  larger.count = entries.count
  Object.assign(entries, larger)
}

export interface Directories {
  root: Buffer
  leaves: Buffer
}

/** The root directory, which has at most `maxRoot` bytes, and the leaf directories that it may need. */
export function writeDirectories(entries: TileEntries, maxRoot: number): Directories {
  const whole = writeDirectory(entries, 0, entries.count)
  if (whole.length <= maxRoot) return { root: whole, leaves: Buffer.alloc(0) }
  for (let size = ENTRIES_PER_LEAF; ; size *= 2) {
    const leaves: Buffer[] = []
    const pointers = makeEntries(Math.ceil(entries.count / size))
    let offset = 0
    for (let from = 0; from < entries.count; from += size) {
      const leaf = writeDirectory(entries, from, Math.min(entries.count, from + size))
      addEntry(pointers, entries.ids[from]!, offset, leaf.length, 0)
      offset += leaf.length
      leaves.push(leaf)
    }
    const root = writeDirectory(pointers, 0, pointers.count)
    if (root.length <= maxRoot) return { root, leaves: Buffer.concat(leaves) }
  }
}

function writeDirectory({ ids, offsets, lengths, runs }: TileEntries, from: number, to: number): Buffer {
  const bytes = new GrowingBytes()
  bytes.varint(to - from)
  for (let i = from; i < to; i++) bytes.varint(i === from ? ids[i]! : ids[i]! - ids[i - 1]!)
  for (let i = from; i < to; i++) bytes.varint(runs[i]!)
  for (let i = from; i < to; i++) bytes.varint(lengths[i]!)
  for (let i = from; i < to; i++) {
    const follows = i > from && offsets[i] === offsets[i - 1]! + lengths[i - 1]!
    bytes.varint(follows ? 0 : offsets[i]! + 1)
  }
  return gzipSync(bytes.bytes())
}

/** Reads the entries of a directory that is not compressed any more and adds them to `entries`. */
export function readDirectory(bytes: Uint8Array, entries: TileEntries): void {
  let at = 0
  const next = (): number => {
    let value = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at++]
      if (byte === undefined) throw new Error('a directory of the tile archive ends too early')
      value += (byte & 0x7f) * factor
      if (byte < 128) return value
    }
  }
  const count = next()
  const first = entries.count
  let id = 0
  for (let i = 0; i < count; i++) {
    id += next()
    addEntry(entries, id, 0, 0, 0)
  }
  for (let i = 0; i < count; i++) entries.runs[first + i] = next()
  for (let i = 0; i < count; i++) entries.lengths[first + i] = next()
  for (let i = 0; i < count; i++) {
    const value = next()
    const before = first + i - 1
    entries.offsets[first + i] =
      value === 0 && i > 0 ? entries.offsets[before]! + entries.lengths[before]! : value - 1
  }
}

/** The entry that holds a tile, or -1. */
export function findEntry({ ids, runs, count }: TileEntries, id: number): number {
  let low = 0
  let high = count - 1
  while (low <= high) {
    const middle = (low + high) >>> 1
    if (ids[middle]! <= id) low = middle + 1
    else high = middle - 1
  }
  return high >= 0 && id < ids[high]! + runs[high]! ? high : -1
}
