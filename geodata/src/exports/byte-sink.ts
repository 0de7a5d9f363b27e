import { createHash, type Hash } from 'node:crypto'
import { closeSync, openSync, writeSync } from 'node:fs'

const CAPACITY = 1 << 20

/** Bytes to be filled from `at` on: a file's, or any others'. `view` is over the same bytes as `buffer`. */
export interface Room {
  buffer: Buffer
  view: DataView
  at: number
}

/**
 * A file written from its start to its end through one buffer. Writers reserve what a feature may need at
 * most, put bytes into `buffer` from `at` on, and set `at`: one check a feature instead of one a byte.
 *
 * Writing is synchronous: exports are built in a process of their own, where nothing else waits, and the disk
 * itself is the backpressure.
 */
export class ByteSink implements Room {
  buffer: Buffer = Buffer.allocUnsafeSlow(CAPACITY)
  /** Over the same bytes as `buffer`. */
  view: DataView = viewOf(this.buffer)
  at = 0
  #written = 0
  #file: number
  #hash: Hash | null

  constructor(path: string, { hashed = true } = {}) {
    this.#file = openSync(path, 'w')
    this.#hash = hashed ? createHash('sha256') : null
  }

  /** How many bytes the file has had so far, buffered ones included. */
  get length(): number {
    return this.#written + this.at
  }

  /** Makes sure that `bytes` more fit into `buffer`, which may be another one afterwards. */
  reserve(bytes: number): void {
    if (this.at + bytes <= this.buffer.length) return
    this.flush()
    if (bytes <= this.buffer.length) return
    this.buffer = Buffer.allocUnsafeSlow(bytes * 2)
    this.view = viewOf(this.buffer)
  }

  write(bytes: Uint8Array): void {
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
    const bytes = this.buffer.subarray(0, this.at)
    this.#hash?.update(bytes)
    writeAll(this.#file, bytes, null)
    this.#written += this.at
    this.at = 0
  }

  /** Writes over what is already in the file, such as a header that could be known last only. */
  patch(position: number, bytes: Uint8Array): void {
    if (this.#hash) throw new Error('A file that is hashed on its way cannot be patched.')
    this.flush()
    writeAll(this.#file, bytes, position)
  }

  /** Ends the file; answers its checksum where it is hashed. */
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

/** Short copies are quicker byte by byte than by a call into the runtime. */
export function copyBytes(from: Buffer, start: number, end: number, to: Buffer, at: number): number {
  if (end - start > 48) {
    from.copy(to, at, start, end)
    return at + (end - start)
  }
  for (let p = start; p < end; p++) to[at++] = from[p]!
  return at
}
