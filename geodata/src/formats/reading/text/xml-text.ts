import { SourceError } from '../../../source-error.ts'
import { type Encoding, encodingNamed, findEncoding } from './encoding.ts'
import { utf16Of } from './text-decoding.ts'

/** Decodes an XML document that arrives in pieces; its encoding is chosen by the publisher or stated in it. */
export class XmlText {
  readonly #file: string
  readonly #encoding: Encoding
  readonly #decode: (piece: Uint8Array | null) => string | null
  #bytesRead = 0

  constructor(head: Buffer, file: string, chosen?: string) {
    this.#file = file
    this.#encoding = chosen === undefined ? statedEncoding(head, file) : encodingNamed(chosen)
    this.#decode = this.#encoding.stream()
  }

  /** Decodes the next piece; null is the end. */
  decode(piece: Uint8Array | null): string {
    this.#bytesRead += piece?.length ?? 0
    const text = this.#decode(piece)
    if (text !== null) return text
    throw new SourceError(
      `${this.#file} is not ${this.#encoding.name}, which it is said to be, before byte ${this.#bytesRead}.`,
    )
  }
}

/** The encoding from the byte order mark, otherwise from the XML declaration. */
function statedEncoding(head: Buffer, file: string): Encoding {
  const declared = /^\s*<\?xml[^>]*\bencoding\s*=\s*["']([\w.-]+)["']/.exec(
    head.toString('latin1').replace(/^\xef\xbb\xbf/, ''),
  )
  const label = utf16Of(head) ?? declared?.[1] ?? 'utf-8'
  const encoding = findEncoding(label)
  if (encoding) return encoding
  throw new SourceError(`${file} is encoded as ${label}, which is not known.`)
}
