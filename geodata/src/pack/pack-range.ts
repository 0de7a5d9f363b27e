import { readFully } from '../bytes/read-fully.ts'
import { type PackBlock, splitPack } from './pack-reader.ts'

const NEWLINE = 0x0a
/** How much is read after a range to find the end of its last feature. */
const MORE_BYTES = 1 << 14

interface Readable {
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>
}

/** Reads features of a pack by ranges of its bytes, so that several threads can share the work. */
export class PackRange {
  readonly #file: Readable
  #bytes = Buffer.alloc(0)
  readonly #block: PackBlock = {
    bytes: this.#bytes,
    count: 0,
    starts: new Int32Array(4096),
    ends: new Int32Array(4096),
  }

  constructor(file: Readable) {
    this.#file = file
  }

  /** The features that begin from `start` to before `end`. The block is valid until the next call. */
  async read(start: number, end: number): Promise<PackBlock> {
    // A feature begins after a newline, which may be the byte before the range.
    const from = Math.max(0, start - 1)
    let more = MORE_BYTES
    for (;;) {
      const wanted = end - from + more
      if (this.#bytes.length < wanted) this.#bytes = Buffer.allocUnsafeSlow(wanted)
      const held = await readFully(this.#file, this.#bytes.subarray(0, wanted), from)
      const bytes = this.#bytes.subarray(0, held)
      const first = start === 0 ? 0 : bytes.indexOf(NEWLINE) + 1
      const hasFeature = start === 0 || (first > 0 && from + first < end)
      if (!hasFeature) {
        this.#block.count = 0
        return this.#block
      }
      const last = bytes.indexOf(NEWLINE, end - from - 1)
      const isEnd = held < wanted
      if (last >= 0 || isEnd) {
        const features = bytes.subarray(first, last >= 0 ? last + 1 : held)
        splitPack(features, features.length, last < 0, this.#block)
        return this.#block
      }
      more *= 4
    }
  }
}
