import { join } from 'node:path'
import { memoryPerCompilation, Sandbox } from '@wayleave/geodata/compile'
import type { Logger } from 'pino'
import { Authenticate } from '../accounts/access/authenticate.ts'
import { Refusals } from '../accounts/access/refusals.ts'
import { Verifier } from '../accounts/access/verifier.ts'
import { AccessRequests } from '../accounts/access-requests/access-requests.ts'
import { Cashier } from '../accounts/credits/cashier.ts'
import { type Identity, mailRate, openIdentity } from '../accounts/identity/identity.ts'
import { Invitations } from '../accounts/organizations/invitations.ts'
import { Meter } from '../accounts/usage/meter.ts'
import { UsageReports } from '../accounts/usage/usage-reports.ts'
import { type Clock, SECOND, systemClock } from '../base/clock.ts'
import { childProcessWork, type DataWork } from '../base/data-work.ts'
import { newId } from '../base/id.ts'
import type { Limiter } from '../base/limits/limiter.ts'
import { MemoryLimiter } from '../base/limits/memory-limiter.ts'
import { RedisLimiter } from '../base/limits/redis-limiter.ts'
import type { RedisLink, RedisLinkOptions } from '../base/limits/redis-link.ts'
import { checkMailSettings } from '../base/mail/mailer.ts'
import type { Config } from '../base/settings/config.ts'
import type { Blobs } from '../data/blobs/blobs.ts'
import { openStorage, type Storage } from '../data/blobs/open-storage.ts'
import { Verification } from '../data/catalog/background-verification.ts'
import { Catalog } from '../data/catalog/catalog.ts'
import { OpenSnapshots } from '../data/catalog/open-snapshots.ts'
import { SnapshotHealth } from '../data/catalog/snapshot-health.ts'
import { isSnapshotNamed } from '../data/catalog/store.ts'
import { ExportJobs } from '../data/downloads/exports/export-jobs.ts'
import { Exports } from '../data/downloads/exports/exports.ts'
import { requireOneInstallation } from '../data/installation/installation.ts'
import { jobLimits, kindsOf, requirePossibleRole } from '../data/jobs/job-limits.ts'
import { JobMessages } from '../data/jobs/job-messages.ts'
import { JobQueue } from '../data/jobs/job-queue.ts'
import { JobRunner } from '../data/jobs/job-runner.ts'
import { GarbageCollection } from '../data/publishing/garbage-collection.ts'
import { Publishing } from '../data/publishing/publishing.ts'
import { Staging } from '../data/publishing/staging.ts'
import { Jobs } from '../data/publishing/upload-jobs/jobs.ts'
import { UploadFiles } from '../data/publishing/upload-jobs/upload-files.ts'
import { aboutOf } from '../http/about.ts'
import { BaseUrl } from '../http/base-url.ts'
import { TrustedProxies } from '../http/caller.ts'
import { AccessLog } from '../http/observability/access-log.ts'
import { Metrics } from '../http/observability/metrics.ts'
import type { CheckReady } from '../http/observability/operation-routes.ts'
import { Overload } from '../http/observability/overload.ts'
import type { ExtractLimits } from '../ogc/extract/extract-routes.ts'
import { DailyFeatures } from '../ogc/items/daily-features.ts'
import { CrsList } from '../ogc/request/crs-list.ts'
import { Housekeeping } from '../operation/housekeeping/housekeeping.ts'
import { HousekeepingClock } from '../operation/housekeeping/housekeeping-clock.ts'
import { readiness } from '../operation/readiness/readiness.ts'
import { Closers } from './closers.ts'
import { type ControlPlane, openControlPlane } from './control-plane.ts'
import { type FeatureParts, openFeatures } from './open-features.ts'
import { openTiles, type TileParts } from './open-tiles.ts'
import { scheduleHousekeeping } from './schedule-housekeeping.ts'

/** All parts of the service, created and wired by hand. The command line opens them too, without serving. */
export interface Parts extends ControlPlane, FeatureParts, TileParts {
  config: Config
  log: Logger
  clock: Clock
  nodeId: string
  baseUrl: BaseUrl
  metrics: Metrics
  /** Null without WAYLEAVE_ACCESS_LOG. */
  accessLog: AccessLog | null
  overload: Overload
  proxies: TrustedProxies
  /** Null except for a server with WAYLEAVE_REDIS_URL. */
  redis: RedisLink | null
  limiter: Limiter
  refusals: Refusals
  meter: Meter
  housekeeping: Housekeeping
  authenticate: Authenticate
  identity: Identity
  invitations: Invitations
  accessRequests: AccessRequests
  usageReports: UsageReports
  storage: Storage
  blobs: Blobs
  catalog: Catalog
  health: SnapshotHealth
  verification: Verification
  snapshots: OpenSnapshots
  crsList: CrsList
  staging: Staging
  extractLimits: ExtractLimits
  dailyFeatures: DailyFeatures
  /** Whether CSV texts that spreadsheets execute get an apostrophe. */
  escapeFormulas: boolean
  sandbox: Sandbox
  publishing: Publishing
  garbage: GarbageCollection
  jobs: Jobs
  jobQueue: JobQueue
  runner: JobRunner
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
  /** False for the command line, which makes changes and serves no requests. */
  serving: boolean
  /** By default in child processes. */
  work?: DataWork
  /** How long a reply of Redis may take, in milliseconds. */
  redisReplyMs?: number
}

