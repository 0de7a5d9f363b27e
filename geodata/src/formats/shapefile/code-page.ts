import { isAscii, isUtf8 } from 'node:buffer'
import { DOS_CODE_PAGES } from './dos-code-pages.ts'

export type DecodeText = (bytes: Buffer) => string

/** The TextDecoder labels of code pages, by their Windows number. */
const LABELS: { [codePage: number]: string } = {
  866: 'ibm866',
  874: 'windows-874',
  932: 'shift_jis',
  936: 'gbk',
  949: 'euc-kr',
  950: 'big5',
  1361: 'euc-kr',
  20866: 'koi8-r',
  21866: 'koi8-u',
  54936: 'gb18030',
  65001: 'utf-8',
}

/** The code pages of dBase's language drivers, which are in the 30th byte of the header. */
const DRIVERS: { [driver: number]: number } = {
  1: 437,
  2: 850,
  8: 865,
  9: 437,
  10: 850,
  11: 437,
  13: 437,
  14: 850,
  15: 437,
  16: 850,
  17: 437,
  18: 850,
  19: 932,
  20: 850,
  21: 437,
  22: 850,
  23: 865,
  24: 437,
  25: 437,
  26: 850,
  27: 437,
  28: 863,
  29: 850,
  31: 852,
  34: 852,
  35: 852,
  36: 860,
  37: 850,
  38: 866,
  55: 850,
  64: 852,
  77: 936,
  78: 949,
  79: 950,
  80: 874,
  100: 852,
  101: 866,
  102: 865,
  103: 861,
  106: 737,
  107: 857,
  108: 863,
  120: 950,
  121: 949,
  122: 936,
  123: 932,
  124: 874,
  134: 737,
  135: 852,
  136: 857,
  200: 1250,
  201: 1251,
  202: 1254,
  203: 1253,
  204: 1257,
}

/**
 * The decoder for the texts of a dBase file: from its .cpg, otherwise from its language driver. If neither
 * states a specific encoding, texts that are valid UTF-8 are read as UTF-8 and all others as windows-1252.
 */
export function textDecoder(cpg: string | null, driver: number): DecodeText {
  const stated = cpg === null ? null : byLabel(cpg)
  if (stated) return stated
  const codePage = DRIVERS[driver]
  return codePage === undefined ? guess : byCodePage(codePage)
}

const windows1252 = new TextDecoder('windows-1252')

function guess(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString('utf8') : windows1252.decode(bytes)
}

/** `UTF-8`, `ISO-8859-2`, `88592`, `ANSI 1252`, `OEM 850`, `CP437`, `LDID/87`, `Big5` … */
function byLabel(cpg: string): DecodeText | null {
  const label = cpg
    .trim()
    .replace(/^\ufeff/, '')
    .toLowerCase()
  const driver = /^ldid\/(\d+)$/.exec(label)
  if (driver) return textDecoder(null, Number(driver[1]))
  const iso = /^(?:iso[ -_]?)?8859[-_]?(\d{1,2})$/.exec(label)
  if (iso) return byEncoding(`iso-8859-${iso[1]}`)
  const number = /^(?:ansi|oem|cp|windows-|ibm)?[ -]?(\d{3,5})$/.exec(label)
  if (number) return byCodePage(Number(number[1]))
  return byEncoding(label)
}

function byCodePage(codePage: number): DecodeText {
  const upper = DOS_CODE_PAGES[codePage]
  if (upper !== undefined)
    return (bytes) => bytes.toString('latin1').replace(/[\x80-\xff]/g, (c) => upper[c.charCodeAt(0) - 128]!)
  return byEncoding(LABELS[codePage] ?? `windows-${codePage}`) ?? guess
}

function byEncoding(label: string): DecodeText | null {
  try {
    const decoder = new TextDecoder(label)
    return (bytes) => (isAscii(bytes) ? bytes.toString('latin1') : decoder.decode(bytes))
  } catch {
    return null
  }
}
