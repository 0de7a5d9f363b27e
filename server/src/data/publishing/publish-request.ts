import type { PublishingSchema } from '@wayleave/contract/records'
import type { Visibility } from '@wayleave/contract/visibilities'
import type {
  CompileLimits,
  CompileOptions,
  CompileProgress,
  CompileReport,
  GdalOptions,
  ReadOptions,
  Revision,
  Sandbox,
} from '@wayleave/geodata/compile'
import type { Manifest } from '@wayleave/geodata/snapshot'
import type { Logger } from 'pino'
import type { Clock } from '../../base/clock.ts'
import type { DataWork } from '../../base/data-work.ts'
import type { Changes } from '../../base/database/changes/changes.ts'
import type { ControlDatabase, Tx } from '../../base/database/open.ts'
import type { Blobs } from '../blobs/blobs.ts'
import type { DatasetDescription } from '../catalog/dataset.ts'
import type { Staging } from './staging.ts'

export interface PublishRequest extends ReadOptions {
  table: string
  /** The organization that publishes and owns the dataset; without it, the operator. */
  ownerId?: string
  /** A file, or a folder of files whose rows are published together. */
  path: string
  /** Several files whose rows are published together; `path` is the first of them. */
  parts?: CompileOptions['parts']
  /** The file's name if `path` is a temporary file. */
  file?: string
  description: DatasetDescription
  /** What the publisher says about this version. */
  note?: string
  format?: string
  layer?: string
  crs?: string
  /** Publish even if the CRS cannot be transformed to WGS84 within 20 m. */
  allowInaccurateCrs?: boolean
  idColumn?: string
  timeColumn?: string
  skipInvalid?: boolean
  /** False: publish no sample. */
  sample?: boolean
  /** False: build no vector tiles. */
  tiles?: boolean
  /** Build every download format before the version becomes visible. */
  buildExports?: boolean
  /** How many rows that cannot be published are listed; 10 by default. */
  maxProblems?: number
  /** Do everything except making the version visible. */
  dryRun?: boolean
  /** What the publisher fixes about this and later versions; that of the dataset if absent. */
  schema?: PublishingSchema
  /** Publish although the file differs from the schema. */
  ignoreSchema?: boolean
  /** Keep the version back until it is released. */
  draft?: boolean
  /** The file has changes to the current version: features to add, or also new states of others. */
  mode?: Revision['mode']
  /** For an update: remove features that the file does not have. */
  deleteMissing?: boolean
}

/** The report for the publisher: what the file contained and what was published. */
export interface PublishReport extends CompileReport {
  table: string
  /** Null after a dry run, which makes no version. */
  version: number | null
  file: string
  format: string
  geometryType: Manifest['geometryType']
  /** The version waits for its release. */
  isDraft?: boolean
  /** Vector tiles are built after the version is visible; null if it has none. */
  tiles: { state: 'pending' } | null
  seconds: number
}

/** A file that is inspected, with the options of publishing; `table` is empty if it is for no dataset yet. */
export type InspectRequest = Omit<CompileOptions, 'folder' | 'columns' | 'revision'> &
  Pick<PublishRequest, 'table' | 'schema' | 'mode'>

export interface PublishOptions {
  onProgress?: (progress: CompileProgress) => void
  signal?: AbortSignal
  /** Runs in the transaction that makes the version visible: both are committed, or neither is. */
  alongside?: (tx: Tx, report: PublishReport) => Promise<void>
  /** Where an attempt that is killed leaves what the next one need not do again. */
  resumeFolder?: string | undefined
  /** The file is still being written until this resolves. If it rejects, nothing is published. */
  whole?: Promise<unknown> | undefined
  /** Replaces the way in which the service compiles. */
  compile?: DataWork['compile']
}

export interface PublishingDeps {
  database: ControlDatabase
  changes: Changes
  clock: Clock
  log: Logger
  blobs: Blobs
  staging: Staging
  limits: CompileLimits
  gdal: GdalOptions
  /** How much memory one compilation may use, in megabytes; by default half of the machine's. */
  memoryMegabytes?: number | undefined
  /** The max size of a file, in bytes. */
  maxBytes: number
  keepVersions: number | null
  /** The visibility of new datasets. */
  defaultVisibility: Visibility
  /** For CSV: put an apostrophe before texts that spreadsheets would execute as formulas. */
  escapeFormulas: boolean
  work: DataWork
  sandbox: Sandbox
}
