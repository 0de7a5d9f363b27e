import type { SourceRecord, SourceRunRecord } from '@wayleave/contract/records'
import { publishWords } from '../administration/publish-words.ts'
import { bytes, plural } from '../words.ts'

const KINDS: Record<SourceRecord['kind'], string> = {
  file: 'File',
  s3: 'Object in a bucket',
  postgres: 'Database',
  ogc: 'OGC API - Features',
  wfs: 'WFS',
  arcgis: 'ArcGIS layer',
}
const UNITS: Record<string, string> = { m: 'minute', h: 'hour', d: 'day', w: 'week' }

export function kindName(kind: SourceRecord['kind']): string {
  return KINDS[kind]
}

/** How often a source is read, in words. */
export function scheduleWords(every: string | null): string {
  if (every === null) return 'By hand'
  const interval = /^(\d+)([mhdw])$/.exec(every)
  const [, zone = 'UTC', cron] = /^(?:(?:CRON_)?TZ=(\S+)\s+)?(.*)$/.exec(every)!
  if (!interval) return `By the schedule ${cron} (${zone})`
  const unit = UNITS[interval[2]!]!
  return interval[1] === '1' ? `Every ${unit}` : `Every ${plural(Number(interval[1]), unit)}`
}

/** How long a run took. */
export function durationWords({ startedAt, endedAt }: SourceRunRecord): string {
  const seconds = Math.max(0, Date.parse(endedAt) - Date.parse(startedAt)) / 1000
  if (seconds < 60) return `${seconds < 10 ? Math.round(seconds * 10) / 10 : Math.round(seconds)} s`
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`
}

/** What came of a run. */
export function outcomeWords({ outcome, version, rows, bytes: size, problem }: SourceRunRecord): string {
  if (outcome === 'failed') return publishWords(problem ?? 'It failed.')
  if (outcome === 'unchanged') return 'Nothing had changed'
  const fetched = size === null ? '' : ` from ${bytes(size)}`
  return `Version ${version}: ${plural(rows ?? 0, 'row')}${fetched}`
}
