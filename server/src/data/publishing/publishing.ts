import { basename, join } from 'node:path'
import type { PublishingSchema } from '@wayleave/contract/records'
import { type Inspection, SourceError } from '@wayleave/geodata/compile'
import type { Tx } from '../../base/database/open.ts'
import { type Origin, recordEvent } from '../../base/events/events.ts'
import { datasetAudience } from '../../base/events/webhook-outbox-store.ts'
import { notFound, Problem } from '../../base/problem.ts'
import { version as programVersion } from '../../base/version.ts'
import type { DatasetDescription } from '../catalog/dataset.ts'
import { isSnapshotNamed, readDataset, readDatasetState, updateDescription } from '../catalog/store.ts'
import { deleteDataset } from '../catalog/version-store.ts'
import { buildExportsAhead } from '../downloads/exports/build-ahead.ts'
import { readGrantees } from '../grants/store.ts'
import { AttemptLostError } from '../jobs/job-errors.ts'
import { deleteSnapshot, discardSnapshots } from './discard-snapshots.ts'
import { makeVisible } from './make-visible.ts'
import type {
  InspectRequest,
  PublishingDeps,
  PublishOptions,
  PublishReport,
  PublishRequest,
} from './publish-request.ts'
import {
  requireColumns,
  requireOwner,
  requireUnchanged,
  type SourceState,
  sourceState,
  titleOf,
} from './publishing-checks.ts'
import { withRevision } from './revise-version.ts'
import { requireRows, rowMisfit, withSchema } from './schema/apply-schema.ts'
import { readSchema } from './schema/schema-store.ts'

/** A signal that also aborts when the file cannot be written to its end, with the reason. */
function withFailureOf(whole: Promise<unknown>, signal?: AbortSignal): AbortSignal {
  const failure = new AbortController()
  whole.catch((error: unknown) => failure.abort(error))
  return AbortSignal.any([failure.signal, ...(signal ? [signal] : [])])
}

/** An inspection sorts nothing, so it needs less than publishing. */
const MAX_INSPECT_MEGABYTES = 1024

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
    {
      onProgress,
      signal: stopped,
      alongside,
      resumeFolder,
      whole,
      compile = this.#parts.work.compile,
    }: PublishOptions = {},
  ): Promise<PublishReport> {
    const { blobs, staging, limits, gdal, memoryMegabytes, work, maxBytes } = this.#parts
    const signal = whole ? withFailureOf(whole, stopped) : stopped
    const {
      table,
      ownerId: _owner,
      path,
      parts,
      description,
      note: _note,
      sample = true,
      buildExports,
      dryRun = false,
      file = basename(path),
      schema: _schema,
      ignoreSchema = false,
      draft: _draft,
      mode,
      deleteMissing: _missing,
      ...options
    } = request
    const before = await this.#requireSize(path, file, parts)
    const began = performance.now()
    const schema = await this.#schemaFor(request)
    const stage = staging.begin(table)
    try {
      const folder = join(stage.folder, 'snapshot')
      const { revised, manifest, report } = await withRevision(this.#parts, request, async (revision) =>
        compile(
          {
            ...withSchema(options, schema, ignoreSchema, mode),
            ...{ sample, path, parts, file, folder, limits, gdal, memoryMegabytes },
            ...(whole && { growsTo: maxBytes }),
            // A revision is compiled twice, and depends on a version that may be another one at the next attempt.
            ...(revision
              ? { revision }
              : resumeFolder && { resume: { folder: resumeFolder, version: programVersion } }),
          },
          onProgress,
          signal,
        ),
      )
      await whole
      if (!whole) requireUnchanged(file, before, await sourceState(path, parts))
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
      await makeVisible(this.#parts, request, version, origin, finish).catch(async (error: unknown) => {
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
    const { table, path, parts, file = basename(path), schema: _schema, mode, ...options } = request
    await this.#requireSize(path, file, parts)
    const schema = await this.#schemaFor(request)
    const stage = staging.begin(table || 'inspection')
    try {
      const place = { path, parts, file, folder: join(stage.folder, 'snapshot') }
      const memory = Math.min(memoryMegabytes, MAX_INSPECT_MEGABYTES)
      const reading = withSchema(options, schema, true, mode)
      // Columns that an update lacks keep their values.
      if (mode === 'update')
        reading.columns = reading.columns?.map((column) => ({ ...column, isOptional: true }))
      const inspection = await work.inspect(
        { ...reading, ...place, limits, gdal, memoryMegabytes: memory },
        onProgress,
        signal,
      )
      // A file of changes need not have the rows of the version that it changes.
      if (schema === null || table === '' || mode !== undefined) return inspection
      const misfit = rowMisfit(schema, inspection.rows, await readDataset(this.#parts.database.db, table))
      return misfit === null ? inspection : { ...inspection, misfits: [...inspection.misfits, misfit] }
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
   * because their files are open. Its publishing jobs end: one of them would make a dataset of it again, with the
   * standard visibility.
   */
  async unpublish(table: string, origin: Origin, ownerId: string | null = null): Promise<void> {
    const { database, changes, clock } = this.#parts
    const snapshots = await changes.commit(async (tx, changed) => {
      const dataset = await readDatasetState(tx, table)
      requireOwner(dataset, table, ownerId)
      // Another dataset may get the name: the grants on this one must not open it.
      for (const organizationId of await readGrantees(tx, table)) changed('organization', organizationId)
      const audience = await datasetAudience(tx, table, clock())
      const removed = await deleteDataset(database, tx, table, clock().toISOString())
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
    await discardSnapshots(this.#parts, snapshots)
  }

  /** What is fixed about the dataset: by the request, otherwise by its schema. */
  async #schemaFor({
    table,
    schema,
  }: Pick<PublishRequest, 'table' | 'schema'>): Promise<PublishingSchema | null> {
    return schema ?? (table === '' ? null : readSchema(this.#parts.database.db, table))
  }

  async #requireSize(path: string, file: string, parts: PublishRequest['parts']): Promise<SourceState> {
    const { maxBytes } = this.#parts
    const state = await sourceState(path, parts)
    if (state.bytes > maxBytes) {
      throw new SourceError(
        `${file} has ${state.bytes} bytes, and WAYLEAVE_MAX_UPLOAD_BYTES allows ${maxBytes}.`,
      )
    }
    return state
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
}
