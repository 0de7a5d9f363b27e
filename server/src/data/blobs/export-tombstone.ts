/** The tombstone of an export whose bytes are kept a while, because requests may still read them. */
export interface ExportTombstone {
  snapshot: string
  /** The export, such as `exports/places.csv`. */
  name: string
  key: string
  removedAt: Date
}

/** `exports/places.csv.removed-2026-03-01T12-00-00.000Z`: the time is in the name, as in the trash. */
export function tombstoneOf(name: string, at: Date): string {
  return `${name}.removed-${at.toISOString().replaceAll(':', '-')}`
}

/** Null if the key is not that of a tombstone. */
export function parseTombstone(key: string): ExportTombstone | null {
  const match = /([^/]+)\/(exports\/[^/]+)\.removed-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d\.\d{3}Z)$/.exec(key)
  if (!match) return null
  const [, snapshot = '', name = '', day, hour, minute, second] = match
  const removedAt = new Date(`${day}T${hour}:${minute}:${second}`)
  return Number.isNaN(removedAt.getTime()) ? null : { snapshot, name, key, removedAt }
}
