/** Quotation marks in pairs; what stands between them is checked by itself. */
const QUOTED = /«([^«»\n]*)»|„([^„“”\n]*)[“”]|“([^“”\n]*)”/g

/** Symbols of windows-1252 in the places in which people write them. In other places their bytes are letters. */
const SYMBOLS = new RegExp(
  [
    // 25 °C, km², § 12
    '[°²§]',
    // 12 m³, 10 µm
    '(?<=(?<!\\p{L})[cdkm]?m)³(?!\\p{L})',
    '(?<!\\p{L})µ(?=[A-Za-z]{1,3}(?!\\p{L}))',
    // UTC±00:00, 50 ± 5, 3×4
    '±(?= ?\\d)',
    '(?<=\\d ?)×(?= ?\\d)',
    // 3½, £ 5, © 2020
    '(?<!\\p{L})[½¼¾€£¥¢©±–—…•](?!\\p{L})',
    // 10 km with a space that does not break
    '(?<=\\d)\\u00a0|\\u00a0(?=\\d)',
    // Name®
    '[®™](?!\\p{L})',
    // 2º, nº
    '(?<=[\\d.nN])[ºª](?!\\p{L})',
    // It’s, l’eau
    '(?<=[A-Za-z])’(?=(?:s|t|d|m|ll|re|ve)(?!\\p{L}))',
    '(?<=(?<!\\p{L})(?:[cdjlmnstDLO]|qu))’(?=[A-Za-z])',
  ]
    // Two bytes in a row are more likely a character of East Asia.
    .map((symbol) => `(?<![^\\x00-\\x7f])(?:${symbol})(?![^\\x00-\\x7f])`)
    .join('|'),
  'gu',
)

/**
 * Whether a text that was read as windows-1252 is ASCII except for symbols such as ° and ±. Their bytes are letters
 * in other encodings, and a detector that goes by letters takes `25 °C` for Chinese.
 */
export function hasOnlySymbols(text: string): boolean {
  const unquoted = text.replace(QUOTED, ' $1$2$3 ')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range of ASCII begins with one
  return !/[^\x00-\x7f]/.test(unquoted.replace(SYMBOLS, ''))
}
