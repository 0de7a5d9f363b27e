import { isAscii } from 'node:buffer'
import { TextDecoder } from 'node:util'
import { SourceError } from '../../../source-error.ts'
import { DOS_CODE_PAGES } from './dos-code-pages.ts'

/** A character encoding under the name that reports use. */
export interface Encoding {
  readonly name: string
  /** Returns null if the bytes are not valid in this encoding. */
  decode(bytes: Uint8Array): string | null
  /** Replaces what is not valid by U+FFFD. */
  decodeLossy(bytes: Uint8Array): string
  /**
   * A decoder for text that arrives in pieces, whose ends may split a character; null is the end. It returns
   * null if the bytes are not valid.
   */
  stream(): (piece: Uint8Array | null) => string | null
}

/** The TextDecoder labels of code pages, by their Windows number. */
const LABELS: { [codePage: number]: string } = {
  866: 'ibm866',
  874: 'windows-874',
  932: 'shift_jis',
  936: 'gbk',
  949: 'euc-kr',
  950: 'big5',
  1200: 'utf-16le',
  1201: 'utf-16be',
  1361: 'euc-kr',
  10000: 'macintosh',
  10007: 'x-mac-cyrillic',
  20866: 'koi8-r',
  20932: 'euc-jp',
  21866: 'koi8-u',
  51932: 'euc-jp',
  51949: 'euc-kr',
  54936: 'gb18030',
  65001: 'utf-8',
}

/** Names of other programs that TextDecoder does not know. */
const ALIASES: { [label: string]: string } = {
  maccyrillic: 'x-mac-cyrillic',
  macroman: 'macintosh',
  'mac-roman': 'macintosh',
  'latin-1': 'latin1',
  'latin-2': 'latin2',
  'latin-5': 'latin5',
  ansi: 'windows-1252',
  'utf-8-sig': 'utf-8',
  'tis-620': 'windows-874',
}

/** `UTF-8`, `ISO-8859-2`, `88592`, `ANSI 1252`, `OEM 850`, `CP437`, `windows-1251`, `Big5` …; null if unknown. */
export function findEncoding(label: string): Encoding | null {
  const name = label
    .trim()
    .replace(/^\ufeff/, '')
    .toLowerCase()
  const iso = /^(?:iso[ -_]?)?8859[-_]?(\d{1,2})$/.exec(name)
  if (iso) return whatwgEncoding(`iso-8859-${iso[1]}`)
  const number = /^(?:ansi|oem|cp|windows|ibm)?[ _-]?(\d{3,5})$/.exec(name)
  if (number) return codePageEncoding(Number(number[1]))
  return whatwgEncoding(ALIASES[name] ?? name) ?? whatwgEncoding(name.replaceAll('_', '-'))
}

/** The encoding that the publisher chose. */
export function encodingNamed(label: string): Encoding {
  const encoding = findEncoding(label)
  if (encoding) return encoding
  throw new SourceError(
    `The encoding ${JSON.stringify(label)} is not known; some are utf-8, windows-1251, shift_jis, gbk and iso-8859-2.`,
  )
}

export function codePageEncoding(codePage: number): Encoding | null {
  const upperHalf = DOS_CODE_PAGES[codePage]
  if (upperHalf === undefined) return whatwgEncoding(LABELS[codePage] ?? `windows-${codePage}`)
  const decodeLossy = (bytes: Uint8Array) =>
    asBuffer(bytes)
      .toString('latin1')
      .replace(/[\x80-\xff]/g, (c) => upperHalf[c.charCodeAt(0) - 128]!)
  const decode = (bytes: Uint8Array) => {
    const text = decodeLossy(bytes)
    return text.includes('\ufffd') ? null : text
  }
  return {
    name: `cp${codePage}`,
    decodeLossy,
    decode,
    stream: () => (piece) => (piece === null ? '' : decode(piece)),
  }
}

function whatwgEncoding(label: string): Encoding | null {
  let lossy: TextDecoder
  try {
    lossy = new TextDecoder(label)
  } catch {
    return null
  }
  const fatal = new TextDecoder(label, { fatal: true })
  const isAsciiSuperset = !lossy.encoding.startsWith('utf-16') && lossy.encoding !== 'iso-2022-jp'
  const plain = (bytes: Uint8Array) => isAsciiSuperset && isAscii(bytes)
  return {
    name: lossy.encoding,
    decodeLossy: (bytes) => (plain(bytes) ? asBuffer(bytes).toString('latin1') : lossy.decode(bytes)),
    decode: (bytes) => {
      if (plain(bytes)) return asBuffer(bytes).toString('latin1')
      try {
        return fatal.decode(bytes)
      } catch {
        return null
      }
    },
    stream() {
      const decoder = new TextDecoder(label, { fatal: true })
      return (piece) => {
        try {
          return piece === null ? decoder.decode() : decoder.decode(piece, { stream: true })
        } catch {
          return null
        }
      }
    },
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
