import { join } from 'node:path'
import { memoryPerCompilation, Sandbox } from '@wayleave/geodata/compile'
import { Cashier } from '../accounts/credits/cashier.ts'
import { SECOND } from '../base/clock.ts'
import { childProcessWork } from '../base/data-work.ts'
import type { Mailer } from '../base/mail/mail.ts'
import type { Config } from '../base/settings/config.ts'
import type { Blobs } from '../data/blobs/blobs.ts'
import { openStorage, type Storage } from '../data/blobs/open-storage.ts'
import { Verification } from '../data/catalog/background-verification.ts'
import { Catalog } from '../data/catalog/catalog.ts'
import { OpenSnapshots } from '../data/catalog/open-snapshots.ts'
import { SnapshotHealth } from '../data/catalog/snapshot-health.ts'
import { isSnapshotNamed } from '../data/catalog/store.ts'
import { ChangeCounts } from '../data/downloads/changes/change-counts.ts'
import { Downloads } from '../data/downloads/downloads.ts'
import { ExportJobs } from '../data/downloads/exports/export-jobs.ts'
import { Exports, type TileFiles } from '../data/downloads/exports/exports.ts'
import { Grants } from '../data/grants/grants.ts'
import { requireOneInstallation } from '../data/installation/installation.ts'
import type { JobKind } from '../data/jobs/job-kinds.ts'
import { JobMessages } from '../data/jobs/job-messages.ts'
import { JobQueue } from '../data/jobs/job-queue.ts'
import { JobRunner } from '../data/jobs/job-runner.ts'
import { GarbageCollection } from '../data/publishing/garbage-collection.ts'
import { Publishing } from '../data/publishing/publishing.ts'
import { SharedStaging } from '../data/publishing/shared-staging/shared-staging.ts'
import { Staging } from '../data/publishing/staging.ts'
import { Jobs } from '../data/publishing/upload-jobs/jobs.ts'
import { UploadFiles } from '../data/publishing/upload-jobs/upload-files.ts'
import { Versions } from '../data/publishing/versions.ts'
import { PublishJobs } from '../data/sources/publish-jobs.ts'
import { SourcePartJobs } from '../data/sources/source-part-jobs.ts'
import { SourceRuns } from '../data/sources/source-runs.ts'
import { Sources } from '../data/sources/sources.ts'
import type { BaseUrl } from '../http/base-url.ts'
import type { Closers } from './closers.ts'
import { compileSettings } from './compile-settings.ts'
import type { ControlPlane } from './control-plane.ts'
import type { AccountParts } from './open-accounts.ts'
import type { Opening } from './opening.ts'

export interface StorageParts {
  storage: Storage
  blobs: Blobs
}

/** Opens the folder or bucket of snapshots, and makes sure that it belongs to the control database. */
export async function openInstallation(
  { config, log, database, thread }: Opening & ControlPlane,
  opened: Closers,
): Promise<StorageParts> {
  const storage = opened.use(await openStorage(config, log, thread?.count))
  const { blobs, bucket } = storage
  await requireOneInstallation({ database, blobs, bucket, dataDir: config.dataDir }, log)
  return { storage, blobs }
}

/** Datasets and their open versions. */
export interface CatalogParts extends StorageParts {
  catalog: Catalog
  grants: Grants
  health: SnapshotHealth
  verification: Verification
  snapshots: OpenSnapshots
}

export function openCatalog(opening: Opening & ControlPlane & StorageParts, opened: Closers): CatalogParts {
  const { config, log, clock, database, changes, storage, blobs, loads = null, first } = opening
  const isPublished = (snapshot: string) => isSnapshotNamed(database.db, snapshot)
  const health = opened.use(new SnapshotHealth({ blobs, changes, log, isPublished }))
  const catalog = new Catalog(database.db, changes, health, clock, log)
  const grants = new Grants({ database, changes, clock })
  const bytesPerSecond = config.verifyRate * 1_000_000
  const verification = opened.use(new Verification({ blobs, health, clock, log, bytesPerSecond, first }))
  const snapshots = opened.use(new OpenSnapshots({ blobs, health, verification, loads }))
  return { storage, blobs, catalog, grants, health, verification, snapshots }
}

/** The jobs that publish datasets. */
export interface JobParts {
  runner: JobRunner
  jobQueue: JobQueue
  staging: Staging
  sandbox: Sandbox
  garbage: GarbageCollection
  publishing: Publishing
  versions: Versions
  jobs: Jobs
  sources: Sources
  sourceRuns: SourceRuns
  sourceParts: SourcePartJobs
  /** Whether CSV texts that spreadsheets execute get an apostrophe. */
  escapeFormulas: boolean
}

export interface DataOpening extends Opening, ControlPlane, CatalogParts {
  nodeId: string
  /** How many jobs of each kind this thread runs at the same time. */
  limits: Record<JobKind, number>
  /** The kinds of jobs that some thread of this process runs. */
  processKinds: readonly JobKind[]
}

/** What jobs need besides: a source that fails is reported by mail. */
export interface JobsOpening extends DataOpening {
  mailer: Mailer
  baseUrl: BaseUrl
}

