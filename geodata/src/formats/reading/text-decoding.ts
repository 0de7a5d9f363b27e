import { isAscii, isUtf8 } from 'node:buffer'

const windows1252 = new TextDecoder('windows-1252')

/**
 * Converts text of unknown encoding to UTF-8, in pieces. If bytes are not UTF-8, the rest is taken as
 * windows-1252, unless valid non-ASCII UTF-8 preceded: then the bytes are damaged, and `damaged` is set.
 */
export class TextDecoding {
  encoding: 'utf-8' | 'windows-1252' | 'unknown' = 'unknown'

  /** Decodes a piece that ends with a whole character, such as a line; returns UTF-8 unchanged. */
  decode(bytes: Buffer): { bytes: Buffer; damaged: boolean } {
    if (isAscii(bytes)) return { bytes, damaged: false }
    if (this.encoding !== 'windows-1252' && isUtf8(bytes)) {
      this.encoding = 'utf-8'
      return { bytes, damaged: false }
    }
    if (this.encoding !== 'windows-1252') {
      const text = bytes.toString('utf8')
      if (this.encoding === 'utf-8' || isMostlyUtf8(text)) {
        this.encoding = 'utf-8'
        return { bytes: Buffer.from(text), damaged: true }
      }
    }
    this.encoding = 'windows-1252'
    return { bytes: Buffer.from(windows1252.decode(bytes)), damaged: false }
  }
}

/** Whether more non-ASCII characters could be decoded than not; valid sequences rarely occur by chance. */
function isMostlyUtf8(text: string): boolean {
  let balance = 0
  for (const character of text) if (character > '\x7f') balance += character === '\ufffd' ? -1 : 1
  return balance > 0
}

/** Detects UTF-16 by its byte order mark. */
export function utf16Of(head: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  return null
}

/** Converts UTF-16 to UTF-8, so that later steps only handle one encoding. */
export async function* utf16ToUtf8(
  bytes: AsyncIterable<Uint8Array>,
  encoding: 'utf-16le' | 'utf-16be',
): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder(encoding)
  for await (const piece of bytes) yield Buffer.from(decoder.decode(piece, { stream: true }))
  yield Buffer.from(decoder.decode())
}
