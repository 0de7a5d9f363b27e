import { clockText } from './clock-text.ts'

/** Excel stores dates as days since 1899-12-30 (or 1904-01-01); the cell's format says that it is a date. */

export type DateKind = 'date' | 'timestamp' | 'time' | 'duration'

/** The formats that Excel does not write into the file. */
const BUILT_IN: { [id: number]: DateKind } = {
  18: 'time',
  19: 'time',
  20: 'time',
  21: 'time',
  22: 'timestamp',
}
for (const id of [14, 15, 16, 17, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 55, 56, 57, 58])
  BUILT_IN[id] = 'date'
for (const id of [45, 47]) BUILT_IN[id] = 'time'
BUILT_IN[46] = 'duration'

export function dateKindOfFormat(id: number, code: string | undefined): DateKind | null {
  if (code === undefined) return BUILT_IN[id] ?? null
  // Only the first section counts; quoted texts, escapes, colours and locales are not placeholders.
  const plain = code
    .split(';')[0]!
    .replace(/"[^"]*"|\\.|_./g, '')
    .toLowerCase()
  if (/\[(h+|m+|s+)\]/.test(plain)) return 'duration'
  const letters = plain.replace(/\[[^\]]*\]/g, '').replace(/am\/pm|a\/p/g, 'h')
  if (letters.includes('general') || /[#0?]/.test(letters.replace(/[sh]\.0+/g, ''))) return null
  const hasTime = /[hs]/.test(letters)
  const hasDate = /[dy]/.test(letters) || (/m/.test(letters) && !hasTime)
  if (hasDate) return hasTime ? 'timestamp' : 'date'
  return hasTime ? 'time' : null
}

const DAY_MS = 86_400_000

/** The text of a serial number, or null if it is not a date that Excel knows. */
export function serialText(serial: number, kind: DateKind, is1904: boolean): string | null {
  if (!Number.isFinite(serial)) return null
  if (kind === 'duration') return clockText(Math.round(serial * DAY_MS) * 1000)
  if (kind === 'time' && serial >= 0 && serial < 1)
    return clockText((Math.round(serial * DAY_MS) % DAY_MS) * 1000)
  // Excel takes 1900 for a leap year: before 1900-03-01 its days are one too low.
  const days = is1904 ? serial - 24_107 : serial - (serial < 60 ? 25_568 : 25_569)
  const date = new Date(Math.round(days * DAY_MS))
  if (serial < 0 || Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9999) return null
  const text = date.toISOString()
  return kind === 'date' ? text.slice(0, 10) : text
}
