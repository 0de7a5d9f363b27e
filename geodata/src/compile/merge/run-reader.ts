import { closeSync, openSync, readSync } from 'node:fs'
import { type Cursor, CursorHeap } from '../stage/cursor-heap.ts'
import { RECORD_HEAD, type Run } from '../stage/run-writer.ts'

/** The memory for the buffers of all runs together, and the min and max for one run. */
const ALL_BYTES = 48 << 20
const MIN_BYTES = 1 << 12
const MAX_BYTES = 1 << 18

/** Merges many runs into one sequence ordered by key and row. */
export class RunReader {
  readonly #handles = new Map<string, number>()
  readonly #heap: CursorHeap<RunCursor>

  constructor(runs: Run[]) {
    const bytes = Math.max(MIN_BYTES, Math.min(MAX_BYTES, Math.floor(ALL_BYTES / Math.max(1, runs.length))))
    this.#heap = new CursorHeap(runs.map((run) => new RunCursor(this.#open(run.file), run, bytes)))
  }

  #open(file: string): number {
    const openHandle = this.#handles.get(file)
    if (openHandle !== undefined) return openHandle
    const handle = openSync(file, 'r')
    this.#handles.set(file, handle)
    return handle
  }

  close(): void {
    for (const handle of this.#handles.values()) closeSync(handle)
  }

  /** The cursor at the smallest record, or null if none is left. */
  first(): RunCursor | null {
    return this.#heap.first()
  }

  /** Advances past the first record. */
  advance(): void {
    this.#heap.advance()
  }
}

/** The read position in one run: a record in `bytes`, with the offsets of its parts. */
export class RunCursor implements Cursor {
  key = 0
  row = 0
  bytes: Buffer
  view: DataView
  /** The offsets of the record's parts; the box ends where the id begins. */
  box = 0
  id = 0
  geometry = 0
  properties = 0
  end = 0
  readonly #handle: number
  readonly #size: number
  readonly #runEnd: number
  #position: number
  #filled = 0

  constructor(handle: number, run: Run, size: number) {
    this.#handle = handle
    this.#position = run.start
    this.#runEnd = run.end
    this.#size = Math.min(size, run.end - run.start)
    this.bytes = Buffer.allocUnsafeSlow(this.#size)
    this.view = new DataView(this.bytes.buffer)
  }

  /** Advances to the next record; returns false if there is none. */
  next(): boolean {
    const start = this.#need(RECORD_HEAD, this.end)
    if (start < 0) {
      this.bytes = Buffer.alloc(0)
      return false
    }
    const length = this.view.getUint32(start + 16, true)
    const at = this.#need(length, start)
    const { view } = this
    this.key = view.getFloat64(at, true)
    this.row = view.getFloat64(at + 8, true)
    this.box = at + RECORD_HEAD
    this.end = at + length
    this.properties = this.end - view.getUint32(at + 28, true)
    this.geometry = this.properties - view.getUint32(at + 24, true)
    this.id = this.geometry - view.getUint32(at + 20, true)
    return true
  }

  /**
   * Ensures that `length` bytes from `at` on are in the buffer. Returns their new offset, or -1 at the end of
   * the run.
   */
  #need(length: number, at: number): number {
    if (at + length <= this.#filled) return at
    const availableBytes = this.#filled - at
    if (availableBytes === 0 && this.#position === this.#runEnd) return -1
    this.#resize(length, at)
    this.#filled = availableBytes
    while (this.#filled < length) {
      const readLength = Math.min(this.bytes.length - this.#filled, this.#runEnd - this.#position)
      const read = readSync(this.#handle, this.bytes, this.#filled, readLength, this.#position)
      if (read === 0) throw new Error('a run ends too early')
      this.#filled += read
      this.#position += read
    }
    return 0
  }

  /** Moves the remaining bytes to the front, in a buffer that is only larger while a record needs it. */
  #resize(length: number, at: number): void {
    const size = Math.max(this.#size, length)
    if (size === this.bytes.length) {
      this.bytes.copyWithin(0, at, this.#filled)
      return
    }
    const resized = Buffer.allocUnsafeSlow(size)
    this.bytes.copy(resized, 0, at, this.#filled)
    this.bytes = resized
    this.view = new DataView(resized.buffer)
  }
}
