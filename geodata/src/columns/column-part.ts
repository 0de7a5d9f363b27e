import { randomUUID } from 'node:crypto'
import type { SharedLoads } from '../bytes/shared-loads.ts'
import type { SnapshotFiles } from '../snapshot/snapshot-files.ts'
import { emptyTables } from './code-tables.ts'
import { readSegments, type SegmentUnpacker } from './column-reader.ts'
import { type CompiledColumn, memoryOf } from './compiled-column.ts'
import { formOf, type PackedLists } from './unpack-column.ts'

export interface PartSource {
  /** The column without codes. */
  lists: CompiledColumn
  stored: PackedLists['stored']
  files: SnapshotFiles
  rows: number
  segmentRows: number
  unpacker: SegmentUnpacker
  /** Null if no other thread serves from these columns. */
  shared: SharedLoads | null
  /** Of the column among all shared loads. */
  key: string
}

/**
 * A large column of which some segments are in memory. Its arrays have the length of all rows, but the system gives
 * memory only to what is written. Codes of other segments are 0 and must not be read.
 */
export class ColumnPart {
  readonly column: CompiledColumn
  readonly #segmentBytes: number
  readonly #read: (segment: number) => Promise<void>
  readonly #release: (segment: number | null) => void
  readonly #segments = new Map<number, Promise<void>>()
  #isClosed = false

  private constructor(
    column: CompiledColumn,
    segmentBytes: number,
    read: (segment: number) => Promise<void>,
    release: (segment: number | null) => void,
  ) {
    this.column = column
    this.#segmentBytes = segmentBytes
    this.#read = read
    this.#release = release
  }

  static async open(source: PartSource): Promise<ColumnPart> {
    const { lists, stored, files, rows, segmentRows, unpacker, shared, key } = source
    // Another thread may still read segments into tables that all have forgotten; they have other keys.
    const make = async () => ({ made: randomUUID(), ...emptyTables(rows, formOf(stored)) })
    const tableKey = `${key} part`
    const { made, ...tables } = await (shared ? shared.load(tableKey, make) : make())
    const keyOf = (segment: number) => `${tableKey} ${made} ${segment}`
    const read = (segment: number) =>
      readSegments(files, { segmentRows }, { stored, tables, segments: [segment] }, unpacker)
    const readShared = async (segment: number) => {
      await shared!.load(keyOf(segment), async () => {
        await read(segment)
        return {}
      })
    }
    const { distinct, width, dictionary, codes } = stored
    const segmentBytes = Math.ceil(memoryOf(rows, distinct, width, dictionary.size) / codes.length)
    return new ColumnPart(lists.withTables(tables), segmentBytes, shared ? readShared : read, (segment) =>
      shared?.release(segment === null ? tableKey : keyOf(segment)),
    )
  }

  /** The segments that are in memory or are being read. */
  get segments(): Iterable<number> {
    return this.#segments.keys()
  }

  /** The memory of these segments. */
  get bytes(): number {
    return this.#segments.size * this.#segmentBytes
  }

  /** Reads the segments that are missing, `atOnce` of them at a time; the first of them at once. Throws a DamagedSnapshotError. */
  async load(segments: Iterable<number>, atOnce: number): Promise<void> {
    const loading: Promise<void>[] = []
    for (const segment of segments) {
      if (loading.length >= atOnce) await loading[loading.length - atOnce]
      loading.push(this.#load(segment))
    }
    await Promise.all(loading)
  }

  #load(segment: number): Promise<void> {
    let loading = this.#segments.get(segment)
    if (loading === undefined) {
      loading = this.#read(segment)
      // A failed attempt is not kept: the next call tries again.
      loading.catch(() => this.#segments.delete(segment))
      this.#segments.set(segment, loading)
      if (this.#isClosed) this.#releaseLoaded(segment, loading)
    }
    return loading
  }

  /** Call it when it leaves the cache. Who uses it still can. */
  close(): void {
    this.#isClosed = true
    this.#release(null)
    for (const [segment, loading] of this.#segments) this.#releaseLoaded(segment, loading)
  }

  #releaseLoaded(segment: number, loading: Promise<void>): void {
    loading.then(() => this.#release(segment)).catch(() => {})
  }
}
