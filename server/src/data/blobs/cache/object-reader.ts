import { type ByteSpan, CHECKED_BLOCK_BYTES, type ReadableFile } from '@wayleave/geodata/snapshot'
import type { CachedObject } from './cached-object.ts'

/** A reader that goes through a file from start to end gets it in parts of this size: 4 MB. */
const PART_BYTES = 16 * CHECKED_BLOCK_BYTES

/** One reader of an object. While it reads sequentially, the next part is fetched ahead. */
export class ObjectReader implements ReadableFile {
  readonly #object: CachedObject
  readonly #isSequential: boolean
  #position = -1
  #part = -1

  /** `isSequential` is false for readers that jump, such as those of single features. */
  constructor(object: CachedObject, isSequential: boolean) {
    this.#object = object
    this.#isSequential = isSequential
  }

  async stat(): Promise<{ size: number }> {
    return { size: this.#object.bytes }
  }

  async read(
    target: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ bytesRead: number }> {
    if (this.#isSequential) this.#fetchAhead(position)
    const bytesRead = await this.#object.read(target, offset, length, position)
    this.#position = position + bytesRead
    return { bytesRead }
  }

  readVerified(from: number, to: number): Promise<Buffer> {
    return this.#object.readBlocks(from, to)
  }

  prefetch(spans: readonly ByteSpan[]): void {
    this.#object.prefetch(spans)
  }

  async close(): Promise<void> {}

  /** Fetches the rest of the part in which the reader is, and the next one. */
  #fetchAhead(position: number): void {
    const part = Math.floor(position / PART_BYTES)
    const isNext = position === this.#position || this.#position === -1
    if (part === this.#part || !isNext) return
    this.#part = part
    const to = Math.min(this.#object.bytes, (part + 2) * PART_BYTES)
    if (position < to) this.#object.prefetch([{ from: position, to }])
  }
}
