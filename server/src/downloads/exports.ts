import { hash } from 'node:crypto'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type BuiltFile,
  ExportError,
  type ExportFormatEntry,
  exportGeneration,
  geojsonParts,
  removeStalePartials,
  type Variant,
  variantPath,
} from '@wayleave/geodata/exports'
import {
  DamagedSnapshotError,
  makeFolderDurably,
  readBlockChecksums,
  SNAPSHOT_FILES,
} from '@wayleave/geodata/snapshot'
import type { Blobs } from '../blobs/blobs.ts'
import { BoundedCache } from '../caching/bounded-cache.ts'
import type { Verification } from '../catalog/background-verification.ts'
import type { Dataset, Version } from '../catalog/dataset.ts'
import { stampOf } from '../catalog/file-stamp.ts'
import type { SnapshotHealth } from '../catalog/snapshot-health.ts'
import { SingleFlights } from '../concurrency/single-flight.ts'
import type { DataWork } from '../data-work.ts'
import { Durations } from '../http/observability/durations.ts'
import { Problem } from '../problem.ts'
import { traced } from '../tracing/tracing.ts'
import {
  exportPath,
  findBuilt,
  removeBuilt,
  unfinishedExports,
  type VerifiedExport,
  writeMeta,
} from './built-file.ts'
import type { ExportDescription, ExportFile } from './export-file.ts'
import { lockExports, tryLockExports } from './exports-lock.ts'

/** Max cached entries; an evicted export is found again on disk. */
const MAX_READY = 10_000
/**
 * The snapshot's own files are verified block by block while they are sent. Up to this size, in bytes, they
 * are also verified completely before the first response, which takes a fraction of a second, so that damage
 * results in a 503 instead of a truncated download.
 */
const CHECKED_FIRST_BYTES = 64 << 20

interface ExportsDeps {
  tiles: TileFiles
  blobs: Blobs
  health: SnapshotHealth
  verification: Verification
  /** For CSV: put an apostrophe before texts that spreadsheets would execute as formulas. */
  escapeFormulas: boolean
  work: DataWork
}

/** See docs/decisions/one-export-at-a-time.md. */
/** The archives of vector tiles, which are built by `ogc/tiles` and are also a download format. */
export interface TileFiles {
  findFile(version: Version): Promise<(VerifiedExport & { path: string }) | undefined>
  build(version: Version, dataset: Dataset): Promise<unknown>
}

export interface ExportRequest {
  dataset: Dataset
  version: Version
  format: ExportFormatEntry
  encoding: 'identity' | Variant
}

/**
 * Each export is built once, on the first request, in a separate process, and stored with the snapshot.
 * Concurrent requests wait for the same build (single-flight). If it fails, all of them get the error, and
 * the next request builds again. GeoJSON and GeoParquet are the snapshot's own files and need no build.
 */
export class Exports {
  /** For the metrics: waiting and running builds, failed builds, and their durations. */
  waiting = 0
  failures = 0
  readonly durations = new Durations()
  readonly #parts: ExportsDeps
  readonly #ready = new BoundedCache<string, ExportFile>(MAX_READY)
  readonly #looks = new SingleFlights<string, ExportFile | undefined>()
  readonly #builds = new SingleFlights<string, ExportFile>()
  #queue: Promise<unknown> = Promise.resolve()
  readonly #stopping = new AbortController()

  constructor(parts: ExportsDeps) {
    this.#parts = parts
  }

  /** The finished file if it is cached in memory, without building or disk access. */
  known(request: ExportRequest): ExportFile | undefined {
    return this.#ready.get(nameOf(request))
  }

