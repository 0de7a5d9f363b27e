import type { Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Visibility } from '@wayleave/contract/visibilities'
import {
  type CompileLimits,
  type CompileProgress,
  type CompileReport,
  type GdalOptions,
  type ReadOptions,
  type Sandbox,
  SourceError,
} from '@wayleave/geodata/compile'
import type { Manifest } from '@wayleave/geodata/snapshot'
import type { Logger } from 'pino'
import { isPublishing } from '../../accounts/access/membership-store.ts'
import type { Clock } from '../../base/clock.ts'
import type { DataWork } from '../../base/data-work.ts'
import type { Changes } from '../../base/database/changes/changes.ts'
import type { ControlDatabase, Tx } from '../../base/database/open.ts'
import { type Origin, recordEvent } from '../../base/events/events.ts'
import { datasetAudience } from '../../base/events/webhook-outbox-store.ts'
import { invalidInput, notFound, Problem } from '../../base/problem.ts'
import type { Blobs } from '../blobs/blobs.ts'
import type { ColumnNotes, Dataset, DatasetDescription } from '../catalog/dataset.ts'
import {
  deleteDataset,
  deleteOldVersions,
  insertVersion,
  isSnapshotNamed,
  readDataset,
  takeVersionNumber,
  updateDescription,
} from '../catalog/store.ts'
import { buildExportsAhead } from '../downloads/exports/build-ahead.ts'
import { readGrantees } from '../grants/store.ts'
import { AttemptLostError } from '../jobs/job-errors.ts'
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
}

/** The report for the publisher: what the file contained and what was published. */
export interface PublishReport extends CompileReport {
  table: string
  /** Null after a dry run, which makes no version. */
  version: number | null
  file: string
  format: string
  geometryType: Manifest['geometryType']
  /** Vector tiles are built after the version is visible; null if it has none. */
  tiles: { state: 'pending' } | null
  seconds: number
}

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
      ...options
    } = request
    const before = await this.#requireSize(path, file)
    const began = performance.now()
    const stage = staging.begin(table)
    try {
      const folder = join(stage.folder, 'snapshot')
      const { manifest, report } = await compile(
        { ...options, sample, path, file, folder, limits, gdal, memoryMegabytes },
        onProgress,
        signal,
      )
      await requireUnchanged(path, file, before)
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
      const finish = async (tx: Tx, version: number) => {
        published = reportOf(version)
        await alongside?.(tx, published)
      }
      await this.#makeVisible(request, stage.name, manifest, origin, finish).catch(async (error: unknown) => {
        // The version is no longer wanted, and nothing of it is kept.
        if (error instanceof AttemptLostError) await this.#delete(stage.name)
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
      const audience = await datasetAudience(tx, table, clock())
      const removed = await deleteDataset(database, tx, table)
      if (!removed) throw notFound(`dataset named "${table.slice(0, 80)}"`)
      await recordEvent(tx, clock(), origin, {
        action: 'dataset.unpublished',
        organizationId: dataset?.owner?.organizationId ?? null,
        subject: `dataset:${table}`,
        audience,
      })
      changed('dataset', table)
      return removed
    })
    await this.#discard(snapshots)
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
    snapshot: string,
    manifest: Manifest,
    origin: Origin,
    finish: (tx: Tx, version: number) => Promise<void>,
  ): Promise<void> {
    const { database, changes, clock, keepVersions, defaultVisibility } = this.#parts
    const { table, ownerId = null } = request
    const removedSnapshots = await changes.commit(async (tx, changed) => {
      const at = clock()
      if (ownerId !== null) await requirePublisher(tx, table, ownerId)
      const number = await takeVersionNumber(tx, table)
      await insertVersion(database, tx, {
        table,
        ownerId,
        version: number,
        snapshot,
        manifest,
        hasSample: request.sample !== false,
        note: request.note ?? '',
        at: at.toISOString(),
        description: request.description,
        standardTitle: titleOf(table),
        standardVisibility: defaultVisibility,
      })
      const removed = keepVersions === null ? [] : await deleteOldVersions(tx, table, keepVersions)
      await recordEvent(tx, at, origin, {
        action: 'dataset.published',
        organizationId: ownerId,
        subject: `dataset:${table}`,
        detail: { version: number, rows: manifest.rows, file: manifest.source.file },
      })
      changed('dataset', table)
      await finish(tx, number)
      return removed
    })
    await this.#discard(removedSnapshots)
  }

  /** Deletes a snapshot that no version has ever named, without keeping it in the trash. */
  async #delete(snapshot: string): Promise<void> {
    const { blobs } = this.#parts
    await this.#discard([snapshot])
    for (const discarded of await blobs.listTrash()) {
      if (discarded.snapshot === snapshot) await blobs.deleteDiscarded(discarded)
    }
  }

  /** The versions are already deleted, so a failure is only logged; the next garbage collection retries. */
  async #discard(snapshots: string[]): Promise<void> {
    const { blobs, clock, log } = this.#parts
    for (const snapshot of snapshots) {
      await blobs.discard(snapshot, clock()).then(
        () => log.info({ snapshot }, `The snapshot ${snapshot} was moved to the trash.`),
        (error: unknown) =>
          log.error({ err: error, snapshot }, `Could not move the snapshot ${snapshot} to the trash.`),
      )
    }
  }
}

/** The dataset may have been replaced by one of another publisher since the caller was checked. */
function requireOwner(dataset: Dataset | undefined, table: string, ownerId: string | null): void {
  if (ownerId !== null && dataset?.owner?.organizationId !== ownerId)
    throw notFound(`dataset named "${table}"`)
}

/** Checked when the version is made visible: the operator may have stopped the organization meanwhile. */
async function requirePublisher(tx: Tx, table: string, ownerId: string): Promise<void> {
  if (!(await isPublishing(tx, ownerId)))
    throw new SourceError('The organization is not allowed to publish any more: nothing was published.')
  const dataset = await readDataset(tx, table)
  if (dataset && dataset.owner?.organizationId !== ownerId)
    throw new SourceError(`The name "${table}" is taken by another publisher: nothing was published.`)
}

/** A file that another program is still writing would be published in part. */
async function requireUnchanged(path: string, file: string, before: Stats): Promise<void> {
  const { size, mtimeMs, ino } = await stat(path)
  if (size !== before.size || mtimeMs !== before.mtimeMs || ino !== before.ino) {
    throw new SourceError(`${file} was changed while it was read: nothing was published. Publish it again.`)
  }
}

/** Notes on columns that the dataset does not have are mistakes in their names. */
function requireColumns(
  { table, manifest }: Pick<Dataset, 'table' | 'manifest'>,
  notes: ColumnNotes = {},
): void {
  const names = new Set(manifest.columns.map(({ name }) => name))
  const unknown = Object.keys(notes).find((name) => !names.has(name))
  if (unknown !== undefined) {
    throw invalidInput('columns', `names "${unknown.slice(0, 80)}", which is not a column of "${table}"`)
  }
}

/** Makes a title of a table name: `land_use_2024` becomes "Land use 2024". */
function titleOf(table: string): string {
  const words = table.replaceAll('_', ' ').trim()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
