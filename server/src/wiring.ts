import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Blobs } from './blobs/blobs.ts'
import { FolderBlobs } from './blobs/folder-blobs.ts'
import { Catalog } from './catalog/catalog.ts'
import { OpenSnapshots } from './catalog/open-snapshots.ts'
import { type Clock, DAY, MINUTE, plus } from './clock.ts'
import { Closers } from './closers.ts'
import type { Config } from './config.ts'
import { type ControlPlane, openControlPlane } from './control-plane.ts'
import { Cashier } from './credits/cashier.ts'
import { deletePurchasesBefore } from './credits/purchase-store.ts'
import type { Changes } from './database/changes.ts'
import { deleteChangesBefore } from './database/changes-store.ts'
import { Exports } from './downloads/exports.ts'
import { Housekeeping } from './housekeeping.ts'
import { HousekeepingClock } from './housekeeping-clock.ts'
import { Authenticate } from './http/authenticate.ts'
import { BaseUrl } from './http/base-url.ts'
import { TrustedProxies } from './http/caller.ts'
import { Metrics } from './http/metrics.ts'
import { Overload } from './http/overload.ts'
import { newId } from './id.ts'
import { type Identity, mailRate, openIdentity } from './identity/identity.ts'
import { checkMailSettings } from './identity/mailer.ts'
import { deleteSessionKeysExpiredBefore } from './keys/store.ts'
import { Verifier } from './keys/verifier.ts'
import type { Limiter } from './limits/limiter.ts'
import { MemoryLimiter } from './limits/memory-limiter.ts'
import { RedisLimiter } from './limits/redis-limiter.ts'
import { CrsList } from './ogc/crs-list.ts'
import { DailyFeatures } from './ogc/daily-features.ts'
import { GeometryCache } from './ogc/geometry-cache.ts'
import { Items } from './ogc/items.ts'
import { RowQueries } from './ogc/row-queries.ts'
import { Invitations } from './organizations/invitations.ts'
import { Jobs } from './publishing/jobs.ts'
import { Publishing } from './publishing/publishing.ts'
import { Staging } from './publishing/staging.ts'
import { type CheckReady, readiness } from './readiness.ts'
import { Meter } from './usage/meter.ts'
import { UsageReports } from './usage/usage-reports.ts'
import { deleteUsageBatchesBefore } from './usage/usage-store.ts'

/** Of GeoJSON text; parsed geometries take about five times as much. */
const GEOMETRY_CACHE_BYTES = 32 * 1024 ** 2

/** Everything the service is made of, opened and wired by hand. The command line opens it too, not serving. */
export interface Parts extends ControlPlane {
  config: Config
  log: Logger
  clock: Clock
  nodeId: string
  baseUrl: BaseUrl
  metrics: Metrics
  overload: Overload
  proxies: TrustedProxies
  limiter: Limiter
  meter: Meter
  housekeeping: Housekeeping
  authenticate: Authenticate
  identity: Identity
  invitations: Invitations
  usageReports: UsageReports
  blobs: Blobs
  catalog: Catalog
  snapshots: OpenSnapshots
  crsList: CrsList
  items: Items
  dailyFeatures: DailyFeatures
  publishing: Publishing
  jobs: Jobs
  cashier: Cashier
  exports: Exports
  housekeepingClock: HousekeepingClock
  checkReady: CheckReady
  close: () => Promise<void>
}

export interface Opening {
  config: Config
  log: Logger
  clock: Clock
  /** False for the command line: it changes things and answers nobody. */
  serving: boolean
}

export async function openParts(opening: Opening): Promise<Parts> {
  const opened = new Closers(opening.log)
  try {
    return await wire(opening, opened)
  } catch (error) {
    // Whatever is open already would keep a process alive that could not start.
    await opened.close().catch(() => {})
    throw error
  }
}

