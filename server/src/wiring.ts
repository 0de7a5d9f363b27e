import { join } from 'node:path'
import type { Logger } from 'pino'
import { Administration } from './administration/administration.ts'
import type { Blobs } from './blobs/blobs.ts'
import { FolderBlobs } from './blobs/folder-blobs.ts'
import { Catalog } from './catalog/catalog.ts'
import { OpenSnapshots } from './catalog/open-snapshots.ts'
import { type Clock, DAY, MINUTE, plus } from './clock.ts'
import type { Config } from './config.ts'
import { Cashier } from './credits/cashier.ts'
import { Ledger } from './credits/ledger.ts'
import { type Changes, openChanges } from './database/changes.ts'
import { forgetChangesBefore } from './database/changes-store.ts'
import { type ControlDatabase, openDatabase } from './database/open.ts'
import { Exports } from './downloads/exports.ts'
import { Housekeeping } from './housekeeping.ts'
import { Authenticate } from './http/authenticate.ts'
import { BaseUrl } from './http/base-url.ts'
import { Metrics } from './http/metrics.ts'
import { Overload } from './http/overload.ts'
import { newId } from './id.ts'
import { type Identity, mailRate, openIdentity } from './identity/identity.ts'
import { checkMailSettings } from './identity/mailer.ts'
import { ADD_ONS, type AddOn } from './keys/grant.ts'
import { Keys } from './keys/keys.ts'
import { deleteExpiredSessionKeys } from './keys/store.ts'
import { Verifier } from './keys/verifier.ts'
import type { Limiter } from './limits/limiter.ts'
import { MemoryLimiter } from './limits/memory-limiter.ts'
import { RedisLimiter } from './limits/redis-limiter.ts'
import { CrsList } from './ogc/crs-list.ts'
import { GeometryCache } from './ogc/geometry-cache.ts'
import { Items } from './ogc/items.ts'
import { Invitations } from './organizations/invitations.ts'
import { Members } from './organizations/members.ts'
import { Organizations, type StartingGrant } from './organizations/organizations.ts'
import { Jobs } from './publishing/jobs.ts'
import { Publishing } from './publishing/publishing.ts'
import { Staging } from './publishing/staging.ts'
import { Meter } from './usage/meter.ts'
import { UsageReports } from './usage/usage-reports.ts'

/** Of GeoJSON text; parsed geometries take about five times as much. */
const GEOMETRY_CACHE_BYTES = 32 * 1024 ** 2

/** Everything the service is made of, opened and wired by hand. The command line opens it too, not serving. */
export interface Parts {
  config: Config
  log: Logger
  clock: Clock
  nodeId: string
  baseUrl: BaseUrl
  metrics: Metrics
  overload: Overload
  database: ControlDatabase
  changes: Changes
  limiter: Limiter
  meter: Meter
  housekeeping: Housekeeping
  authenticate: Authenticate
  identity: Identity
  organizations: Organizations
  members: Members
  invitations: Invitations
  keys: Keys
  ledger: Ledger
  usageReports: UsageReports
  administration: Administration
  blobs: Blobs
  catalog: Catalog
  snapshots: OpenSnapshots
  crsList: CrsList
  items: Items
  publishing: Publishing
  jobs: Jobs
  cashier: Cashier
  exports: Exports
  checkReady: () => Promise<void>
  close: () => Promise<void>
}

export interface Opening {
  config: Config
  log: Logger
  clock: Clock
  /** False for the command line: it changes things and answers nobody. */
  serving: boolean
}

