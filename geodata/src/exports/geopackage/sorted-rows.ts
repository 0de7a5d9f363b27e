import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { doubledBuffer } from '../../bytes/doubled.ts'
import { readFullySync } from '../../bytes/read-fully.ts'
import { sortPositions } from './sort-positions.ts'

/** Bytes of rows that are in memory at once. */
const RUN_BYTES = 64 << 20
const WRITE_BYTES = 1 << 20
const MIN_READ_BYTES = 1 << 16

/** Receives a row whose record is in `bytes` from `start` to `end`. */
type TakeRow = (id: number, bytes: Buffer, start: number, end: number) => void

/** Rows of a run, which are consecutive positions, and where it is in the scratch file. */
interface Run {
  first: number
  end: number
  offset: number
}

/**
 * Rows in the order of their ids: an external merge sort. Rows that exceed the memory are written to a scratch file
 * in sorted runs.
 */
export class SortedRows {
  readonly #scratch: string
  readonly #runBytes: number
  /** By position, which is the order in which rows were added. */
  readonly #ids: Float64Array
  readonly #lengths: Uint32Array
  #count = 0
  #memory = Buffer.allocUnsafeSlow(1 << 16)
  #held = 0
  readonly #runs: Run[] = []
  #file = -1
  #written = 0

  /** `scratch` is the path of a file that is created if needed, and removed by `close`. */
  constructor(scratch: string, rows: number, runBytes = RUN_BYTES) {
    this.#scratch = scratch
    this.#runBytes = runBytes
    this.#ids = new Float64Array(rows)
    this.#lengths = new Uint32Array(rows)
  }

  add(id: number, bytes: Buffer, start: number, end: number): void {
    const length = end - start
    if (this.#held > 0 && this.#held + length > this.#runBytes) this.#endRun()
    while (this.#held + length > this.#memory.length) this.#memory = doubledBuffer(this.#memory)
    bytes.copy(this.#memory, this.#held, start, end)
    this.#held += length
    this.#ids[this.#count] = id
    this.#lengths[this.#count++] = length
  }

  /** Passes all rows on in the order of their ids. */
  each(take: TakeRow): void {
    if (this.#runs.length === 0) {
      this.#eachInMemory(take)
      return
    }
    this.#endRun()
    this.#memory = Buffer.alloc(0)
    const bufferBytes = Math.max(MIN_READ_BYTES, Math.floor(this.#runBytes / this.#runs.length))
    const readers = this.#runs.map(({ offset }) => new RunReader(this.#file, offset, bufferBytes))
    const runOf = new Uint16Array(this.#count)
    for (const [i, { first, end }] of this.#runs.entries()) runOf.fill(i, first, end)
    for (const position of sortPositions(this.#ids, 0, this.#count)) {
      const reader = readers[runOf[position]!]!
      const length = this.#lengths[position]!
      const start = reader.next(length)
      take(this.#ids[position]!, reader.bytes, start, start + length)
    }
  }

  close(): void {
    if (this.#file < 0) return
    closeSync(this.#file)
    this.#file = -1
    rmSync(this.#scratch, { force: true })
  }

  /** The rows in memory, in the order of their ids. */
  #eachInMemory(take: TakeRow): void {
    const first = this.#runs.at(-1)?.end ?? 0
    const offsets = new Uint32Array(this.#count - first)
    for (let i = 1; i < offsets.length; i++) offsets[i] = offsets[i - 1]! + this.#lengths[first + i - 1]!
    for (const position of sortPositions(this.#ids, first, this.#count)) {
      const start = offsets[position - first]!
      take(this.#ids[position]!, this.#memory, start, start + this.#lengths[position]!)
    }
  }

  #endRun(): void {
    if (this.#file < 0) this.#file = openSync(this.#scratch, 'w+')
    const offset = this.#written
    const pending = Buffer.allocUnsafeSlow(Math.min(WRITE_BYTES, this.#held))
    let pendingBytes = 0
    this.#eachInMemory((_, bytes, start, end) => {
      if (pendingBytes + end - start > pending.length) {
        this.#write(pending.subarray(0, pendingBytes))
        pendingBytes = 0
      }
      if (end - start > pending.length) this.#write(bytes.subarray(start, end))
      else pendingBytes += bytes.copy(pending, pendingBytes, start, end)
    })
    this.#write(pending.subarray(0, pendingBytes))
    this.#runs.push({ first: this.#runs.at(-1)?.end ?? 0, end: this.#count, offset })
    this.#held = 0
  }

  #write(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length; )
      done += writeSync(this.#file, bytes, done, bytes.length - done, this.#written + done)
    this.#written += bytes.length
  }
}

/** Reads a run sequentially. */
class RunReader {
  bytes: Buffer
  readonly #file: number
  /** The position in the file after the bytes that are held. */
  #position: number
  #at: number

  constructor(file: number, offset: number, bufferBytes: number) {
    this.bytes = Buffer.allocUnsafeSlow(bufferBytes)
    this.#file = file
    this.#position = offset
    this.#at = bufferBytes
  }

  /** Returns where the next `length` bytes begin in `bytes`. */
  next(length: number): number {
    if (this.#at + length > this.bytes.length) this.#fill(length)
    this.#at += length
    return this.#at - length
  }

  /** Reads what follows, which may include bytes of the next run. */
  #fill(needed: number): void {
    const from = this.#position - (this.bytes.length - this.#at)
    if (needed > this.bytes.length) this.bytes = Buffer.allocUnsafeSlow(needed * 2)
    readFullySync(this.#file, this.bytes, from)
    this.#position = from + this.bytes.length
    this.#at = 0
  }
}
