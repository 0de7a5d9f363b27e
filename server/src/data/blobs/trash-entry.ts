import type { DiscardedSnapshot } from './blobs.ts'
import { isSnapshotName } from './snapshot-name.ts'

/** `2026-03-01T12-00-00.000Z.places_…`: the time is in the name, so that it survives copying. */
export function trashEntry(snapshot: string, at: Date): string {
  return `${at.toISOString().replaceAll(':', '-')}.${snapshot}`
}

export function parseTrashEntry(entry: string): DiscardedSnapshot | null {
  const match = /^(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d\.\d{3}Z)\.([A-Za-z0-9_]+)$/.exec(entry)
  if (!match) return null
  const [, day, hour, minute, second, snapshot = ''] = match
  const discardedAt = new Date(`${day}T${hour}:${minute}:${second}`)
  if (Number.isNaN(discardedAt.getTime()) || !isSnapshotName(snapshot)) return null
  return { entry, snapshot, discardedAt }
}
