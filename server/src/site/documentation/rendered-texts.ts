import { RequestThread } from '@wayleave/geodata/base'
import { EXAMPLE_ADDRESS } from './page-names.ts'

const IDLE_MS = 60_000

/**
 * A finished text. Clients choose the service's address in the Host header, and a page has it hundreds of times, so it is
 * put between the bytes of the text: to replace it in a text of half a megabyte took milliseconds for each request.
 */
export class RenderedText {
  /** The bytes before, between and behind the addresses. */
  readonly #parts: readonly Buffer[]
  readonly #partBytes: number

  constructor(text: string) {
    this.#parts = text.split(EXAMPLE_ADDRESS).map((part) => Buffer.from(part))
    this.#partBytes = this.#parts.reduce((sum, part) => sum + part.length, 0)
  }

  /** The text with an address, which is escaped for it. */
  withAddress(address: string): Buffer {
    const between = Buffer.from(address)
    const gaps = this.#parts.length - 1
    const bytes = Buffer.allocUnsafe(this.#partBytes + between.length * gaps)
    let at = 0
    for (const [i, part] of this.#parts.entries()) {
      bytes.set(part, at)
      at += part.length
      if (i === gaps) break
      bytes.set(between, at)
      at += between.length
    }
    return bytes
  }

  /** The text as it was rendered. */
  bytes(): Buffer {
    return this.withAddress(EXAMPLE_ADDRESS)
  }
}

/**
 * Texts that a thread renders, each once. Parsing and highlighting a page takes up to a hundred milliseconds, for which
 * other requests would wait; the libraries are only in the memory of the thread, which ends when nothing is asked of it.
 */
export class RenderedTexts<Request> {
  readonly #thread: RequestThread<Request, string>
  readonly #texts = new Map<string, Promise<RenderedText>>()

  /** `entry` is the file of the thread. */
  constructor(entry: URL) {
    this.#thread = new RequestThread(entry, IDLE_MS)
  }

  /** `key` names the request; the caller bounds the number of keys. */
  render(key: string, requestOf: () => Request | Promise<Request>): Promise<RenderedText> {
    const rendered = this.#texts.get(key)
    if (rendered !== undefined) return rendered
    const rendering = this.#perform(requestOf)
    this.#texts.set(key, rendering)
    // The next request tries again.
    rendering.catch(() => this.#texts.delete(key))
    return rendering
  }

  async #perform(requestOf: () => Request | Promise<Request>): Promise<RenderedText> {
    return new RenderedText(await this.#thread.perform(await requestOf(), []))
  }
}