  /** The finished file if it is in memory or on disk, without building it. */
  async find(request: ExportRequest): Promise<ExportFile | undefined> {
    const name = nameOf(request)
    return (
      this.#ready.get(name) ??
      this.#looks.run(name, async () => {
        const file = await this.#look(request)
        return file && this.#keep(name, file)
      })
    )
  }

  async get(request: ExportRequest): Promise<ExportFile> {
    const name = nameOf(request)
    return (
      this.#ready.get(name) ??
      this.#builds.run(name, async () => {
        return (await this.find(request)) ?? this.#keep(name, await this.#make(request))
      })
    )
  }

  /** Evicts a file that is gone or damaged; the next request looks for it, or builds it, again. */
  forget(request: ExportRequest): void {
    this.#ready.delete(nameOf(request))
  }

  async close(): Promise<void> {
    this.#stopping.abort()
    await this.#queue.catch(() => {})
  }

  #keep(name: string, file: ExportFile): ExportFile {
    this.#ready.set(name, file)
    return file
  }

  async #look(request: ExportRequest): Promise<ExportFile | undefined> {
    const { version, format, encoding } = request
    const folder = await this.#parts.blobs.localFolder(version.snapshot)
    if (format.format === 'pmtiles') {
      const archive = await this.#parts.tiles.findFile(version)
      return archive && this.#file(request, archive)
    }
    if (format.ready && encoding === 'identity') {
      return this.#own(request, folder).catch(async (error: unknown) => {
        throw await this.#parts.health.problemOf(version, error)
      })
    }
    const { path } = pathsOf(request, folder, this.#parts.escapeFormulas)
    const built = await findBuilt(path, exportGeneration(version.manifest))
    return built && this.#file(request, { path, ...built })
  }

  async #make(request: ExportRequest): Promise<ExportFile> {
    const folder = await this.#parts.blobs.localFolder(request.version.snapshot)
    if (request.format.format === 'pmtiles') return this.#makeTiles(request)
    await makeFolderDurably(join(folder, 'exports'))
    const { path } = pathsOf(request, folder, this.#parts.escapeFormulas)
    const built = await traced('build export', () => this.#build(request, folder), {
      'wayleave.table': request.dataset.table,
      'wayleave.format': request.format.format,
    })
    return this.#file(request, { path, ...built })
  }

  async #build(request: ExportRequest, folder: string): Promise<VerifiedExport> {
    const { dataset, version, format, encoding } = request
    const { manifest } = version
    const { work } = this.#parts
    const { plain, path } = pathsOf(request, folder, this.#parts.escapeFormulas)
    const signal = this.#stopping.signal
    const options = {
      table: dataset.table,
      title: dataset.title,
      description: dataset.description,
      attribution: dataset.attribution,
      license: dataset.license,
      updatedAt: version.createdAt,
      escapeFormulas: this.#parts.escapeFormulas,
      signal,
    }
    return this.#inTurn(folder, async () => {
      try {
        const generation = exportGeneration(manifest)
        const present = await findBuilt(path, generation)
        if (present) return present
        // Files of an earlier build that are still there are incomplete.
        await removeBuilt(path)
        const buildAt = (outPath: string) =>
          work.buildExport(folder, format.format, outPath, options, manifest)
        let built: BuiltFile
        if (encoding === 'identity') built = await buildAt(path)
        else {
          if (!(await findBuilt(plain, generation))) {
            await removeBuilt(plain)
            await writeMeta(plain, await buildAt(plain))
          }
          built = await work.buildVariant(plain, encoding, signal)
          // Plain GeoJSON is sent as head, pack and tail, so a second copy of the pack is not kept.
          if (format.ready) await removeBuilt(plain)
        }
        const stamp = stampOf(await stat(path))
        await writeMeta(path, built)
        return { ...built, stamp }
      } catch (error) {
        if (error instanceof DamagedSnapshotError) throw await this.#parts.health.problemOf(version, error)
        throw asProblem(error, dataset.table, format.format)
      }
    })
  }

  /**
   * Runs one build at a time: each uses all the cores it is given, and two at once only take longer. Across
   * all nodes there is only one build per snapshot, because two would remove each other's files.
   */
  #inTurn<T>(folder: string, work: () => Promise<T>): Promise<T> {
    const alone = async () => {
      const unlock = await lockExports(folder, this.#stopping.signal)
      const end = this.durations.start()
      try {
        return await work()
      } catch (error) {
        if (!this.#stopping.signal.aborted) this.failures++
        throw error
      } finally {
        end()
        unlock()
      }
    }
    this.waiting++
    const turn = this.#queue.then(alone, alone).finally(() => this.waiting--)
    this.#queue = turn.catch(() => {})
    return turn
  }

  async #makeTiles(request: ExportRequest): Promise<ExportFile> {
    const { dataset, version } = request
    if (version.manifest.located === 0)
      throw new Problem('export-impossible', `No feature of "${dataset.table}" has a place.`)
    try {
      await this.#parts.tiles.build(version, dataset)
    } catch (error) {
      if (error instanceof DamagedSnapshotError) throw await this.#parts.health.problemOf(version, error)
      throw asProblem(error, dataset.table, request.format.format)
    }
    const archive = await this.#parts.tiles.findFile(version)
    if (!archive) throw new Problem('build-failed', `The tiles of "${dataset.table}" vanished.`)
    return this.#file(request, archive)
  }

  /** GeoParquet is the snapshot's own file; GeoJSON is its pack between a head and a tail. */
  async #own(request: ExportRequest, folder: string): Promise<ExportFile> {
    const { verification } = this.#parts
    const { version } = request
    const { manifest } = version
    const isGeojson = request.format.format === 'geojson'
    const name = isGeojson ? SNAPSHOT_FILES.pack : SNAPSHOT_FILES.rows
    const path = join(folder, name)
    const { bytes, sha256 } = manifest.files[name]!
    const blocks = (await readBlockChecksums(folder, manifest))?.get(name)
    const isSentChecked = blocks !== undefined && bytes > CHECKED_FIRST_BYTES
    const stamp = isSentChecked
      ? stampOf(await stat(path))
      : await verification.requireFile(folder, manifest, name)
    const checked = blocks ? { name, blocks } : null
    const verified = verification.verify(version)
    if (!isGeojson) return this.#file(request, { path, bytes, sha256, stamp, checked })
    const { head, tail } = geojsonParts(manifest)
    const tag = hash('sha256', sha256 + head + tail)
    const file = this.#file(request, { path, bytes, sha256: tag, head, tail, stamp, checked })
    // The checksum of head, file and tail together comes from the background verification, which no request
    // waits for.
    file.digest = null
    verified.then((result) => {
      file.digest = result?.geojsonDigest ?? null
    })
    return file
  }

  #file(
    request: ExportRequest,
    built: VerifiedExport & { path: string; head?: Buffer; tail?: Buffer; checked?: ExportFile['checked'] },
  ): ExportFile {
    const {
      path,
      bytes,
      sha256,
      stamp,
      head = Buffer.alloc(0),
      tail = Buffer.alloc(0),
      checked = null,
    } = built
    return {
      ...describeExport(request),
      path,
      head,
      tail,
      fileBytes: bytes,
      bytes: head.length + bytes + tail.length,
      etag: `"${sha256.slice(0, 32)}"`,
      digest: Buffer.from(sha256, 'hex').toString('base64'),
      stamp,
      checked,
    }
  }
}

