import type { Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { PublishingSchema } from '@wayleave/contract/records'
import type { Visibility } from '@wayleave/contract/visibilities'
import {
  type CompileLimits,
  type CompileProgress,
  type CompileReport,
  type GdalOptions,
  type Inspection,
  type ReadOptions,
  type Revision,
  type Sandbox,
  SourceError,
} from '@wayleave/geodata/compile'
import type { Manifest } from '@wayleave/geodata/snapshot'
import type { Logger } from 'pino'
import type { Clock } from '../../base/clock.ts'
import type { DataWork } from '../../base/data-work.ts'
import type { Changes } from '../../base/database/changes/changes.ts'
import type { ControlDatabase, Tx } from '../../base/database/open.ts'
import { type Origin, recordEvent } from '../../base/events/events.ts'
import { notFound, Problem } from '../../base/problem.ts'
import type { Blobs } from '../blobs/blobs.ts'
import type { Dataset, DatasetDescription } from '../catalog/dataset.ts'
import {
  deleteDataset,
  deleteOldVersions,
  insertVersion,
  isSnapshotNamed,
  readDataset,
  takeVersionNumber,
  updateDescription,
} from '../catalog/store.ts'
import { insertDraft } from '../catalog/version-store.ts'
import { buildExportsAhead } from '../downloads/exports/build-ahead.ts'
import { readGrantees } from '../grants/store.ts'
import { AttemptLostError } from '../jobs/job-errors.ts'
import { deleteSnapshot, discardSnapshots } from './discard-snapshots.ts'
import {
  requireColumns,
  requireOwner,
  requirePublisher,
  requireUnchanged,
  titleOf,
} from './publishing-checks.ts'
import { requireCurrent, withRevision } from './revise-version.ts'
import { columnNotesOf, requireRows, withSchema } from './schema/apply-schema.ts'
import { readSchema } from './schema/schema-store.ts'
import type { Staging } from './staging.ts'

export interface PublishRequest extends ReadOptions {
  table: string
  /** The organization that publishes and owns the dataset; without it, the operator. */
  ownerId?: string
  path: string
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
export type InspectRequest = Omit<
  PublishRequest,
  | 'ownerId'
  | 'description'
  | 'note'
  | 'sample'
  | 'tiles'
  | 'buildExports'
  | 'dryRun'
  | 'draft'
  | 'ignoreSchema'
>

/** An inspection sorts nothing, so it needs less than publishing. */
const MAX_INSPECT_MEGABYTES = 1024

export interface PublishOptions {
  onProgress?: (progress: CompileProgress) => void
  signal?: AbortSignal
  /** Runs in the transaction that makes the version visible: both are committed, or neither is. */
  alongside?: (tx: Tx, report: PublishReport) => Promise<void>
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

/**
 * Turns a file into a served version: it is compiled in a staging folder, then made visible by one
 * transaction.
 */
export class Publishing {
  readonly #parts: PublishingDeps

  constructor(parts: PublishingDeps) {
    this.#parts = parts
  }

  async publish(
    request: PublishRequest,
    origin: Origin,
    { onProgress, signal, alongside, compile = this.#parts.work.compile }: PublishOptions = {},
  ): Promise<PublishReport> {
    const { blobs, staging, limits, gdal, memoryMegabytes, work } = this.#parts
    const {
      table,
      ownerId: _owner,
      path,
      description,
      note: _note,
      sample = true,
      buildExports,
      dryRun = false,
      file = basename(path),
      schema: _schema,
      ignoreSchema = false,
      draft: _draft,
      mode: _mode,
      deleteMissing: _missing,
      ...options
    } = request
    const before = await this.#requireSize(path, file)
    const began = performance.now()
    const schema = await this.#schemaFor(request)
    const stage = staging.begin(table)
    try {
      const folder = join(stage.folder, 'snapshot')
      const { revised, manifest, report } = await withRevision(this.#parts, request, async (revision) =>
        compile(
          {
            ...withSchema(options, schema, ignoreSchema),
            ...{ sample, path, file, folder, limits, gdal, memoryMegabytes },
            ...(revision && { revision }),
          },
          onProgress,
          signal,
        ),
      )
      await requireUnchanged(path, file, before)
      if (schema && !ignoreSchema)
        requireRows(schema, manifest, await readDataset(this.#parts.database.db, table))
      requireColumns({ table, manifest }, description.columnNotes)
      if (buildExports) {
        const about = await this.#aboutExports(table, description)
        report.notes.push(
          ...(await buildExportsAhead(folder, manifest, work, {
            table,
            ...about,
            updatedAt: this.#now(),
            escapeFormulas: this.#parts.escapeFormulas,
            signal,
          })),
        )
      }
      const reportOf = (version: number | null): PublishReport => ({
        table,
        version,
        file,
        format: manifest.source.format,
        geometryType: manifest.geometryType,
        seconds: Math.round(performance.now() - began) / 1000,
        ...report,
        tiles: manifest.tiles && manifest.located > 0 ? { state: 'pending' } : null,
      })
      if (dryRun) return reportOf(null)
      signal?.throwIfAborted()
      await blobs.writeWhole(stage.name, folder)
      let published: PublishReport | undefined
      const finish = async (tx: Tx, version: number, isDraft: boolean) => {
        published = { ...reportOf(version), ...(isDraft && { isDraft }) }
        await alongside?.(tx, published)
      }
      const version = { snapshot: stage.name, manifest, revised }
      await this.#makeVisible(request, version, origin, finish).catch(async (error: unknown) => {
        // The version is no longer wanted, and nothing of it is kept.
        if (error instanceof AttemptLostError) await deleteSnapshot(this.#parts, stage.name)
        // The version may be published with only the response lost. The snapshot is therefore not removed: if
        // no version references it, the next garbage collection moves it to the trash.
        if (!(await isSnapshotNamed(this.#parts.database.db, stage.name).catch(() => false))) throw error
        this.#parts.log.warn(
          { err: error },
          `The version of ${table} is published; waiting for the other nodes failed.`,
        )
      })
      return published!
    } finally {
      await stage.end()
    }
  }

  /** Reads a file as `publish` would, and says what it contains. Nothing is published. */
  async inspect(
    request: InspectRequest,
    { onProgress, signal }: Pick<PublishOptions, 'onProgress' | 'signal'> = {},
  ): Promise<Inspection> {
    const { staging, limits, gdal, memoryMegabytes = MAX_INSPECT_MEGABYTES, work } = this.#parts
    const { table, path, file = basename(path), schema: _schema, ...options } = request
    await this.#requireSize(path, file)
    const schema = await this.#schemaFor(request)
    const stage = staging.begin(table || 'inspection')
    try {
      const place = { path, file, folder: join(stage.folder, 'snapshot') }
      const memory = Math.min(memoryMegabytes, MAX_INSPECT_MEGABYTES)
      return await work.inspect(
        { ...withSchema(options, schema, true), ...place, limits, gdal, memoryMegabytes: memory },
        onProgress,
        signal,
      )
    } finally {
      await stage.end()
    }
  }

  /** Throws a Problem if the settings require a sandbox, and there is none on this machine. */
  async requireSandbox(): Promise<void> {
    await this.#parts.sandbox.requireWanted().catch((error: Error) => {
      throw new Problem('sandbox-unavailable', error.message)
    })
  }

  /** `ownerId` is the organization that must own the dataset; null for the operator. */
  async describe(
    table: string,
    description: DatasetDescription,
    origin: Origin,
    ownerId: string | null = null,
  ): Promise<void> {
    const { changes, clock } = this.#parts
    await changes.commit(async (tx, changed) => {
      const dataset = await readDataset(tx, table)
      requireOwner(dataset, table, ownerId)
      if (dataset) requireColumns(dataset, description.columnNotes)
      if (!dataset || !(await updateDescription(tx, table, description, clock().toISOString())))
        throw notFound(`dataset named "${table}"`)
      await recordEvent(tx, clock(), origin, {
        action: 'dataset.described',
        organizationId: dataset.owner?.organizationId ?? null,
        subject: `dataset:${table}`,
        detail: { ...description },
      })
      changed('dataset', table)
    })
  }

  /**
   * Removes the dataset and all its versions; the snapshots go to the trash. Downloads in progress finish,
   * because their files are open.
   */
  async unpublish(table: string, origin: Origin, ownerId: string | null = null): Promise<void> {
    const { database, changes, clock } = this.#parts
    const snapshots = await changes.commit(async (tx, changed) => {
      const dataset = await readDataset(tx, table)
      requireOwner(dataset, table, ownerId)
      // Another dataset may get the name: the grants on this one must not open it.
      for (const organizationId of await readGrantees(tx, table)) changed('organization', organizationId)
      const removed = await deleteDataset(database, tx, table)
      if (!removed) throw notFound(`dataset named "${table.slice(0, 80)}"`)
      await recordEvent(tx, clock(), origin, {
        action: 'dataset.unpublished',
        organizationId: dataset?.owner?.organizationId ?? null,
        subject: `dataset:${table}`,
      })
      changed('dataset', table)
      return removed
    })
    await discardSnapshots(this.#parts, snapshots)
  }

  /** What is fixed about the dataset: by the request, otherwise by its schema. */
  async #schemaFor({
    table,
    schema,
  }: Pick<PublishRequest, 'table' | 'schema'>): Promise<PublishingSchema | null> {
    return schema ?? (table === '' ? null : readSchema(this.#parts.database.db, table))
  }

  async #requireSize(path: string, file: string): Promise<Stats> {
    const { maxBytes } = this.#parts
    const stats = await stat(path)
    if (stats.size > maxBytes) {
      throw new SourceError(
        `${file} has ${stats.size} bytes, and WAYLEAVE_MAX_UPLOAD_BYTES allows ${maxBytes}.`,
      )
    }
    return stats
  }

  /** The description for the exports: the given values, falling back to those of the existing dataset. */
  async #aboutExports(table: string, description: DatasetDescription) {
    const dataset = await readDataset(this.#parts.database.db, table)
    return {
      title: description.title ?? dataset?.title ?? titleOf(table),
      description: description.description ?? dataset?.description,
      attribution: description.attribution ?? dataset?.attribution,
      license: description.license ?? dataset?.license,
    }
  }

  #now(): string {
    return this.#parts.clock().toISOString()
  }

  async #makeVisible(
    request: PublishRequest,
    { snapshot, manifest, revised }: { snapshot: string; manifest: Manifest; revised: Dataset | null },
    origin: Origin,
    finish: (tx: Tx, version: number, isDraft: boolean) => Promise<void>,
  ): Promise<void> {
    const { database, changes, clock, keepVersions, defaultVisibility } = this.#parts
    const { table, ownerId = null, schema, draft = false } = request
    const removedSnapshots = await changes.commit(async (tx, changed) => {
      const at = clock()
      if (ownerId !== null) await requirePublisher(tx, table, ownerId)
      const number = await takeVersionNumber(tx, table)
      if (revised) await requireCurrent(tx, revised)
      const dataset = draft ? await readDataset(tx, table) : undefined
      // A dataset that only its publishers see needs no version that is kept back.
      const isKeptBack = dataset !== undefined && dataset.visibility !== 'draft'
      const version = {
        table,
        ownerId,
        version: number,
        snapshot,
        manifest,
        hasSample: request.sample !== false,
        note: request.note ?? '',
        at: at.toISOString(),
        description: descriptionOf(request, dataset === undefined),
        standardTitle: titleOf(table),
        standardVisibility: defaultVisibility,
        schema: schema && JSON.stringify(schema),
      }
      let removed: string[] = []
      if (isKeptBack) removed = await insertDraft(tx, version)
      else {
        await insertVersion(database, tx, version)
        if (keepVersions !== null) removed = await deleteOldVersions(tx, table, keepVersions)
      }
      await recordEvent(tx, at, origin, {
        action: isKeptBack ? 'dataset.drafted' : 'dataset.published',
        organizationId: ownerId,
        subject: `dataset:${table}`,
        detail: { version: number, rows: manifest.rows, file: manifest.source.file },
      })
      changed('dataset', table)
      await finish(tx, number, isKeptBack || draft)
      return removed
    })
    await discardSnapshots(this.#parts, removedSnapshots)
  }
}

/** The description with the notes of a new schema. A new dataset that is published as a draft is hidden. */
function descriptionOf({ description, schema, draft }: PublishRequest, isNew: boolean): DatasetDescription {
  return {
    ...description,
    columnNotes: description.columnNotes ?? (schema && columnNotesOf(schema)),
    ...(draft && isNew && { visibility: 'draft' as const }),
  }
}
