import { day } from '../words.ts'

/** Formats a value for a table cell. Times are written as people read them; the exact value is on hover. */
export function cellText(value: unknown, type?: string): string {
  if (value === null || value === undefined) return '–'
  if (typeof value === 'object') return JSON.stringify(value)
  const isTime = type === 'date' || type === 'timestamp'
  return isTime && typeof value === 'string' ? timeText(value, type) : String(value)
}

/** The value itself, as it is copied: empty if there is none. */
export function exactText(value: unknown): string {
  return value === null || value === undefined ? '' : cellText(value)
}

function timeText(value: string, type: string): string {
  const time = new Date(value)
  // Years beyond those of JavaScript stay as they are.
  if (Number.isNaN(time.getTime())) return value
  return type === 'date' ? day(value) : `${day(value)}, ${time.toISOString().slice(11, 16)}`
}
