import { createHash, type Hash } from 'node:crypto'
import { closeSync, openSync, writeSync } from 'node:fs'
import type { GrowingRoom } from './encoding/growing-room.ts'

const CAPACITY = 1 << 20

/**
 * A file that is written sequentially through one buffer. Writers reserve the max size of a feature, put
 * bytes into `buffer` from `at` on, and set `at`, which needs one check per feature instead of one per byte.
 *
 * Writing is synchronous: exports are built in a separate process in which nothing else waits, and the disk
 * itself provides the backpressure.
 */
export class ByteSink implements GrowingRoom {
  buffer: Buffer = Buffer.allocUnsafeSlow(CAPACITY)
  /** Covers the same bytes as `buffer`. */
  view: DataView = viewOf(this.buffer)
  at = 0
  #written = 0
  #file: number
  #hash: Hash | null

  constructor(path: string, { hashed = true } = {}) {
    this.#file = openSync(path, 'w')
    this.#hash = hashed ? createHash('sha256') : null
  }

  /** The number of bytes written so far, including buffered ones. */
  get length(): number {
    return this.#written + this.at
  }

  /** Makes room for `bytes` more bytes in `buffer`, which may be replaced by another buffer. */
  reserve(bytes: number): void {
    if (this.at + bytes <= this.buffer.length) return
    this.flush()
    if (bytes <= this.buffer.length) return
    this.buffer = Buffer.allocUnsafeSlow(bytes * 2)
    this.view = viewOf(this.buffer)
  }

  write(bytes: Uint8Array): void {
    if (bytes.length > this.buffer.length) {
      this.flush()
      this.#put(bytes)
      return
    }
    this.reserve(bytes.length)
    this.buffer.set(bytes, this.at)
    this.at += bytes.length
  }

  text(text: string): void {
    this.reserve(text.length * 3)
    this.at += this.buffer.write(text, this.at)
  }

  flush(): void {
    if (this.at === 0) return
    this.#put(this.buffer.subarray(0, this.at))
    this.at = 0
  }

  #put(bytes: Uint8Array): void {
    this.#hash?.update(bytes)
    writeAll(this.#file, bytes, null)
    this.#written += bytes.length
  }

  /** Overwrites bytes that are already in the file, such as a header that is only known at the end. */
  patch(position: number, bytes: Uint8Array): void {
    if (this.#hash) throw new Error('A file that is hashed on its way cannot be patched.')
    this.flush()
    writeAll(this.#file, bytes, position)
  }

  /** Closes the file; returns its checksum if it is hashed. */
  close(): string | undefined {
    this.flush()
    this.abandon()
    return this.#hash?.digest('hex')
  }

  abandon(): void {
    if (this.#file >= 0) closeSync(this.#file)
    this.#file = -1
  }
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}

function writeAll(file: number, bytes: Uint8Array, position: number | null): void {
  let done = 0
  while (done < bytes.length) {
    done += writeSync(file, bytes, done, bytes.length - done, position === null ? null : position + done)
  }
}