export async function openParts({ config, log, clock, serving }: Opening): Promise<Parts> {
  if (serving) checkMailSettings(config)
  const nodeId = newId('node')
  const baseUrl = new BaseUrl(config.baseUrl)
  const metrics = new Metrics()
  const overload = new Overload(config.maxEventLoopDelay)
  const database = await openDatabase(config)
  const changes = await openChanges(database, { nodeId, serving })

  const limiter =
    config.redisUrl && serving
      ? await RedisLimiter.open(config.redisUrl, log)
      : new MemoryLimiter(() => clock().getTime())
  const meter = new Meter(database, clock, log)
  const secretFormat = { literal: config.keyLiteral, env: config.keyEnv }
  const verifier = new Verifier({
    db: database.db,
    changes,
    clock,
    format: secretFormat,
    rate: { perMinute: config.keyRate, burst: config.keyBurst! },
  })
  const starting = startingGrant(config)
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
  const organizations = new Organizations({
    database,
    changes,
    clock,
    starting,
    signUp: config.signUp,
  })
  const members = new Members({ database, changes, clock })
  const invitations = new Invitations({
    database,
    changes,
    clock,
    limiter,
    mailer: identity.mailer,
    baseUrl: () => baseUrl.settled(),
    rates: { mail: mailRate(config.signInRate), organization: mailRate(config.signInAddressRate) },
  })
  const keys = new Keys({
    database,
    changes,
    clock,
    format: secretFormat,
    most: { perUser: config.keysPerUser, perOrganization: config.keysPerOrganization },
  })
  const ledger = new Ledger(database, clock)
  const usageReports = new UsageReports(database.db, clock)
  const administration = new Administration({ db: database.db, organizations, ledger })
  const blobs = new FolderBlobs(join(config.dataDir, 'snapshots'))
  const catalog = new Catalog(database.db, changes)
  const snapshots = new OpenSnapshots(blobs)
  const crsList = new CrsList(config.crs)
  const items = new Items({ catalog, snapshots, geometries: new GeometryCache(GEOMETRY_CACHE_BYTES), clock })
  const publishing = new Publishing({
    database,
    changes,
    clock,
    blobs,
    staging: new Staging(join(config.dataDir, 'staging')),
    limits: {
      rows: config.maxRows,
      columns: config.maxColumns,
      nesting: config.maxNesting,
      expansion: config.maxExpansion,
      bytes: config.maxUploadBytes,
    },
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
  const authenticate = new Authenticate({
    verifier,
    verifyToken: (token) => identity.accessTokens.verify(token),
    administrators: new Set(config.admins),
    limiter,
    rates: {
      user: { perMinute: config.userRate, burst: config.userRate },
      address: { perMinute: config.addressRate, burst: config.addressRate },
    },
    keyInUrl: config.keyInUrl,
  })

  const housekeeping = new Housekeeping(log)
  if (serving) {
    housekeeping.add('expired sign-ins', 60 * MINUTE, () => identity.signIn.tidy())
    housekeeping.add('expired session keys', 10 * MINUTE, () =>
      deleteExpiredSessionKeys(database.db, clock().toISOString()),
    )
    if (database.kind === 'sqlite') {
      housekeeping.add('old changes', 60 * MINUTE, () =>
        forgetChangesBefore(database.db, plus(clock(), -DAY).toISOString()),
      )
    }
  }

  return {
    config,
    log,
    clock,
    nodeId,
    baseUrl,
    metrics,
    overload,
    database,
    changes,
    limiter,
    meter,
    housekeeping,
    authenticate,
    identity,
    organizations,
    members,
    invitations,
    keys,
    ledger,
    usageReports,
    administration,
    blobs,
    catalog,
    snapshots,
    crsList,
    items,
    publishing,
    jobs,
    cashier,
    exports,
    checkReady: async () => {
      await database.db.selectFrom('migrations').select('number').executeTakeFirstOrThrow()
    },
    close: async () => {
      overload.stop()
      await housekeeping.close()
      await jobs.close()
      await identity.close()
      await exports.close()
      await meter.close()
      await snapshots.close()
      await limiter.close()
      await changes.close()
      await database.close()
    },
  }
}

/** What new organizations get: what the settings say, and in a demo everything that the settings leave open. */
function startingGrant(config: Config): StartingGrant {
  const { demo, newOrganizationAddOns: addOns, newOrganizationCredits: credits } = config
  return {
    addOns: demo && addOns.length === 0 ? ADD_ONS : (addOns as AddOn[]),
    credits: demo && credits === 0 ? 1000 : credits,
  }
}
