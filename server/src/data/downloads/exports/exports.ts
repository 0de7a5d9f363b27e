import { stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { BoundedCache, SingleFlights } from '@wayleave/geodata/base'
import { type BuiltFile, ExportError, exportGeneration, variantPath } from '@wayleave/geodata/exports'
import { DamagedSnapshotError, makeFolderDurably } from '@wayleave/geodata/snapshot'
import type { Clock } from '../../../base/clock.ts'
import type { DataWork } from '../../../base/data-work.ts'
import { Problem } from '../../../base/problem.ts'
import { traced } from '../../../base/tracing/tracing.ts'
import type { Blobs } from '../../blobs/blobs.ts'
import { DamagedDerivedError } from '../../blobs/derived-objects.ts'
import { VERIFICATION_AGE, type Verification } from '../../catalog/background-verification.ts'
import type { Version } from '../../catalog/dataset.ts'
import { stampOf } from '../../catalog/file-stamp.ts'
import type { SnapshotHealth } from '../../catalog/snapshot-health.ts'
import { JobNotRunError, type JobQueue } from '../../jobs/job-queue.ts'
import {
  changesPath,
  exportPath,
  findBuilt,
  findStoredExport,
  GENERATION,
  localFile,
  removeBuilt,
  writeMeta,
} from './built-file.ts'
import { buildChangesFile, countChanges } from './changes-file.ts'
import { type ExportFile, type ExportRequest, type StoredFile, toExportFile } from './export-file.ts'
import { type ExportJobRequest, requireBuilt } from './export-job.ts'
import { lockExports } from './exports-lock.ts'
import { FormatSizes } from './format-sizes.ts'
import { openSnapshotExport } from './snapshot-export.ts'
import { removeUnfinished } from './sweep-exports.ts'

/** Max cached entries; an evicted export is found again on disk. */
const MAX_READY = 10_000
const MAX_BUILT_HERE = 100
interface ExportsDeps {
  tiles: TileFiles
  jobs: JobQueue
  /** How long a request waits for a build, in milliseconds. */
  waitMs: number
  blobs: Blobs
  health: SnapshotHealth
  verification: Verification
  /** For CSV: put an apostrophe before texts that spreadsheets would execute as formulas. */
  escapeFormulas: boolean
  work: DataWork
  clock: Clock
}

/** The archives of vector tiles, which are built by `ogc/tiles` and are also a download format. */
export interface TileFiles {
  findFile(version: Version): Promise<StoredFile | undefined>
  build(version: Version, wait: { maxMs: number; signal: AbortSignal }): Promise<unknown>
  /** Calls the listener with the snapshot whose archive was replaced; null if any may have been. */
  onReplacement(listener: (snapshot: string | null) => void): void
}

/** The attempt at a job that builds an export. */
export interface ExportAttempt {
  signal: AbortSignal
  /** Runs the work that makes the file visible, unless the attempt has lost its job. */
  commit: (makeVisible: () => Promise<void>) => Promise<void>
  /** The same for a file that is made on the way, without ending the job. */
  commitPart: (makeVisible: () => Promise<void>) => Promise<void>
}

/**
 * Each export is built once, on the first request, by a worker, and stored with the snapshot. Concurrent
 * requests wait for the same job (single-flight). If it fails, all of them get the error, and the next request
 * builds again. GeoJSON and GeoParquet are the snapshot's own files and need no build.
 *
 * See docs/decisions/one-export-at-a-time.md.
 */
export class Exports {
  /** The sizes of the files that are built. */
  readonly sizes = new FormatSizes((request) => this.find(request))
  readonly #parts: ExportsDeps
  /** Files that were found, and when: they are looked up, and thereby verified, again after `VERIFICATION_AGE`. */
  readonly #ready = new BoundedCache<string, { file: ExportFile; at: number }>(MAX_READY)
  readonly #lookups = new SingleFlights<string, ExportFile | undefined>()
  readonly #builds = new SingleFlights<string, ExportFile>()
  /** Files that this process built: a request that waits here need not verify them again. */
  readonly #builtHere = new BoundedCache<string, ExportFile>(MAX_BUILT_HERE)
  readonly #stopping = new AbortController()

  constructor(parts: ExportsDeps) {
    this.#parts = parts
    parts.tiles.onReplacement((snapshot) => this.#forgetTiles(snapshot))
  }

  /** The finished file if it is cached in memory, without building or disk access. */
  peek(request: ExportRequest): ExportFile | undefined {
    const entry = this.#ready.get(nameOf(request))
    const isRecent = entry && this.#now() - entry.at < VERIFICATION_AGE
    return isRecent ? entry.file : undefined
  }

  /** The finished file if it is in memory or on disk, without building it. */
  async find(request: ExportRequest): Promise<ExportFile | undefined> {
    const name = nameOf(request)
    return (
      this.peek(request) ??
      this.#lookups.run(name, async () => {
        const at = this.#now()
        const file = await this.#lookUp(request)
        return file && this.#keep(request, file, at)
      })
    )
  }

  async get(request: ExportRequest): Promise<ExportFile> {
    const name = nameOf(request)
    return (
      this.peek(request) ??
      this.#builds.run(name, async () => {
        return (await this.find(request)) ?? this.#keep(request, await this.#requestTraced(request))
      })
    )
  }

  /**
   * The same for a client that is redirected to the bucket: housekeeping, perhaps of another node, may have removed
   * a file that this process knows. A removal is noticed within a minute, and the bytes are kept for longer.
   */
  async getStored(request: ExportRequest): Promise<ExportFile> {
    if (this.#parts.blobs.isLocal) return this.get(request)
    const file = await this.#lookUp(request)
    if (file) return this.#keep(request, file)
    this.forget(request)
    return this.get(request)
  }

  /** Evicts a file that is gone or damaged; the next request looks for it, or builds it, again. */
  forget(request: ExportRequest): void {
    this.#ready.delete(nameOf(request))
  }

  /**
   * The same after an error while reading. An export that is damaged or missing in the bucket is removed there too,
   * unless it was built again meanwhile; only then the result is true.
   */
  async forgetDamaged(request: ExportRequest, error: unknown): Promise<boolean> {
    this.forget(request)
    const { blobs, escapeFormulas } = this.#parts
    if (!(error instanceof DamagedDerivedError)) return false
    const { snapshot } = request.version
    const folder = await blobs.localFolder(snapshot)
    const name = relative(folder, pathsOf(request, folder, escapeFormulas).path)
    await blobs.derived?.removeDamaged(snapshot, name, error)
    return true
  }

  async close(): Promise<void> {
    this.#stopping.abort()
    await this.#builds.settled()
  }

  #forgetTiles(snapshot: string | null): void {
    for (const [name] of this.#ready.entries()) {
      const [replaced, format] = name.split(' ')
      if (format === 'pmtiles' && (snapshot ?? replaced) === replaced) this.#ready.delete(name)
    }
    this.sizes.forget(snapshot)
  }

  #now(): number {
    return this.#parts.clock().getTime()
  }

  #keep(request: ExportRequest, file: ExportFile, at = this.#now()): ExportFile {
    this.#ready.set(nameOf(request), { file, at })
    if (!request.since) this.sizes.record(request, file)
    return file
  }

  async #lookUp(request: ExportRequest): Promise<ExportFile | undefined> {
    const { version, format, encoding } = request
    const { blobs } = this.#parts
    const folder = await blobs.localFolder(version.snapshot)
    if (format.format === 'pmtiles') {
      const archive = await this.#parts.tiles.findFile(version)
      return archive && toExportFile(request, archive)
    }
    if (format.ready && encoding === 'identity') {
      return openSnapshotExport(request, folder, this.#parts).catch(async (error: unknown) => {
        throw await this.#parts.health.problemOf(version, error)
      })
    }
    const { path } = pathsOf(request, folder, this.#parts.escapeFormulas)
    const generation = exportGeneration(version.manifest)
    if (blobs.derived) {
      const name = relative(folder, path)
      const stored = await findStoredExport(blobs.derived, version.snapshot, name, generation)
      return stored && toExportFile(request, stored)
    }
    const built = await findBuilt(path, generation)
    return built && toExportFile(request, localFile(path, built))
  }

  #requestTraced(request: ExportRequest): Promise<ExportFile> {
    return traced('build export', () => this.#request(request), {
      'wayleave.table': request.dataset.table,
      'wayleave.format': request.format.format,
    })
  }

  /** Has a worker build the file, and waits for it. */
  async #request(request: ExportRequest): Promise<ExportFile> {
    const { jobs, waitMs, escapeFormulas } = this.#parts
    const { version, format, encoding } = request
    if (format.format === 'pmtiles') return this.#requestTiles(request)
    const stored: ExportJobRequest = {
      version: version.version,
      format: format.format,
      encoding,
      escapeFormulas,
      ...(request.since ? { since: request.since.version } : {}),
      ...(request.requestId ? { requestId: request.requestId } : {}),
    }
    const job = await jobs.add({
      kind: 'export',
      table: version.table,
      queue: version.snapshot,
      key: `${nameOf(request)}${escapeFormulas ? ' escaped' : ''}`,
      request: stored,
    })
    requireBuilt(
      await jobs.ended(job, { maxMs: waitMs, signal: this.#stopping.signal }).catch((error: unknown) => {
        throw asNotReady(error, version.table, format.format)
      }),
    )
    const file = this.#builtHere.get(nameOf(request)) ?? (await this.#lookUp(request))
    this.#builtHere.delete(nameOf(request))
    if (!file) throw new Problem('build-failed', `The ${format.format} file of "${version.table}" vanished.`)
    return file
  }

  /**
   * Builds the file, in this process's turn as a worker. Among all workers there is one build per snapshot,
   * because two would remove each other's files.
   */
  async build(
    request: ExportRequest,
    { signal, commit, commitPart }: ExportAttempt,
    escapeFormulas = this.#parts.escapeFormulas,
  ): Promise<void> {
    const { dataset, version, format, encoding } = request
    const { manifest } = version
    const { work, blobs, health } = this.#parts
    const folder = await blobs.localFolder(version.snapshot)
    await makeFolderDurably(join(folder, 'exports'))
    const { plain, path } = pathsOf(request, folder, escapeFormulas)
    const upload = (name: string, meta: BuiltFile) =>
      blobs.derived?.upload(version.snapshot, relative(folder, name), { ...meta, ...GENERATION })
    const options = {
      table: dataset.table,
      title: dataset.title,
      description: dataset.description,
      attribution: dataset.attribution,
      license: dataset.license,
      updatedAt: version.createdAt,
      escapeFormulas,
      signal,
    }
    const unlock = await lockExports(folder, signal)
    try {
      const generation = exportGeneration(manifest)
      const existingFile = await findBuilt(path, generation)
      if (existingFile) {
        const finishUpload = await upload(path, existingFile)
        return await commit(async () => finishUpload?.())
      }
      // What earlier builds left is incomplete. The sweep of a start leaves it to a build that holds the lock.
      await removeUnfinished(folder)
      await removeBuilt(path)
      const buildAt = (outPath: string) =>
        'writer' in format
          ? health.reading(version, () =>
              blobs.withFiles(version.snapshot, manifest, () =>
                work.buildExport(folder, format.format, outPath, options, manifest),
              ),
            )
          : buildChangesFile(request, outPath, this.#parts, signal)
      let built: BuiltFile
      if (encoding === 'identity') built = await buildAt(path)
      else {
        if (!(await findBuilt(plain, generation))) {
          await removeBuilt(plain)
          const builtPlain = await buildAt(plain)
          await commitPart(() => writeMeta(plain, builtPlain))
        }
        built = await work.buildVariant(plain, encoding, signal)
        // Plain GeoJSON is sent as head, pack and tail, so a second copy of the pack is not kept.
        if (format.ready) await removeBuilt(plain)
      }
      const finish = await upload(path, built)
      await commit(async () => {
        const stamp = stampOf(await stat(path))
        await finish?.()
        await writeMeta(path, built)
        if (escapeFormulas === this.#parts.escapeFormulas && !blobs.derived)
          this.#builtHere.set(nameOf(request), toExportFile(request, localFile(path, { ...built, stamp })))
      })
    } catch (error) {
      throw asProblem(error, dataset.table, format.format)
    } finally {
      unlock()
    }
  }

  /** Compares two versions in this process's turn as a worker, without making a file. */
  countChanges(versions: { since: Version; version: Version }, signal: AbortSignal) {
    return countChanges(versions, this.#parts, signal)
  }

  async #requestTiles(request: ExportRequest): Promise<ExportFile> {
    const { dataset, version } = request
    const { tiles, waitMs, health } = this.#parts
    if (version.manifest.located === 0)
      throw new Problem('export-impossible', `No feature of "${dataset.table}" has a place.`)
    try {
      await tiles.build(version, { maxMs: waitMs, signal: this.#stopping.signal })
    } catch (error) {
      if (error instanceof DamagedSnapshotError) throw await health.problemOf(version, error)
      throw asProblem(asNotReady(error, dataset.table, 'pmtiles'), dataset.table, 'pmtiles')
    }
    const archive = await this.#parts.tiles.findFile(version)
    if (!archive) throw new Problem('build-failed', `The tiles of "${dataset.table}" vanished.`)
    return toExportFile(request, archive)
  }
}

function nameOf({ version, format, encoding, since }: ExportRequest): string {
  return `${version.snapshot} ${format.format} ${encoding}${since ? ` ${since.snapshot}` : ''}`
}

function pathsOf(request: ExportRequest, folder: string, escapeFormulas: boolean) {
  const { dataset, format, encoding, since } = request
  const plain = since
    ? changesPath(folder, dataset.table, format, since.snapshot)
    : exportPath(folder, dataset.table, format, escapeFormulas)
  return { plain, path: encoding === 'identity' ? plain : variantPath(plain, encoding) }
}

/** Nothing is charged: the request that gets this was refunded, and the job stays in the queue. */
function asNotReady(error: unknown, table: string, format: string): unknown {
  if (!(error instanceof JobNotRunError)) return error
  const detail = `The ${format} file of "${table}" is not built yet. It will be built; ask again later.`
  return new Problem('export-not-ready', detail, { headers: { 'retry-after': '15' }, cause: error })
}

function asProblem(error: unknown, table: string, format: string): unknown {
  if (!(error instanceof ExportError)) return error
  if (error.code === 'disk-full')
    return new Problem('disk-full', undefined, { headers: { 'retry-after': '60' }, cause: error })
  if (error.code === 'shapefile-too-large')
    return new Problem('export-impossible', error.message, { cause: error })
  return new Problem('build-failed', `The ${format} file of "${table}" could not be made.`, { cause: error })
}
