import { createHash } from 'node:crypto'
import type { TimedWork } from '@wayleave/query'

/** Characters, or bytes, that are encoded and hashed at once: less than a millisecond. */
const PIECE = 1 << 16

/** A response of megabytes, written in pieces: joining, encoding and hashing it as a whole would take milliseconds. */
export class BodyWriter {
  readonly #hash = createHash('sha1')
  readonly #pieces: Uint8Array[] = []
  #text = ''

  /** `name` distinguishes the tags of bodies that are equal otherwise. */
  constructor(name: string) {
    this.#hash.update(name)
  }

  write(text: string): void {
    this.#text += text
    if (this.#text.length >= PIECE) this.#flush()
  }

  async writeBytes(bytes: Uint8Array, work: TimedWork): Promise<void> {
    this.#flush()
    await work.inSteps(bytes.length, PIECE, (from, to) => this.#add(bytes.subarray(from, to)))
  }

  /** The body, and a weak ETag of it. Nothing can be written after it. */
  end(): { body: Buffer; tag: string } {
    this.#flush()
    return { body: Buffer.concat(this.#pieces), tag: `W/"${this.#hash.digest('base64url')}"` }
  }

  #flush(): void {
    if (this.#text !== '') this.#add(Buffer.from(this.#text))
    this.#text = ''
  }

  #add(piece: Uint8Array): void {
    this.#hash.update(piece)
    this.#pieces.push(piece)
  }
}