/** The properties of an export that are known before it is built. */
export function describeExport({ dataset, version, format, encoding }: ExportRequest): ExportDescription {
  return {
    mediaType: format.mediaType,
    encoding,
    filename: `${dataset.table}.${format.extension}`,
    lastModified: new Date(version.createdAt),
  }
}

/**
 * Removes what killed builds left in a snapshot's folder: partial files, and exports without a meta file,
 * which would never be sent. Holding the lock ensures that no other process writes there.
 */
export async function sweepExports(folder: string): Promise<void> {
  const unlock = tryLockExports(folder)
  if (!unlock) return
  try {
    await removeStalePartials(folder)
    const exports = join(folder, 'exports')
    await removeStalePartials(exports)
    for (const name of unfinishedExports(await readdir(exports)))
      await rm(join(exports, name), { force: true })
  } finally {
    unlock()
  }
}

function nameOf({ version, format, encoding }: ExportRequest): string {
  return `${version.snapshot} ${format.format} ${encoding}`
}

function pathsOf({ dataset, format, encoding }: ExportRequest, folder: string, escapeFormulas: boolean) {
  const plain = exportPath(folder, dataset.table, format, escapeFormulas)
  return { plain, path: encoding === 'identity' ? plain : variantPath(plain, encoding) }
}

function asProblem(error: unknown, table: string, format: string): unknown {
  if (!(error instanceof ExportError)) return error
  if (error.code === 'disk-full')
    return new Problem('disk-full', undefined, { headers: { 'retry-after': '60' }, cause: error })
  if (error.code === 'shapefile-too-large')
    return new Problem('export-impossible', error.message, { cause: error })
  return new Problem('build-failed', `The ${format} file of "${table}" could not be made.`, { cause: error })
}
