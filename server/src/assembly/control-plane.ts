import { ADD_ONS } from '@wayleave/contract/add-ons'
import type { JobKind } from '@wayleave/contract/job-states'
import type { Logger } from 'pino'
import { AddressBlocks } from '../accounts/access/address-blocks.ts'
import { Administration } from '../accounts/administration/administration.ts'
import { KeyFinder } from '../accounts/administration/key-finder.ts'
import { OrganizationAdministration } from '../accounts/administration/organization-administration.ts'
import { UserAdministration } from '../accounts/administration/user-administration.ts'
import { Products } from '../accounts/billing/products/products.ts'
import { Ledger } from '../accounts/credits/ledger.ts'
import { Keys } from '../accounts/keys/keys.ts'
import { Members } from '../accounts/organizations/members.ts'
import { Organizations, type StartingGrant } from '../accounts/organizations/organizations.ts'
import type { Clock } from '../base/clock.ts'
import type { Changes, Settle } from '../base/database/changes/changes.ts'
import { openChanges } from '../base/database/changes/open-changes.ts'
import { remoteNodeLink } from '../base/database/changes/remote-node-link.ts'
import type { SharedNodeLink } from '../base/database/changes/shared-node-link.ts'
import { type ControlDatabase, openDatabase } from '../base/database/open.ts'
import type { Config } from '../base/settings/config.ts'
import type { ThreadPlace } from '../base/threads/thread-place.ts'
import { requireUsableFolder } from '../operation/backup/restore/folder-marks.ts'
import { applyRevocations } from '../operation/backup/revocations/apply-revocations.ts'
import { revocationLogFile } from '../operation/backup/revocations/revocation-log.ts'
import { readRevocations } from '../operation/backup/revocations/revocations.ts'
import type { Closers } from './closers.ts'
import type { Opening } from './opening.ts'

/** Accounts, keys and credits: everything that operator commands need, and a part of a server. */
export interface ControlPlane {
  database: ControlDatabase
  changes: Changes
  /** The connections for the leases of all serving threads; null unless this is the first of several, on PostgreSQL. */
  sharedLink: SharedNodeLink | null
  /** The add-ons and credits of new organizations. */
  starting: StartingGrant
  organizations: Organizations
  members: Members
  keys: Keys
  ledger: Ledger
  products: Products
  administration: Administration
  userAdministration: UserAdministration
  organizationAdministration: OrganizationAdministration
  addressBlocks: AddressBlocks
  keyFinder: KeyFinder
}

export interface ControlPlaneOpening {
  config: Config
  clock: Clock
  nodeId: string
  /** False for the command line, which makes changes and serves no requests. */
  serving: boolean
  /** Closes what is opened here, also if opening fails halfway. */
  opened: Closers
  log?: Logger
  /** The kinds of jobs that this thread runs; none for the command line. */
  jobKinds?: readonly JobKind[]
  thread?: ThreadPlace | undefined
  first?: Opening['first']
}

export async function openControlPlane({
  config,
  clock,
  nodeId,
  serving,
  opened,
  log,
  jobKinds,
  thread,
  first,
}: ControlPlaneOpening): Promise<ControlPlane> {
  requireUsableFolder(config)
  const database = opened.use(
    await openDatabase({
      databaseUrl: config.databaseUrl,
      dataDir: config.dataDir,
      databaseTimeout: config.databaseTimeout,
      threads: thread?.count,
      first,
      onThreadEnd: (error) => log?.error({ err: error }, 'The thread of SQLite ended; it is started again.'),
    }),
    'the control database',
  )
  const { url } = database
  const sharedLink = url && thread && !first ? await openSharedLink(url) : null
  const changes = opened.use(
    await openChanges(database, {
      nodeId,
      serving,
      jobKinds,
      settle: revokeAgain(config, clock, log),
      channel: thread?.channel,
      link: url && first ? remoteNodeLink(first, url) : (sharedLink ?? undefined),
    }),
    'the lease of this node',
  )
  const starting = startingGrant(config)
  const organizations = new Organizations({ database, changes, clock, starting, signUp: config.signUp })
  const ledger = new Ledger(database, clock, config.admins)
  const format = { literal: config.keyLiteral, env: config.keyEnv }
  const keys = new Keys({
    database,
    changes,
    clock,
    format,
    max: { perUser: config.keysPerUser, perOrganization: config.keysPerOrganization },
  })
  const administration = new Administration({ db: database.db, organizations, ledger })
  return {
    database,
    changes,
    sharedLink,
    starting,
    organizations,
    members: new Members({ database, changes, clock }),
    keys,
    ledger,
    products: new Products(database, clock),
    administration,
    organizationAdministration: new OrganizationAdministration({ database, changes, clock, administration }),
    userAdministration: new UserAdministration({
      database,
      changes,
      clock,
      administrators: new Set(config.admins),
    }),
    addressBlocks: new AddressBlocks({ database, changes, clock }),
    keyFinder: new KeyFinder({ db: database.db, clock, format, keys }),
  }
}

/** Imported when it is needed, because it loads the client of PostgreSQL. */
async function openSharedLink(url: string): Promise<SharedNodeLink> {
  const { SharedNodeLink } = await import('../base/database/changes/shared-node-link.ts')
  const { SHARED_UPKEEP } = await import('../base/database/changes/serving-node.ts')
  return new SharedNodeLink(url, SHARED_UPKEEP)
}

/** Revokes the keys that the data folder's log lists and that work again, because the database was restored. */
function revokeAgain({ dataDir }: Config, clock: Clock, log: Logger | undefined): Settle {
  return async (database) => {
    try {
      const keys = await applyRevocations(
        database,
        clock(),
        await readRevocations(revocationLogFile(dataDir)),
      )
      if (keys > 0)
        log?.warn({ keys }, `${keys} keys worked again after the database was restored, and were revoked.`)
    } catch (error) {
      log?.warn({ err: error }, 'Revocations could not be applied again. Nothing is served until they are.')
      throw error
    }
  }
}

/** The values from the settings; in demo mode, all add-ons and 1000 credits if they are not set. */
function startingGrant(config: Config): StartingGrant {
  const { demo, newOrganizationAddOns: addOns, newOrganizationCredits: credits } = config
  return {
    addOns: demo && addOns.length === 0 ? ADD_ONS : addOns,
    credits: demo && credits === 0 ? 1000 : credits,
  }
}