export function openJobs(opening: JobsOpening, opened: Closers): JobParts {
  const { config, log, clock, database, changes, storage, blobs, nodeId, limits, processKinds } = opening
  const { bucket } = storage
  const { dataDir, trashDays } = config
  const messages = new JobMessages(changes)
  const { sourceJobs: maxBeside, sourceJobsPerPublisher: sourcesPerOwner } = config
  const runner = opened.use(
    new JobRunner({ database, messages, clock, log, nodeId, limits, maxBeside, sourcesPerOwner }),
    'running jobs',
  )
  const staging = new Staging(join(blobs.root, '.staging'), [join(dataDir, 'staging')])
  const sandbox = new Sandbox(config.sandbox, [dataDir, blobs.root])
  const publishing = openPublishing(opening, staging, sandbox)
  const uploads = new UploadFiles(dataDir, bucket)
  const { maxUploadBytes } = config
  const jobQueue = new JobQueue({ database, messages, clock, nodeId, ownKinds: processKinds })
  const shared = openSharedStaging(opening, staging, sandbox, jobQueue)
  const jobs = new Jobs({
    ...{ database, changes, publishing, messages, runner, clock, log, nodeId, uploads, shared },
    maxUploadBytes,
  })
  const sources = new Sources({ database, messages, clock, nodeId, secretKey: config.secretKey })
  const sourceRuns = new SourceRuns({
    ...{ publishing, staging, config, database, sources, clock, log },
    mailer: opening.mailer,
    baseUrl: () => opening.baseUrl.settled(),
    operators: config.admins,
  })
  runner.handle('publish', new PublishJobs(jobs, sourceRuns, shared))
  runner.handle('inspect', jobs)
  const { keepVersions, defaultVisibility } = config
  return {
    runner,
    jobQueue,
    staging,
    sandbox,
    garbage: new GarbageCollection({ database, blobs, staging, clock, log, bucket, dataDir, trashDays }),
    publishing,
    versions: new Versions({ database, changes, clock, log, blobs, keepVersions, defaultVisibility }),
    jobs,
    sources,
    sourceRuns,
    sourceParts: new SourcePartJobs({ database, shared, uploads, runs: sourceRuns, log }),
    escapeFormulas: escapesFormulas(config),
  }
}

function openPublishing(
  { config, log, clock, work, database, changes, blobs, limits }: DataOpening,
  staging: Staging,
  sandbox: Sandbox,
): Publishing {
  return new Publishing({
    escapeFormulas: escapesFormulas(config),
    work: work ?? childProcessWork(sandbox),
    sandbox,
    database,
    changes,
    clock,
    log,
    blobs,
    staging,
    ...compileSettings(config),
    memoryMegabytes: compileMemory(config, limits),
    maxBytes: config.maxUploadBytes,
    keepVersions: config.keepVersions,
    defaultVisibility: config.defaultVisibility,
  })
}

/** A part of a source takes the place of a build of tiles, and may use what publishing another file may. */
function openSharedStaging(
  { config, log, work, database, blobs, limits }: DataOpening,
  staging: Staging,
  sandbox: Sandbox,
  jobs: JobQueue,
): SharedStaging {
  return new SharedStaging({
    ...{ database, jobs, objects: blobs.objects, staging, log },
    work: work ?? childProcessWork(sandbox),
    partBytes: config.tilePartBytes,
    runsParts: limits.part > 0,
    settings: { ...compileSettings(config), memoryMegabytes: compileMemory(config, limits) },
  })
}

/** What each of the compilations of this process may use, in megabytes. A command publishes one file at a time. */
function compileMemory(config: Config, limits: DataOpening['limits']): number {
  return config.publishMemory ?? memoryPerCompilation(Math.max(limits.publish, 1))
}

function escapesFormulas({ csvFormulas }: Config): boolean {
  return csvFormulas === 'escape'
}

export interface DownloadParts {
  cashier: Cashier
  exports: Exports
  downloads: Downloads
  changeCounts: ChangeCounts
}

/** After the tiles, because the tile archive is one of the downloads. */
export function openDownloads(
  opening: DataOpening & JobParts & { tileFiles: TileFiles } & Pick<AccountParts, 'meter'>,
  opened: Closers,
): DownloadParts {
  const { config, log, database, blobs, catalog, health, verification } = opening
  // Closed after the exports and before the runner of jobs: when a stop aborts a build, its deliveries fail and
  // write refunds.
  const cashier = opened.use(new Cashier(database, opening.meter, opening.clock))
  const exports = opened.use(
    new Exports({
      blobs,
      health,
      verification,
      tiles: opening.tileFiles,
      jobs: opening.jobQueue,
      waitMs: config.exportWait * SECOND,
      escapeFormulas: opening.escapeFormulas,
      work: opening.work ?? childProcessWork(opening.sandbox),
      clock: opening.clock,
    }),
  )
  opening.runner.handle(
    'export',
    new ExportJobs({ database, changes: opening.changes, catalog, exports, log }),
  )
  const downloads = new Downloads({
    catalog,
    cashier,
    exports,
    health,
    log,
    clock: opening.clock,
    config,
    blobs,
  })
  const changeCounts = new ChangeCounts({ db: database.db, catalog, jobs: opening.jobQueue })
  return { cashier, exports, downloads, changeCounts }
}
