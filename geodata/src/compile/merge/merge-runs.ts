import { type FileHandle, open } from 'node:fs/promises'
import { FEATURE_HEAD, PACK_SEPARATOR } from '../../pack/pack.ts'
import { hashId } from '../../snapshot/id-table.ts'
import type { Checksums, GrowingFile } from '../checksums/checksums.ts'
import type { FileChecksums } from '../checksums/file-checksums.ts'
import type { Run } from '../stage/run-writer.ts'
import type { IndexWriter } from './index-writer.ts'
import type { PropertyLines } from './property-lines.ts'
import type { RowNumbersFile } from './row-numbers-file.ts'
import { type RunCursor, RunReader } from './run-reader.ts'

const BLOCK_BYTES = 1 << 22
/** The size of the first block for each feature. More is allocated if the features are larger. */
const FEATURE_BYTES = 1024
const HEAD = Buffer.from(FEATURE_HEAD)
/** The max number of digits of a row number. */
const ID_BYTES = 20

export interface MergeOptions {
  /** Whether features have other ids than the numbers of their rows. */
  ids: boolean
  /** Ids and properties, if those of the runs are not used. */
  lines: PropertyLines | null
  /** Gets the numbers of the rows in snapshot order. */
  rowNumbers: RowNumbersFile | null
  checksums: Checksums
  signal: AbortSignal | undefined
  /** Called with the number of rows that were merged so far. */
  onRows: (rows: number) => void
}

/**
 * Writes the pack from all runs, and its index on the way.
 *
 * Ids and properties come from the runs (without `ids`, row numbers are the ids) or, if `lines` are given,
 * from the lines; rows without a line are then left out.
 *
 * When it resolves, the pack is written; its checksums may take longer.
 */
export async function mergeRuns(
  runs: Run[],
  path: string,
  index: IndexWriter,
  options: MergeOptions,
): Promise<{ checksums: Promise<FileChecksums> }> {
  const reader = new RunReader(runs)
  const handle = await open(path, 'w')
  const pack = new PackWriter(handle, index, options.checksums.follow(path))
  const { ids, lines, rowNumbers, signal, onRows } = options
  onRows(0)
  try {
    for (let cursor = reader.first(); cursor !== null; cursor = reader.first()) {
      if (lines === null || lines.reach(cursor.row)) {
        const room = HEAD.length + ID_BYTES + cursor.end - cursor.id + (lines?.length ?? 0)
        if (!pack.hasRoom(room)) {
          signal?.throwIfAborted()
          onRows(pack.rows)
          await pack.flush(room)
        }
        pack.feature(cursor, ids, lines)
        rowNumbers?.add(cursor.row)
      }
      reader.advance()
    }
    rowNumbers?.finish()
    return await pack.finish()
  } finally {
    reader.close()
    await pack.settled()
    await handle.close()
  }
}

class PackWriter {
  readonly #handle: FileHandle
  readonly #index: IndexWriter
  readonly #checksums: GrowingFile
  #block: Buffer
  #spare: Buffer | null = null
  #length = 0
  #written = 0
  #rows = 0
  #writing: Promise<void> = Promise.resolve()

  constructor(handle: FileHandle, index: IndexWriter, checksums: GrowingFile) {
    this.#handle = handle
    this.#index = index
    this.#checksums = checksums
    // A small dataset needs only a part of a block.
    this.#block = Buffer.allocUnsafeSlow(Math.min(BLOCK_BYTES, index.shape.rows * FEATURE_BYTES))
  }

  get rows(): number {
    return this.#rows
  }

  hasRoom(bytes: number): boolean {
    return this.#length + bytes <= this.#block.length
  }

  feature(cursor: RunCursor, ids: boolean, lines: PropertyLines | null): void {
    const block = this.#block
    const { bytes } = cursor
    let at = this.#length
    this.#index.addOffset(this.#written + at)
    at += HEAD.copy(block, at)
    const id = at
    if (lines !== null) at += lines.bytes.copy(block, at, lines.id, lines.properties - 1)
    else if (ids) at += bytes.copy(block, at, cursor.id, cursor.geometry)
    else at = writeDigits(block, at, cursor.row)
    this.#index.addId(hashId(block, id, at))
    this.#rows++
    if (lines === null) at += bytes.copy(block, at, cursor.geometry, cursor.end)
    else {
      at += bytes.copy(block, at, cursor.geometry, cursor.properties)
      at += lines.bytes.copy(block, at, lines.properties, lines.end)
    }
    this.#length = at
    this.#leaf(cursor)
  }

  #leaf({ view, box, id }: RunCursor): void {
    if (box === id) return
    const isPoint = id - box === 16
    const west = view.getFloat64(box, true)
    const south = view.getFloat64(box + 8, true)
    const east = isPoint ? west : view.getFloat64(box + 16, true)
    this.#index.addLeaf(west, south, east, isPoint ? south : view.getFloat64(box + 24, true))
  }

  /** Writes the current block in the background and starts the next one with room for `room` bytes. */
  async flush(room: number): Promise<void> {
    const block = this.#block
    await this.#write()
    const size = Math.max(BLOCK_BYTES, room)
    this.#block = this.#spare?.length === size ? this.#spare : Buffer.allocUnsafeSlow(size)
    this.#spare = block.length === BLOCK_BYTES ? block : null
  }

  /** Writes the current block in the background, after the one before. */
  async #write(): Promise<void> {
    await this.#writing
    const length = this.#length
    this.#writing = this.#writeAll(this.#block.subarray(0, length), this.#written)
    // Prevents an unhandled rejection; the next await of `#writing` throws the error.
    this.#writing.catch(() => {})
    this.#written += length
    this.#length = 0
  }

  async #writeAll(bytes: Buffer, position: number): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const { bytesWritten } = await this.#handle.write(bytes, at, bytes.length - at, position + at)
      at += bytesWritten
    }
    this.#checksums.written(bytes)
  }

  async finish(): Promise<{ checksums: Promise<FileChecksums> }> {
    const { rows } = this.#index.shape
    if (this.#rows !== rows) throw new Error(`the pack has ${this.#rows} features instead of ${rows}`)
    this.#index.addOffset(rows === 0 ? PACK_SEPARATOR.length : this.#written + this.#length)
    // There is no separator after the last feature.
    this.#length = Math.max(0, this.#length - PACK_SEPARATOR.length)
    await this.#write()
    await this.#writing
    const checksums = this.#checksums.finish()
    // Whoever awaits it gets the error.
    checksums.catch(() => {})
    return { checksums }
  }

  async settled(): Promise<void> {
    await this.#writing.catch(() => {})
  }
}

function writeDigits(block: Buffer, from: number, value: number): number {
  let count = 1
  for (let limit = 10; value >= limit; limit *= 10) count++
  let rest = value
  for (let at = from + count - 1; at >= from; at--) {
    const tenth = Math.floor(rest / 10)
    block[at] = 48 + rest - tenth * 10
    rest = tenth
  }
  return from + count
}
