import { isAscii, isUtf8 } from 'node:buffer'
import { SourceError } from '../../../source-error.ts'
import type { ByteSource } from '../byte-source.ts'
import { detectEncoding } from './detect-encoding.ts'
import type { Encoding } from './encoding.ts'

const NEWLINE = 0x0a

/**
 * Converts text of unknown encoding to UTF-8, in pieces. If bytes are not UTF-8, their encoding is detected,
 * unless valid non-ASCII UTF-8 preceded: then the bytes are damaged, and `damaged` is set.
 */
export class TextDecoding {
  /** The encoding that was detected because the text is not UTF-8. */
  detected: Encoding | null = null
  readonly #file: string
  #isUtf8 = false

  constructor(file: string) {
    this.#file = file
  }

  /** Decodes a piece that ends with a whole character, such as a line; returns UTF-8 unchanged. */
  decode(bytes: Buffer): { bytes: Buffer; damaged: boolean } {
    if (isAscii(bytes)) return { bytes, damaged: false }
    if (this.detected) return { bytes: transcode(bytes, this.detected, this.#file), damaged: false }
    if (isUtf8(bytes)) {
      this.#isUtf8 = true
      return { bytes, damaged: false }
    }
    const text = bytes.toString('utf8')
    if (this.#isUtf8 || isMostlyUtf8(text)) {
      this.#isUtf8 = true
      return { bytes: Buffer.from(text), damaged: true }
    }
    this.detected = detectEncoding(bytes)
    if (this.detected) return this.decode(bytes)
    throw new SourceError(
      `${this.#file} is not UTF-8, and its encoding was not recognised. Name it with --encoding.`,
    )
  }

  /** The note for the report if the encoding was detected. */
  notes(): string[] {
    return this.detected ? [encodingNote('The text', this.detected)] : []
  }
}

function encodingNote(what: string, { name }: Encoding): string {
  return `${what} is not UTF-8 and was read as ${name}, which was detected. If that is wrong, name the encoding with --encoding.`
}

/** Whether more non-ASCII characters could be decoded than not; valid sequences rarely occur by chance. */
function isMostlyUtf8(text: string): boolean {
  let balance = 0
  for (const character of text) if (character > '\x7f') balance += character === '\ufffd' ? -1 : 1
  return balance > 0
}

function transcode(bytes: Buffer, encoding: Encoding, file: string): Buffer {
  const text = encoding.decode(bytes)
  if (text !== null) return Buffer.from(text)
  const line = firstInvalidLine(bytes, encoding)
  throw new SourceError(
    `${file} is not UTF-8 and was taken for ${encoding.name}, but ${line} is not valid in it. Name its encoding with --encoding.`,
  )
}

function firstInvalidLine(bytes: Buffer, encoding: Encoding): string {
  for (let start = 0; start < bytes.length; ) {
    const at = bytes.indexOf(NEWLINE, start)
    const end = at < 0 ? bytes.length : at
    const line = bytes.subarray(start, end)
    if (encoding.decode(line) === null)
      return `the line ${JSON.stringify(encoding.decodeLossy(line).trim().slice(0, 60))}`
    start = end + 1
  }
  return 'a part of it'
}

/** Detects UTF-16 by its byte order mark, or by the zero bytes between the ASCII characters. */
export function utf16Of(head: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  const pairs = Math.min(head.length, 64) >> 1
  if (pairs < 4) return null
  const zeros = [0, 0]
  for (let at = 0; at < pairs * 2; at++) if (head[at] === 0) zeros[at & 1]!++
  if (zeros[0] === 0 && zeros[1]! > pairs * 0.7) return 'utf-16le'
  return zeros[1] === 0 && zeros[0]! > pairs * 0.7 ? 'utf-16be' : null
}

/**
 * Converts a source of another encoding to UTF-8, so that later steps only handle one. Throws a SourceError at
 * bytes that are not valid in it.
 */
export function utf8Source(source: ByteSource, encoding: Encoding): ByteSource {
  return { ...source, bytes: toUtf8(source.bytes, encoding, source.file) }
}

async function* toUtf8(
  bytes: AsyncIterable<Uint8Array>,
  encoding: Encoding,
  file: string,
): AsyncGenerator<Buffer> {
  const decode = encoding.stream()
  let bytesRead = 0
  const next = (piece: Uint8Array | null) => {
    const text = decode(piece)
    if (text !== null) return Buffer.from(text)
    throw new SourceError(`${file} is not ${encoding.name}: it cannot be decoded after byte ${bytesRead}.`)
  }
  for await (const piece of bytes) {
    yield next(piece)
    bytesRead += piece.length
  }
  yield next(null)
}
