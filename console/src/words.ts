import { EXPORT_FORMATS, type ExportFormatRow } from '@wayleave/contract/export-formats'
import { UPDATE_WORDS } from '@wayleave/contract/update-frequencies'

const number = new Intl.NumberFormat('en')
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

export function count(value: number): string {
  return number.format(value)
}

/** A number with its sign; the minus sign (U+2212) is as wide as the plus. */
export function signed(value: number): string {
  return value > 0 ? `+${count(value)}` : count(value).replace('-', '−')
}

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`
}

export function bytes(value: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, value)) / 3))
  const scaled = value / 1000 ** power
  return `${scaled >= 100 || power === 0 ? Math.round(scaled) : scaled.toFixed(1)} ${units[power]}`
}

/** A duration, not more precise than an estimate is. */
export function roughly(seconds: number): string {
  if (seconds < 90) return plural(seconds, 'second')
  return seconds < 5400 ? plural(Math.round(seconds / 60), 'minute') : `${(seconds / 3600).toFixed(1)} hours`
}

/** A date in UTC, like all dates of the service. */
export function day(iso: string): string {
  return new Date(iso).toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    timeZone: 'UTC',
  })
}

/** The month of a date: “November 2026”. */
export function month(iso: string): string {
  return new Date(iso).toLocaleDateString('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })
}

export function moment(iso: string): string {
  const time = new Date(iso).toISOString()
  return `${day(iso)}, ${time.slice(11, 16)} UTC`
}

/** The day of a list that is divided by days, in UTC: “Today”, “Yesterday” or “Mon, 16 Nov 2026”. */
export function weekday(iso: string, now: number): string {
  const date = new Date(iso).toISOString().slice(0, 10)
  const daysAgo = [0, 1].find((days) => lastDays(1, now - days * 86_400_000).endDate === date)
  if (daysAgo !== undefined) return daysAgo === 0 ? 'Today' : 'Yesterday'
  return `${new Date(iso).toLocaleDateString('en-GB', { weekday: 'short', timeZone: 'UTC' })}, ${day(iso)}`
}

const steps: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
]

export function ago(iso: string, now: number): string {
  const seconds = (Date.parse(iso) - now) / 1000
  const [unit, length] = steps.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1]
  return unit === 'second'
    ? seconds < 0
      ? 'just now'
      : 'in a moment'
    : relative.format(Math.round(seconds / length), unit)
}

/** Undefined for a format that a newer service offers. */
const formatRow = (format: string): ExportFormatRow | undefined =>
  (EXPORT_FORMATS as Record<string, ExportFormatRow>)[format]

export function formatName(format: string): string {
  return formatRow(format)?.title ?? format
}

/** The name of a downloaded file, which the service gives it too; with the version if one was chosen. */
export function fileName(table: string, format: string, version?: number): string {
  const suffix = version === undefined ? '' : `-v${version}`
  return `${table}${suffix}.${formatRow(format)?.extension ?? format}`
}

/** Whether lists offer a format: those that are meant for geometries are not offered for a table without any. */
export function suitsDataset(format: string, { geometryType }: { geometryType: string | null }): boolean {
  return geometryType !== null || (formatRow(format)?.suitsTables ?? true)
}

const shapes: Record<string, string> = {
  Point: 'Points',
  LineString: 'Lines',
  Polygon: 'Polygons',
  GeometryCollection: 'Collections',
}

/** The kind of geometry of a dataset in one word: multipolygons are called polygons too. */
export function shapeName({
  geometryType,
  geometryTypes,
}: {
  geometryType: string | null
  geometryTypes: string[]
}): string {
  if (geometryType === null) return 'Table'
  const [only, another] = new Set(geometryTypes.map((type) => type.replace('Multi', '')))
  if (only === undefined) return 'Shapes'
  return (another === undefined && shapes[only]) || 'Mixed shapes'
}

/** The dates of the first and the last day. The time of day means little for months or years of data. */
export function period([start, end]: [string, string]): string {
  const [first, last] = [day(start), day(end)]
  return first === last ? first : `${first} to ${last}`
}

/** How often a dataset is updated, in words; null if that is not stated. */
export function updateWords(frequency: string): string | null {
  return frequency === '' ? null : (UPDATE_WORDS[frequency] ?? frequency)
}

/** Without case and accents, so that "zurich" finds Zürich. */
export function plainText(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
}

/** The words of a text in Markdown, for a place that shows a line or two of it. */
export function withoutMarks(markdown: string): string {
  return markdown
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^\s*(?:#+|>|[-*+]|\d+[.)])\s+/gm, '')
    .replace(/\*\*|__|`/g, '')
}

/** The last days up to and including today, in UTC. */
export function lastDays(days: number, now: number): { startDate: string; endDate: string } {
  const date = (back: number) => new Date(now - back * 86_400_000).toISOString().slice(0, 10)
  return { startDate: date(days - 1), endDate: date(0) }
}

/** Words that begin a sentence, in the middle of one. */
export function lowered(words: string): string {
  return words.charAt(0).toLowerCase() + words.slice(1)
}
