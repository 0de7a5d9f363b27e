import { isAscii } from 'node:buffer'
import { SourceError } from '../../source-error.ts'
import { detectEncoding } from '../reading/text/detect-encoding.ts'
import { type Encoding, findEncoding } from '../reading/text/encoding.ts'

const SPACE = 0x20
/** A character of UTF-8 has at most four bytes, so at most three of them can be left of one that was cut. */
const MAX_CUT_BYTES = 3

/**
 * Decodes the texts of a dBase file. If the file does not state its encoding, the encoding is detected at the
 * first text that is not ASCII, from the bytes that `upcoming` returns.
 */
export class DbfTexts {
  readonly #file: string
  readonly #upcoming: () => Buffer
  readonly #notes: string[]
  #encoding: Encoding | null

  constructor(file: string, stated: Encoding | null, notes: string[], upcoming: () => Buffer) {
    this.#file = file
    this.#encoding = stated
    this.#notes = notes
    this.#upcoming = upcoming
  }

  get encodingName(): string {
    return this.#encoding?.name ?? 'utf-8'
  }

  /** Returns null if the bytes are not valid in the file's encoding. */
  decode(bytes: Buffer): string | null {
    if (isAscii(bytes)) return bytes.toString('latin1')
    this.#encoding ??= this.#detect(bytes)
    const encoding = this.#encoding
    const text = encoding.decode(bytes)
    if (text !== null) return text
    // Writers fill the field to its last byte, even if that splits a character.
    let end = bytes.length
    while (end > 0 && (bytes[end - 1] === SPACE || bytes[end - 1] === 0)) end--
    for (let cut = 1; cut <= MAX_CUT_BYTES && cut < end; cut++) {
      const shorter = encoding.decode(bytes.subarray(0, end - cut))
      if (shorter !== null) return shorter
    }
    return null
  }

  #detect(first: Buffer): Encoding {
    const sample = Buffer.concat([first, Buffer.from('\n'), this.#upcoming()])
    if (isMostlyUtf8(sample)) return findEncoding('utf-8')!
    const encoding = detectEncoding(sample)
    if (!encoding)
      throw new SourceError(
        `${this.#file} does not state the encoding of its texts, and it was not recognised. Name it with --encoding.`,
      )
    this.#notes.push(
      `The .dbf does not state its encoding; its texts were read as ${encoding.name}, which was detected. If that is wrong, name the encoding with --encoding.`,
    )
    return encoding
  }
}

function isMostlyUtf8(sample: Buffer): boolean {
  let balance = 0
  for (const character of sample.toString('utf8'))
    if (character > '\x7f') balance += character === '\ufffd' ? -1 : 1
  return balance > 0
}
