import type { ColumnType } from '../feature.ts'

/** A bit set of column types: those for which a text written before the type was known is correct. */
export const TYPE: { [type in ColumnType]: number } = {
  boolean: 1,
  integer: 2,
  number: 4,
  text: 8,
  date: 16,
  timestamp: 32,
  json: 64,
}

export const ANY_TYPE = 127

/**
 * Formats a value of a number column exactly as the database does (see `jsonTextSql`), so that a feature's
 * text is the same on both code paths.
 */
export function numberText(value: number): string {
  const size = Math.abs(value)
  if (size === 0) return '0.0'
  if (size >= 1e-4 && size < 1e16) return Number.isInteger(value) ? `${value}.0` : String(value)
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2')
}

const SHORT_ESCAPES: { [character: string]: string } = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
}

/** The JSON escape sequence for a character that must be escaped in a string. */
export function escapeText(character: string): string {
  const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')
  return SHORT_ESCAPES[character] ?? `\\u${code}`
}

const TIME_PARTS =
  /^(\d{4})[-/](\d\d)[-/](\d\d)[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(?:Z|([+-])(\d\d)(?::?(\d\d))?)?$/

/** A date as in responses, from one that may have slashes. */
export function dateText(text: string): string {
  return text[4] === '/' ? `${text.slice(0, 4)}-${text.slice(5, 7)}-${text.slice(8, 10)}` : text
}

/** A timestamp in UTC as in responses; returned unchanged if it already has that form. */
export function utcText(text: string): string {
  // Fast path for most timestamps: UTC and no fraction, so nothing has to be calculated.
  const length = text.length - (text.endsWith('Z') ? 1 : text.endsWith('+00') ? 3 : 0)
  if (length === 19 && text[16] === ':') {
    if (text.length === 20 && text[10] === 'T' && text[4] === '-') return text
    return `${dateText(text.slice(0, 10))}T${text.slice(11, 19)}Z`
  }
  // The same with a fraction, whose last zeros are left out: files that GDAL wrote end with `.000Z`.
  if (text[19] === '.' && text[10] === 'T' && text[4] === '-' && text.endsWith('Z')) {
    let end = text.length - 1
    while (text[end - 1] === '0') end--
    return end === text.length - 1 ? text : `${text.slice(0, end === 20 ? 19 : end)}Z`
  }
  const parts = TIME_PARTS.exec(text)
  if (parts === null) throw new Error(`${JSON.stringify(text)} is not a timestamp`)
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map((part) => Number(part ?? 0))
  const zone = (Number(parts[9] ?? 0) * 60 + Number(parts[10] ?? 0)) * (parts[8] === '-' ? -1 : 1)
  const date = new Date(0)
  // Date.UTC would map the years 0 to 99 to 1900 to 1999.
  date.setUTCFullYear(year!, month! - 1, day!)
  date.setUTCHours(hour!, minute! - zone, second!)
  const fraction = (parts[7] ?? '').replace(/0+$/, '')
  return `${date.toISOString().slice(0, 19)}${fraction === '' ? '' : `.${fraction}`}Z`
}
