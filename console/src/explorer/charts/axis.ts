import type { Value } from '../filter/cql2-text.ts'

/** The smallest of 1, 2, 4, 5 times a power of ten, twice that and so on, that is at least `value`; even, for a half. */
export function niceMax(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  const factor = [1, 2, 3, 4, 5, 6, 8, 10].find((one) => one * power >= value)!
  return Math.max(2, Math.ceil((factor * power) / 2) * 2)
}

const number = new Intl.NumberFormat('en', { maximumSignificantDigits: 5 })

/** An end of an interval in words. */
export function endText(value: Value, type: string): string {
  if (type === 'timestamp') return String(value).slice(0, 16).replace('T', ' ')
  return typeof value === 'number' ? number.format(value) : String(value)
}

/**
 * The labels of an axis: up to five ends, each as short as the range allows, and as many as fit into a number of
 * characters. The first and the last label stand inside the ends of the axis, half a label nearer to the others.
 */
export function endTexts(
  ends: readonly Value[],
  type: string,
  maxCharacters = 66,
): { index: number; text: string }[] {
  const last = ends.length - 1
  if (last < 1) return []
  const isTime = type === 'timestamp' || type === 'date'
  const days = isTime ? (Date.parse(String(ends[last])) - Date.parse(String(ends[0]))) / 86_400_000 : 0
  const text = (value: Value) => {
    if (!isTime) return endText(value, type)
    const iso = String(value)
    if (days > 1500) return iso.slice(0, 4)
    if (days > 60) return iso.slice(0, 7)
    return days > 2 || type === 'date' ? iso.slice(5, 10) : iso.slice(11, 16)
  }
  const widest = Math.max(text(ends[0]!).length, text(ends[last]!).length)
  const labels = Math.max(2, Math.min(5, last + 1, 1 + Math.floor(maxCharacters / (widest * 1.5 + 2))))
  const indexes = Array.from({ length: labels }, (_, label) => Math.round((label * last) / (labels - 1)))
  return [...new Set(indexes)].map((index) => ({ index, text: text(ends[index]!) }))
}