/** What is put on `opened` is closed in the opposite order. */
async function wire({ config, log, clock, serving }: Opening, opened: Closers): Promise<Parts> {
  if (serving) checkMailSettings(config)
  const nodeId = newId('node')
  const baseUrl = new BaseUrl(config.baseUrl)
  const metrics = new Metrics()
  const overload = new Overload(config.maxEventLoopDelay)
  const proxies = new TrustedProxies(config.trustedProxies)
  const control = await openControlPlane({ config, clock, nodeId, serving, log })
  const { database, changes, starting } = control
  opened.defer(() => database.close(), 'the control database')
  opened.defer(() => changes.close(), 'the lease of this node')

  const limiter =
    config.redisUrl && serving
      ? await RedisLimiter.open(config.redisUrl, log)
      : new MemoryLimiter(() => clock().getTime())
  opened.defer(() => limiter.close(), 'the rate limits')
  const meter = new Meter(database, clock, log)
  opened.defer(() => meter.close(), 'the usage')
  const verifier = new Verifier({
    db: database.db,
    changes,
    clock,
    format: { literal: config.keyLiteral, env: config.keyEnv },
    rate: { requests: config.keyRate, burst: config.keyBurst! },
  })
  const identity = await openIdentity({
    config,
    database,
    changes,
    clock,
    log,
    limiter,
    baseUrl: () => baseUrl.settled(),
    starting,
    serving,
  })
  opened.defer(() => identity.close(), 'sign-ins and mail')
  const invitations = new Invitations({
    database,
    changes,
    clock,
    limiter,
    mailer: identity.mailer,
    baseUrl: () => baseUrl.settled(),
    rates: { mail: mailRate(config.signInRate), organization: mailRate(config.signInAddressRate) },
  })
  const usageReports = new UsageReports(database.db, clock)
  const blobs = new FolderBlobs(join(config.dataDir, 'snapshots'))
  const catalog = new Catalog(database.db, changes)
  const snapshots = new OpenSnapshots(blobs)
  opened.defer(() => snapshots.close(), 'the open snapshots')
  const crsList = new CrsList(config.crs)
  const rows = new RowQueries(join(config.dataDir, 'snapshots'))
  opened.defer(() => rows.close(), 'the row queries')
  const geometries = new GeometryCache(GEOMETRY_CACHE_BYTES)
  const items = new Items({ catalog, snapshots, geometries, rows, clock })
  const dailyFeatures = new DailyFeatures(config.dailyFeatures, clock, serving ? config.redisUrl : null, log)
  opened.defer(() => dailyFeatures.close(), 'the daily features')
  const publishing = new Publishing({
    database,
    changes,
    clock,
    blobs,
    staging: new Staging(join(config.dataDir, 'staging')),
    limits: {
      rows: config.maxRows,
      columns: config.maxColumns,
      depth: config.maxNesting,
      compressionRatio: config.maxExpansion,
      decompressedBytes: config.maxUploadBytes,
    },
    mostBytes: config.maxUploadBytes,
    keepVersions: config.keepVersions,
  })
  const jobs = new Jobs({
    database,
    publishing,
    clock,
    log,
    nodeId,
    uploads: join(config.dataDir, 'uploads'),
  })
  const cashier = new Cashier(database, meter, clock)
  const exports = new Exports(blobs)
  opened.defer(() => exports.close(), 'the exports')
  opened.defer(() => jobs.close(), 'the publishing jobs')
  const authenticate = new Authenticate({
    verifier,
    verifyToken: (token) => identity.accessTokens.verify(token),
    administrators: new Set(config.admins),
    limiter,
    rates: {
      user: { requests: config.userRate, burst: config.userRate },
      address: { requests: config.addressRate, burst: config.addressRate },
    },
    keyInUrl: config.keyInUrl,
  })

  const housekeeping = new Housekeeping(log)
  opened.defer(() => housekeeping.close(), 'the housekeeping')
  opened.defer(() => overload.stop())
  const housekeepingClock = new HousekeepingClock({
    database,
    clock,
    log,
    maxSkew: config.maxClockSkew,
    accept: config.acceptClock,
  })
  if (serving) {
    await housekeepingClock.start()
    const tidy = (name: string, every: number, work: (now: Date) => Promise<unknown>) =>
      housekeeping.add(name, every, async () => {
        await work(await housekeepingClock.now())
      })
    // Everything is kept a day longer than it is valid: a clock that is wrong by less deletes nothing early.
    tidy('the time of the last run', MINUTE, async () => {})
    tidy('expired sign-ins', 60 * MINUTE, (now) => identity.signIn.tidy(now))
    tidy('expired session keys', 10 * MINUTE, (now) =>
      deleteSessionKeysExpiredBefore(database, plus(now, -DAY).toISOString()),
    )
    tidy('old purchases', 60 * MINUTE, (now) =>
      deletePurchasesBefore(database, plus(now, -2 * DAY).toISOString()),
    )
    tidy('old batches of usage', 60 * MINUTE, (now) =>
      deleteUsageBatchesBefore(database, plus(now, -2 * DAY).toISOString()),
    )
    tidy('old jobs', 60 * MINUTE, (now) => jobs.deleteOld(now))
    if (database.kind === 'sqlite') {
      tidy('old changes', 60 * MINUTE, (now) => deleteChangesBefore(database, plus(now, -DAY).toISOString()))
    }
  }

  metrics.gauge(
    'caches_trusted',
    '1 while this node may use its caches: on PostgreSQL, while it holds its lease.',
    () => (trustedNow(changes) ? 1 : 0),
  )
  metrics.gauge(
    'unsaved_usage_rows',
    'Rows of usage that are not in the database yet.',
    () => meter.unsavedRows,
  )
  metrics.gauge('clock_held', '1 while the clock is ahead of the last run and not believed yet.', () =>
    housekeepingClock.held ? 1 : 0,
  )

  return {
    ...control,
    config,
    log,
    clock,
    nodeId,
    baseUrl,
    metrics,
    overload,
    proxies,
    limiter,
    meter,
    housekeeping,
    housekeepingClock,
    authenticate,
    identity,
    invitations,
    usageReports,
    blobs,
    catalog,
    snapshots,
    crsList,
    items,
    dailyFeatures,
    publishing,
    jobs,
    cashier,
    exports,
    checkReady: readiness({
      database,
      changes,
      blobs,
      dataDir: config.dataDir,
      minFreeBytes: config.minFreeBytes,
      log,
    }),
    close: () => opened.close(),
  }
}

/** SQLite's changes throw if the file cannot be read. */
function trustedNow(changes: Changes): boolean {
  try {
    return changes.trusted()
  } catch {
    return false
  }
}
