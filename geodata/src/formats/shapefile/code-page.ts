import { codePageEncoding, type Encoding, findEncoding } from '../reading/text/encoding.ts'

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
 * The encoding that a dBase file states: by its .cpg, otherwise by its language driver. Null if neither states
 * a specific one; the texts themselves must then show it.
 */
export function statedEncoding(cpg: string | null, driver: number): Encoding | null {
  const label = cpg?.trim().replace(/^(\ufeff|\u00ef\u00bb\u00bf)/, '') ?? ''
  const driverInCpg = /^ldid\/(\d+)$/i.exec(label)
  const stated = label === '' ? null : driverInCpg ? byDriver(Number(driverInCpg[1])) : findEncoding(label)
  return stated ?? byDriver(driver)
}

function byDriver(driver: number): Encoding | null {
  const codePage = DRIVERS[driver]
  return codePage === undefined ? null : codePageEncoding(codePage)
}
