import { DAY, plus } from '../../base/clock.ts'
import type { ControlDatabase } from '../../base/database/open.ts'
import { system } from '../../base/events/events.ts'
import { recordKeyEvent } from '../keys/key-event.ts'
import { listKeysExpiringBetween, type StoredKey } from '../keys/store.ts'
import { readMarks, setMark } from './notice-store.ts'

/** Days before the end at which a key's owner is told. */
const STAGES = [14, 3, 1] as const
/** An expiry is told also if the service did not run then, but not after this time. */
const LATEST = 7 * DAY

/** Records that keys expire soon or have expired, once for each expiry and stage. */
export async function noteKeyExpiries(database: ControlDatabase, now: Date): Promise<void> {
  const { db } = database
  const keys = await listKeysExpiringBetween(
    db,
    plus(now, -LATEST).toISOString(),
    plus(now, STAGES[0] * DAY).toISOString(),
  )
  const due = keys.flatMap((key) => {
    const days = stageOf(key, now)
    return days === null ? [] : [{ key, days, mark: `key-expiry:${key.id}:${key.expires_at}:${days}` }]
  })
  const marked = await readMarks(
    db,
    due.map(({ mark }) => mark),
  )
  for (const { key, days, mark } of due) {
    if (marked.has(mark)) continue
    await db.transaction().execute(async (tx) => {
      // Another node may do the same.
      if (!(await setMark(tx, mark, now.toISOString()))) return
      const expiresAt = key.expires_at
      if (days === 0) await recordKeyEvent(tx, now, system, 'key.expired', key, { expiresAt })
      else await recordKeyEvent(tx, now, system, 'key.expiring', key, { expiresAt, days })
    })
  }
}

/**
 * How many days before its end the key is, as a stage; 0 if it has expired, null if there is nothing to tell. Of a key
 * that was created for a shorter time, its owner knows.
 */
export function stageOf(
  { created_at, expires_at }: Pick<StoredKey, 'created_at' | 'expires_at'>,
  now: Date,
): number | null {
  if (expires_at === null) return null
  const end = Date.parse(expires_at)
  if (end <= now.getTime()) return 0
  const stage = STAGES.findLast((days) => end - now.getTime() <= days * DAY)
  return stage === undefined || end - Date.parse(created_at) <= stage * DAY ? null : stage
}
