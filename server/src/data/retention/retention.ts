import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, DAY, plus } from '../../base/clock.ts'
import type { Db } from '../../base/database/open.ts'
import type { Config } from '../../base/settings/config.ts'
import type { Blobs } from '../blobs/blobs.ts'
import { removeOldExports, removeOldMails, removeOldObjects } from './old-files.ts'
import {
  deadKeys,
  type OldRows,
  oldEvents,
  oldInvitations,
  oldRefusals,
  oldRevocations,
  oldUsage,
} from './retention-store.ts'

/** Deletes in steps, so that other writers can run between two of them. */
const STEP_ROWS = 1000
const PAUSE = 10
/** Refusals are caused by strangers: they must not fill the disk. */
const REFUSAL_DAYS = 30
/** An invitation has no use after it was accepted or has expired. */
const INVITATION_DAYS = 90

export interface PrunedKind {
  what: string
  /** The setting that limits the age. */
  setting: string
  /** Null keeps it forever. */
  days: number | null
  removed: number
  bytes?: number
}

export interface RetentionDeps {
  db: Db
  clock: Clock
  blobs: Blobs
  config: Pick<
    Config,
    | 'dataDir'
    | 'keepEventDays'
    | 'keepUsageDays'
    | 'keepDeadKeyDays'
    | 'keepRevocationDays'
    | 'keepExportDays'
    | 'keepMailDays'
  >
}

/**
 * Deletes what is older than the settings allow. The ledger is never deleted: it explains every balance. What
 * is valid for a day or two (sign-in links, purchases, usage batches, jobs) is deleted by its own part.
 */
export class Retention {
  readonly #parts: RetentionDeps

  constructor(parts: RetentionDeps) {
    this.#parts = parts
  }

  /** With `dryRun`, only counts. `maxSteps` limits how many rows of a table one call deletes. */
  async apply({ dryRun = false, maxSteps = Number.POSITIVE_INFINITY } = {}): Promise<PrunedKind[]> {
    const { db, config, blobs, clock } = this.#parts
    const rows: [what: string, setting: string, days: number | null, table: OldRows][] = [
      ['events', 'WAYLEAVE_KEEP_EVENT_DAYS', config.keepEventDays, oldEvents(db)],
      ['usage rows', 'WAYLEAVE_KEEP_USAGE_DAYS', config.keepUsageDays, oldUsage(db)],
      ['revoked and expired keys', 'WAYLEAVE_KEEP_DEAD_KEY_DAYS', config.keepDeadKeyDays, deadKeys(db)],
      ['revocations', 'WAYLEAVE_KEEP_REVOCATION_DAYS', config.keepRevocationDays, oldRevocations(db)],
      ['invitations', '-', INVITATION_DAYS, oldInvitations(db)],
      ['refused keys and sign-ins', '-', REFUSAL_DAYS, oldRefusals(db)],
    ]
    const result: PrunedKind[] = []
    for (const [what, setting, days, table] of rows) {
      const removed = days === null ? 0 : await this.#prune(table, this.#before(days), dryRun, maxSteps)
      result.push({ what, setting, days, removed })
    }
    result.push(
      await this.#pruneFiles('exports', 'WAYLEAVE_KEEP_EXPORT_DAYS', config.keepExportDays, (before) =>
        blobs.derived
          ? removeOldObjects(blobs.derived, { before, now: clock(), grace: blobs.minGrace }, { dryRun })
          : removeOldExports(blobs.root, before, { dryRun }),
      ),
      await this.#pruneFiles(
        'mails in the outbox',
        'WAYLEAVE_KEEP_MAIL_DAYS',
        config.keepMailDays,
        (before) => removeOldMails(join(config.dataDir, 'outbox'), before, { dryRun }),
      ),
    )
    return result
  }

  async #prune(table: OldRows, before: Date, dryRun: boolean, maxSteps: number): Promise<number> {
    const time = before.toISOString()
    if (dryRun) return table.count(time)
    let removed = 0
    for (let step = 0; step < maxSteps; step++) {
      const rows = await table.deleteSome(time, STEP_ROWS)
      removed += rows
      if (rows === 0) break
      await sleep(PAUSE)
    }
    return removed
  }

  async #pruneFiles(
    what: string,
    setting: string,
    days: number | null,
    remove: (before: Date) => Promise<{ files: number; bytes: number }>,
  ): Promise<PrunedKind> {
    if (days === null) return { what, setting, days, removed: 0, bytes: 0 }
    const { files, bytes } = await remove(this.#before(days))
    return { what, setting, days, removed: files, bytes }
  }

  #before(days: number): Date {
    return plus(this.#parts.clock(), -days * DAY)
  }
}
