import { join } from 'node:path'
import type { Logger } from 'pino'
import { deleteAddressBlocksExpiredBefore } from '../accounts/access/address-block-store.ts'
import type { Refusals } from '../accounts/access/refusals.ts'
import { type Billing, billingRounds } from '../accounts/billing/billing.ts'
import { deletePurchasesBefore } from '../accounts/credits/purchase-store.ts'
import { deleteIdempotencyKeysBefore } from '../accounts/idempotency/store.ts'
import type { Identity } from '../accounts/identity/identity.ts'
import { deleteSessionKeysExpiredBefore } from '../accounts/keys/store.ts'
import { deleteUsageBatchesBefore } from '../accounts/usage/usage-store.ts'
import { deleteCodesExpiredBefore } from '../assistants/sign-in/code-store.ts'
import { type Clock, DAY, MINUTE, plus, SECOND } from '../base/clock.ts'
import { deleteChangesBefore } from '../base/database/changes/changes-store.ts'
import { sweepOutbox } from '../base/mail/outbox-mailer.ts'
import type { Config } from '../base/settings/config.ts'
import type { Blobs } from '../data/blobs/blobs.ts'
import type { Jobs } from '../data/publishing/upload-jobs/jobs.ts'
import { Retention } from '../data/retention/retention.ts'
import { deleteRunsBefore } from '../data/sources/sources-store.ts'
import { RevocationLog } from '../operation/backup/revocations/revocation-log.ts'
import { sweepScratch } from '../operation/backup/target/scratch-folder.ts'
import type { Housekeeping } from '../operation/housekeeping/housekeeping.ts'
import type { HousekeepingClock } from '../operation/housekeeping/housekeeping-clock.ts'
import type { Closers } from './closers.ts'
import type { ControlPlane } from './control-plane.ts'
import { tidyNotifications } from './tidy-notifications.ts'

export interface HousekeepingDeps {
  control: ControlPlane
  config: Config
  clock: Clock
  log: Logger
  blobs: Blobs
  identity: Identity
  billing: Billing
  jobs: Jobs
  refusals: Refusals
  housekeeping: Housekeeping
  housekeepingClock: HousekeepingClock
}

/** What every serving thread does from time to time: it writes what it collected, and reads what it compares. */
export async function scheduleThreadWork(
  { control, refusals, housekeeping }: Pick<HousekeepingDeps, 'control' | 'refusals' | 'housekeeping'>,
  opened: Closers,
): Promise<void> {
  const { changes, addressBlocks } = control
  housekeeping.add('refused keys and sign-ins', 10 * SECOND, () => refusals.flush())
  opened.defer(() => refusals.flush({ isLast: true }), 'refused keys and sign-ins')
  await addressBlocks.load()
  const loadBlocks = () => addressBlocks.load()
  housekeeping.add('blocked addresses', 2 * SECOND, loadBlocks)
  changes.listen((subject) => {
    if (subject === 'address-blocks' || subject === 'everything')
      housekeeping.runSoon('blocked addresses', loadBlocks)
  })
}

/** Everything that a serving node does from time to time: deleting what is old, and writing what is collected. */
export async function scheduleHousekeeping(
  {
    control,
    config,
    clock,
    log,
    blobs,
    identity,
    billing,
    jobs,
    housekeeping,
    housekeepingClock,
  }: HousekeepingDeps,
  opened: Closers,
): Promise<void> {
  const { database, changes } = control
  await housekeepingClock.start()
  const tidy = (name: string, every: number, work: (now: Date) => Promise<unknown>) =>
    housekeeping.addQueued(name, every, async () => {
      await work(await housekeepingClock.recent())
    })
  // Everything is kept a day longer than it is valid: a clock that is off by less deletes nothing early.
  tidy('the time of the last run', MINUTE, async () => {})
  tidy('expired sign-ins', 60 * MINUTE, (now) => identity.signIn.tidy(now))
  // With SQLite no other server writes mails, so half-written mails from before the start are abandoned.
  let unfinishedMailAge = config.databaseUrl ? MINUTE : 0
  housekeeping.add('unfinished mails', MINUTE, async () => {
    await sweepOutbox(join(config.dataDir, 'outbox'), unfinishedMailAge)
    unfinishedMailAge = MINUTE
  })
  tidy('expired session keys', 10 * MINUTE, (now) =>
    deleteSessionKeysExpiredBefore(database, plus(now, -DAY).toISOString()),
  )
  tidy('old purchases', 60 * MINUTE, (now) =>
    deletePurchasesBefore(database, plus(now, -2 * DAY).toISOString()),
  )
  for (const { name, every, work } of billingRounds(billing)) housekeeping.addQueued(name, every, work)
  tidy('old idempotency keys', 60 * MINUTE, (now) =>
    deleteIdempotencyKeysBefore(database, plus(now, -2 * DAY).toISOString()),
  )
  tidy('codes of assistants', 60 * MINUTE, (now) => deleteCodesExpiredBefore(database.db, plus(now, -DAY)))
  tidyNotifications({ tidy, database, config })
  const revocationLog = new RevocationLog(database.db, config.dataDir, clock)
  // Also run at a stop: what was revoked in the last seconds is written before the database is closed.
  opened.defer(
    () =>
      revocationLog
        .follow()
        .catch((error: unknown) => log.warn({ err: error }, 'The log of revocations could not be written.')),
    'the log of revocations',
  )
  const logRevocations = () => revocationLog.follow()
  housekeeping.add('the log of revocations', 10 * SECOND, logRevocations)
  // Right after a key was revoked, whichever process did it: what is not in the log yet can get lost.
  changes.listen((subject) => {
    if (subject === 'key')
      setTimeout(() => housekeeping.runSoon('the log of revocations', logRevocations), 10).unref()
  })
  tidy('what is older than the settings say', 60 * MINUTE, (now) =>
    new Retention({ db: database.db, clock: () => now, config, blobs }).apply({ maxSteps: 100 }),
  )
  housekeeping.add('leftovers of backups', 60 * MINUTE, () => sweepScratch(config.dataDir))
  tidy('old batches of usage', 60 * MINUTE, (now) =>
    deleteUsageBatchesBefore(database, plus(now, -2 * DAY).toISOString()),
  )
  tidy('expired blocks of addresses', 60 * MINUTE, (now) =>
    deleteAddressBlocksExpiredBefore(database, plus(now, -30 * DAY).toISOString()),
  )
  tidy('old runs of sources', 60 * MINUTE, (now) =>
    deleteRunsBefore(database, plus(now, -90 * DAY).toISOString()),
  )
  tidy('old jobs', 60 * MINUTE, (now) => jobs.deleteOld(now))
  if (database.kind === 'sqlite') {
    tidy('old changes', 60 * MINUTE, (now) => deleteChangesBefore(database, plus(now, -DAY).toISOString()))
  }
}