export async function openParts(opening: Opening): Promise<Parts> {
  const opened = new Closers(opening.log)
  try {
    return await wire(opening, opened)
  } catch (error) {
    // Parts that are open already would keep the process alive after a failed start.
    await opened.close().catch(() => {})
    throw error
  }
}

/** Everything closable is registered where it is created, by `opened.use`; `requireAll` checks this. */
async function wire(
  { config, log, clock, serving, work: givenWork, redisReplyMs }: Opening,
  opened: Closers,
): Promise<Parts> {
  if (serving) {
    checkMailSettings(config)
    requirePossibleRole(config)
  }
  const nodeId = newId('node')
  const baseUrl = new BaseUrl(config.baseUrl, config.trustedProxies.length > 0)
  const metrics = new Metrics()
  const accessLog = config.accessLog && serving ? opened.use(new AccessLog(config.accessLog)) : null
  const overload = new Overload(config.maxEventLoopDelay)
  const proxies = new TrustedProxies(config.trustedProxies)
  const limits = jobLimits(config, serving)
  const jobKinds = kindsOf(limits)
  const control = await openControlPlane({ config, clock, nodeId, serving, opened, log, jobKinds })
  const { database, changes, starting } = control
  const storage = opened.use(await openStorage(config, log))
  const { blobs, bucket } = storage
  // Must be first: everything after it may change what is stored according to the database.
  await requireOneInstallation({ database, blobs, bucket, dataDir: config.dataDir }, log)

  const redis =
    config.redisUrl && serving
      ? opened.use(await openRedis({ url: config.redisUrl, log, replyMs: redisReplyMs }))
      : null
  // Monotonic: a system clock that is set back would empty all buckets. Tests bring their own clock.
  const limiterTime = clock === systemClock ? () => performance.now() : () => clock().getTime()
  const limiter = opened.use(redis ? new RedisLimiter(redis) : new MemoryLimiter(limiterTime))
  const meter = opened.use(new Meter(database, clock, log))
  const refusals = new Refusals(database, clock)
  const verifier = new Verifier({
    db: database.db,
    changes,
    clock,
    format: { literal: config.keyLiteral, env: config.keyEnv },
    rate: { requests: config.keyRate, burst: config.keyBurst! },
    ownerRate: { requests: config.ownerRate!, burst: config.ownerBurst! },
  })
  const identity = opened.use(
    await openIdentity({
      config,
      database,
      changes,
      clock,
      log,
      limiter,
      baseUrl: () => baseUrl.settled(),
      starting,
      serving,
      refusals,
    }),
  )
  const invitations = new Invitations({
    database,
    changes,
    clock,
    limiter,
    mailer: identity.mailer,
    baseUrl: () => baseUrl.settled(),
    rates: { mail: mailRate(config.signInRate), organization: mailRate(config.signInAddressRate) },
  })
  const accessRequests = new AccessRequests({
    database,
    changes,
    clock,
    ledger: control.ledger,
    mailer: identity.mailer,
    baseUrl: () => baseUrl.settled(),
    operators: operatorAddresses(config),
  })
  const usageReports = new UsageReports(database.db, clock)
  const isPublished = (snapshot: string) => isSnapshotNamed(database.db, snapshot)
  const health = new SnapshotHealth({ blobs, log, isPublished })
  const catalog = new Catalog(database.db, changes, health, log)
  const bytesPerSecond = config.verifyRate * 1_000_000
  const verification = opened.use(new Verification({ blobs, health, clock, log, bytesPerSecond }))
  const snapshots = opened.use(new OpenSnapshots({ blobs, health, verification }))
  const crsList = new CrsList(config.crs)
  const features = await openFeatures({ config, database, blobs, snapshots, verification, log }, opened)
  const dailyFeatures = new DailyFeatures(config.dailyFeatures, clock, redis)
  const staging = new Staging(join(blobs.root, '.staging'), [join(config.dataDir, 'staging')])
  const housekeepingClock = new HousekeepingClock({
    database,
    clock,
    log,
    maxSkew: config.maxClockSkew,
    accept: config.acceptClock,
  })
  const garbage = new GarbageCollection({
    database,
    blobs,
    staging,
    clock,
    log,
    bucket,
    dataDir: config.dataDir,
    trashDays: config.trashDays,
  })
  const messages = new JobMessages(changes)
  const runner = opened.use(new JobRunner({ database, messages, clock, log, nodeId, limits }), 'running jobs')
  const jobQueue = new JobQueue({ database, messages, clock, nodeId, ownKinds: jobKinds })
  const { engine, workload } = features
  const tiles = openTiles(
    {
      database,
      changes,
      blobs,
      catalog,
      health,
      snapshots,
      engine,
      workload,
      jobQueue,
      runner,
      clock,
      log,
      maxZoom: config.tileMaxZoom,
    },
    opened,
  )
  const sandbox = new Sandbox(config.sandbox, [config.dataDir, blobs.root])
  const work = givenWork ?? childProcessWork(sandbox)
  const escapeFormulas = config.csvFormulas === 'escape'
  const publishing = new Publishing({
    escapeFormulas,
    work,
    sandbox,
    database,
    changes,
    clock,
    log,
    blobs,
    staging,
    gdal: {
      program: config.gdal === 'off' ? null : config.gdal,
      seconds: config.gdalSeconds,
      megabytes: config.gdalMegabytes,
    },
    limits: {
      rows: config.maxRows,
      columns: config.maxColumns,
      depth: config.maxNesting,
      compressionRatio: config.maxExpansion,
      decompressedBytes: config.maxUploadBytes,
      rowBytes: config.maxFeatureBytes,
      seconds: config.publishSeconds,
      stalledSeconds: config.readSeconds,
      minFreeBytes: config.minFreeBytes,
    },
    // A command publishes one file at a time.
    memoryMegabytes: config.publishMemory ?? memoryPerCompilation(Math.max(limits.publish, 1)),
    maxBytes: config.maxUploadBytes,
    keepVersions: config.keepVersions,
  })
  const jobs = new Jobs({
    database,
    changes,
    publishing,
    messages,
    runner,
    clock,
    log,
    nodeId,
    uploads: new UploadFiles(config.dataDir, bucket),
  })
  runner.handle('publish', jobs)
  // Closed after the exports: when a stop aborts a build, its deliveries fail and write refunds.
  const cashier = opened.use(new Cashier(database, meter, clock))
  const exports = opened.use(
    new Exports({
      blobs,
      health,
      verification,
      tiles: tiles.tileFiles,
      jobs: jobQueue,
      waitMs: config.exportWait * SECOND,
      escapeFormulas,
      work,
    }),
  )
  runner.handle('export', new ExportJobs({ database, catalog, exports, log }))
  const authenticate = new Authenticate({
    verifier,
    verifyToken: (token) => identity.accessTokens.verify(token),
    administrators: new Set(config.admins),
    limiter,
    rates: {
      user: { requests: config.userRate, burst: config.userRate },
      address: { requests: config.addressRate, burst: config.addressRate },
      tile: { requests: config.tileRate, burst: config.tileRate },
    },
    keyInUrl: config.keyInUrl,
    refusals,
  })

  const housekeeping = opened.use(new Housekeeping(log))
  opened.defer(() => overload.stop())
  if (serving)
    await scheduleHousekeeping(
      { control, config, clock, log, blobs, identity, jobs, refusals, housekeeping, housekeepingClock },
      opened,
    )

  const parts = {
    ...control,
    ...features,
    ...tiles,
    config,
    log,
    clock,
    nodeId,
    baseUrl,
    metrics,
    accessLog,
    overload,
    proxies,
    redis,
    limiter,
    refusals,
    meter,
    housekeeping,
    housekeepingClock,
    authenticate,
    identity,
    invitations,
    accessRequests,
    usageReports,
    storage,
    blobs,
    catalog,
    health,
    verification,
    snapshots,
    crsList,
    staging,
    extractLimits: { maxRows: config.extractRows, maxBytes: config.extractBytes },
    dailyFeatures,
    escapeFormulas,
    sandbox,
    publishing,
    garbage,
    jobs,
    jobQueue,
    runner,
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
  }
  opened.requireAll(parts)
  return { ...parts, close: () => opened.close() }
}

/** The Redis client is only loaded if it is used: it takes a twentieth of the time of a start. */
async function openRedis(options: RedisLinkOptions): Promise<RedisLink> {
  const { RedisLink } = await import('../base/limits/redis-link.ts')
  return RedisLink.open(options)
}

/** The administrators, and the contact if it is a mail address. */
function operatorAddresses(config: Config): string[] {
  const contact = aboutOf(config).contact?.email
  return [...new Set([...config.admins, ...(contact === undefined ? [] : [contact])])]
}
