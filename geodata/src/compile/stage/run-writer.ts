import { appendFileSync } from 'node:fs'
import { ColumnBytes } from '../../pack/column-bytes.ts'
import { GEOMETRY_HEAD } from '../../pack/pack.ts'
import { type Cursor, CursorHeap } from './cursor-heap.ts'
import type { StagedPlaces } from './staged-places.ts'

/**
 * A sorted run: some features in snapshot order with the finished text of each, as a range of a file. Merging
 * all runs gives the pack. The layout of a record, little-endian:
 *
 * | part | |
 * |---|---|
 * | key, row | float64 each: the sort key |
 * | length of the record, of id, of geometry, of properties | uint32 each |
 * | box | float64 each: 4, 2 for a point, none without a location; its size follows from the lengths |
 * | id | JSON, or nothing |
 * | geometry | `,"geometry":…` |
 * | properties | `,"properties":{…}},` and a newline, or nothing |
 */
export interface Run {
  file: string
  start: number
  end: number
}

export const RECORD_HEAD = 32

/** Writes the id and properties of a row, if they are known while staging. */
export interface RowTexts {
  id(row: number, out: ColumnBytes): void
  properties(row: number, out: ColumnBytes): void
}

/**
 * The chunks that become one run. They are merged in memory, in the threads that stage them: with fewer and longer
 * runs, the final merge has larger buffers and a smaller heap.
 */
const RUN_CHUNKS = 16
const RUN_BYTES = 1 << 24

/** Sorts the rows of chunks and writes them as runs. */
export class RunWriter {
  readonly runs: Run[] = []
  readonly #file: string
  /** The records of the sorted chunks of the next run, and where each chunk ends. */
  readonly #out = new ColumnBytes()
  readonly #merged = new ColumnBytes()
  #ends: number[] = []
  #written = 0
  #order = new Uint32Array(0)
  #spare = new Uint32Array(0)
  #low = new Uint32Array(0)
  #high = new Uint32Array(0)

  constructor(file: string) {
    this.#file = file
  }

  /** The bytes of all rows so far. */
  get bytes(): number {
    return this.#written + this.#out.length
  }

  write(rows: number[], places: StagedPlaces, texts: RowTexts): void {
    for (const row of this.#sort(places.keys, rows.length)) this.#record(row, rows[row]!, places, texts)
    this.#ends.push(this.#out.length)
    if (this.#ends.length === RUN_CHUNKS || this.#out.length >= RUN_BYTES) this.finish()
  }

  /** Writes the chunks so far as a run. */
  finish(): void {
    const out = this.#out
    if (this.#ends.length === 0) return
    const bytes = this.#ends.length === 1 ? out.bytes() : this.#mergeChunks()
    appendFileSync(this.#file, bytes)
    this.runs.push({ file: this.#file, start: this.#written, end: this.#written + bytes.length })
    this.#written += bytes.length
    this.#ends = []
    out.clear()
    this.#merged.clear()
  }

  #mergeChunks(): Buffer {
    const { buffer, view } = this.#out
    const merged = this.#merged
    merged.reserve(this.#out.length)
    const cursors = this.#ends.map((end, i) => new ChunkCursor(view, this.#ends[i - 1] ?? 0, end))
    const heap = new CursorHeap(cursors)
    for (let cursor = heap.first(); cursor !== null; cursor = heap.first()) {
      merged.copy(buffer, cursor.at, cursor.end)
      heap.advance()
    }
    return merged.bytes()
  }

  #record(row: number, number: number, places: StagedPlaces, texts: RowTexts): void {
    const out = this.#out
    const start = out.length
    out.double(places.keys[row]!)
    out.double(number)
    for (let i = 0; i < 4; i++) out.uint32(0)
    for (let i = 0; i < places.boxNumbers[row]!; i++) out.double(places.boxes[row * 4 + i]!)
    const id = out.length
    texts.id(row, out)
    const geometry = out.length
    out.ascii(GEOMETRY_HEAD)
    const text = places.textStarts[row]!
    if (text === 0) out.ascii('null')
    else out.copy(places.text.buffer, text, places.text.end(text))
    const properties = out.length
    texts.properties(row, out)
    out.setUint32(start + 16, out.length - start)
    out.setUint32(start + 20, geometry - id)
    out.setUint32(start + 24, properties - geometry)
    out.setUint32(start + 28, out.length - properties)
  }

  /**
   * The rows sorted by key, stable for equal keys. It is an LSD radix sort with nine bits per pass, which is
   * many times as fast as comparing.
   */
  #sort(keys: Float64Array, rows: number): Uint32Array {
    if (this.#order.length < rows) {
      this.#order = new Uint32Array(rows)
      this.#spare = new Uint32Array(rows)
      this.#low = new Uint32Array(rows)
      this.#high = new Uint32Array(rows)
    }
    for (let row = 0; row < rows; row++) {
      const high = Math.floor(keys[row]! / 2 ** 27)
      this.#order[row] = row
      this.#high[row] = high
      this.#low[row] = keys[row]! - high * 2 ** 27
    }
    let from = this.#order
    let to = this.#spare
    const starts = new Uint32Array(513)
    for (const bits of [this.#low, this.#high]) {
      for (let shift = 0; shift < 27; shift += 9) {
        starts.fill(0)
        for (let row = 0; row < rows; row++) starts[((bits[row]! >>> shift) & 511) + 1]!++
        for (let i = 0; i < 512; i++) starts[i + 1]! += starts[i]!
        for (let i = 0; i < rows; i++) to[starts[(bits[from[i]!]! >>> shift) & 511]!++] = from[i]!
        ;[from, to] = [to, from]
      }
    }
    return from.subarray(0, rows)
  }
}

/** The position in a chunk: a record from `at` to `end`. */
class ChunkCursor implements Cursor {
  key = 0
  row = 0
  at: number
  end: number
  readonly #view: DataView
  readonly #chunkEnd: number

  constructor(view: DataView, start: number, chunkEnd: number) {
    this.#view = view
    this.at = start
    this.end = start
    this.#chunkEnd = chunkEnd
  }

  next(): boolean {
    if (this.end === this.#chunkEnd) return false
    const view = this.#view
    this.at = this.end
    this.key = view.getFloat64(this.at, true)
    this.row = view.getFloat64(this.at + 8, true)
    this.end = this.at + view.getUint32(this.at + 16, true)
    return true
  }
}
