import { BoundedCache } from '@wayleave/geodata/base'
import { checkSizes, DamagedSnapshotError, readManifest, SNAPSHOT_FILES } from '@wayleave/geodata/snapshot'
import { QueryError } from '@wayleave/query'
import type { Logger } from 'pino'
import { SECOND } from '../../base/clock.ts'
import type { Changes } from '../../base/database/changes/changes.ts'
import { Problem } from '../../base/problem.ts'
import type { Blobs } from '../blobs/blobs.ts'
import { DamagedObjectError } from '../blobs/damaged-object-error.ts'
import type { Version } from './dataset.ts'
import { VersionRemoved } from './version-removed.ts'
import { CopyDiscarded, VersionMissing } from './version-unreadable.ts'

/** What is wrong with a published version. */
export interface Damage {
  /** The storage has nothing of it. Unlike damage, that may be a matter of time: see `lookAgain`. */
  isMissing: boolean
  table: string
  version: number
  snapshot: string
  file: string
  message: string
}

interface HealthDeps {
  blobs: Blobs
  changes: Pick<Changes, 'listen'>
  log: Logger
  /** Whether a version still references the snapshot. Missing files of a removed version are not damage. */
  isPublished: (snapshot: string) => Promise<boolean>
}

/** Max cached results of first checks; a version whose result was evicted is checked again. */
const MAX_CACHED_CHECKS = 100_000
/** How often a node looks for missing versions. */
const LOOK_EVERY = 10 * SECOND

/**
 * The published versions that this process knows to be damaged or missing. Each version is checked once before its
 * first use: its manifest must equal the one in the catalog, and its files must have the sizes in the manifest.
 * Damage that is found later, while files are read, is reported here as well.
 *
 * A damaged version stays marked until the next start, or until a change of its dataset is announced, such as by a
 * command that repaired its files. A missing version is also looked for every few seconds.
 */
export class SnapshotHealth {
  readonly #parts: HealthDeps
  readonly #checks = new BoundedCache<string, Promise<Damage | null>>(MAX_CACHED_CHECKS)
  readonly #damage = new Map<string, Damage>()
  readonly #listeners: ((damage: Damage) => void)[] = []
  readonly #returnListeners: ((damage: Damage) => void)[] = []
  #timer: NodeJS.Timeout | null = null

  constructor(parts: HealthDeps) {
    this.#parts = parts
    parts.changes.listen((subject, id) => {
      for (const damage of this.#damage.values()) {
        if (subject === 'everything' || (subject === 'dataset' && id === damage.table)) this.#forget(damage)
      }
    })
  }

  /** The listener is called once for each damaged version, when the damage is found. */
  onDamage(listener: (damage: Damage) => void): void {
    this.#listeners.push(listener)
  }

  /** The listener is called for each missing version that is in the storage again. */
  onReturn(listener: (damage: Damage) => void): void {
    this.#returnListeners.push(listener)
  }

  /** All damaged and missing versions. */
  get damaged(): Iterable<Damage> {
    return this.#damage.values()
  }

  /** False for a bucket, whose objects are verified when they are fetched. */
  get checksFiles(): boolean {
    return this.#parts.blobs.isLocal
  }

  /**
   * The damage that the first check of a version finds, or null. Concurrent callers share one check
   * (single-flight).
   */
  firstCheck(version: Version): Promise<Damage | null> {
    const { snapshot } = version
    const mark = this.#damage.get(snapshot)
    if (mark?.isMissing) return Promise.resolve(mark)
    const pending = this.#checks.get(snapshot)
    if (pending) return pending
    const check = this.#check(version)
    this.#checks.set(snapshot, check)
    // A check that failed for a reason other than damage, such as a lack of file descriptors, is repeated.
    check.catch(() => this.#checks.delete(snapshot))
    return check
  }

  /** Whether a version can take the place of a damaged or missing one. */
  async isWhole(version: Version): Promise<boolean> {
    if (this.#damage.has(version.snapshot) || (await this.firstCheck(version)) !== null) return false
    // The first check reads nothing of a bucket.
    if (this.#parts.blobs.isLocal || !(await this.#isMissing(version))) return true
    await this.#record(version, missingSnapshot())
    return false
  }

  /** Throws `data-damaged` if the version is known to be damaged or the first check finds damage. */
  async require(version: Version): Promise<void> {
    if (!this.#damage.has(version.snapshot)) await this.firstCheck(version)
    const damage = this.#damage.get(version.snapshot)
    if (damage) throw damage.isMissing ? new VersionMissing(version) : damagedProblem(version)
  }

  /**
   * What to throw for an error that occurred while reading a version's files. Damage is recorded and becomes
   * a 503, unless it was only in this node's copy of a bucket.
   */
  async problemOf(version: Version, error: unknown): Promise<unknown> {
    const damage = asDamage(error)
    if (damage === null) return error
    try {
      const recorded = await this.#recordUnlessCopy(version, damage)
      if (recorded === 'copy discarded') return new CopyDiscarded(version, error)
      if (recorded === null) return new VersionRemoved(version, error)
      return recorded.isMissing ? new VersionMissing(version, error) : damagedProblem(version, error)
    } catch (failure) {
      // The store cannot be reached, so what is wrong with the version stays unknown.
      return failure
    }
  }

  /**
   * Does work that reads a version's files, once more if the damage was only in this node's copy of a bucket. Throws
   * what `problemOf` says.
   */
  async reading<T>(version: Version, work: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await work()
      } catch (error) {
        const problem = await this.problemOf(version, error)
        if (!(problem instanceof CopyDiscarded) || attempt === 2) throw problem
      }
    }
  }

  async #recordUnlessCopy(
    version: Version,
    damage: DamagedSnapshotError,
  ): Promise<Damage | 'copy discarded' | null> {
    const { blobs, log } = this.#parts
    const { table, snapshot, manifest } = version
    if (blobs.isLocal || damage instanceof DamagedObjectError) return this.#record(version, damage)
    if (!(await blobs.discardDamagedCopies(snapshot, manifest, damage.file)))
      return this.#record(version, damage)
    const { file, message } = damage
    log.warn({ table, snapshot, file }, `A cached copy is fetched again: ${message}`)
    return 'copy discarded'
  }

  /**
   * Looks for the missing versions; those that are in the storage by now are served again. A server calls it every few
   * seconds while there are any.
   */
  async lookAgain(): Promise<void> {
    for (const damage of [...this.#damage.values()]) {
      if (!damage.isMissing || (await this.#isMissing(damage))) continue
      const { table, version } = damage
      this.#parts.log.info({ table, version }, `Version ${version} of "${table}" is in the storage again.`)
      this.#forget(damage)
    }
  }

  close(): void {
    if (this.#timer) clearTimeout(this.#timer)
  }

  /** The next use of the version checks it again. */
  #forget(damage: Damage): void {
    this.#damage.delete(damage.snapshot)
    this.#checks.delete(damage.snapshot)
    for (const listener of this.#returnListeners) listener(damage)
  }

  #lookAgainLater(): void {
    this.#timer ??= setTimeout(async () => {
      // If the store cannot be reached, the next round tries again.
      await this.lookAgain().catch(() => {})
      this.#timer = null
      if (this.#damage.values().some(({ isMissing }) => isMissing)) this.#lookAgainLater()
    }, LOOK_EVERY).unref()
  }

  async #isMissing({ snapshot }: Pick<Version, 'snapshot'>): Promise<boolean> {
    return (await this.#parts.blobs.placedAt(snapshot)) === null
  }

  /**
   * What to throw for an error, of whatever kind, while a version was read or a file built from it: `VersionRemoved`
   * if the version is removed. Damage becomes what `problemOf` says, and refusals of the request itself stay what they
   * are.
   */
  async removalOr(version: Version, error: unknown): Promise<unknown> {
    if (asDamage(error)) return this.problemOf(version, error)
    // A worker, perhaps another process, did not find the version.
    const isStorage = error instanceof Problem && error.code === 'storage-unavailable'
    if (isStorage && (await this.#isMissing(version).catch(() => false)))
      return this.problemOf(version, missingSnapshot())
    if (error instanceof Problem && error.status < 500 && error.code !== 'not-found') return error
    if (error instanceof QueryError && error.code !== 'overloaded') return error
    return (await this.#isPublished(version)) ? error : new VersionRemoved(version, error)
  }

  /** True if the database is unreachable: a false alarm about a removed version is better than silence. */
  #isPublished({ snapshot }: Version): Promise<boolean> {
    return this.#parts.isPublished(snapshot).catch(() => true)
  }

  async #check(version: Version): Promise<Damage | null> {
    // Checking every dataset in a bucket would take thousands of requests. Its objects are complete or missing,
    // and everything that is fetched is verified.
    if (!this.#parts.blobs.isLocal) return null
    try {
      const folder = await this.#parts.blobs.localFolder(version.snapshot)
      const manifest = await readManifest(folder)
      if (JSON.stringify(manifest) !== JSON.stringify(version.manifest))
        throw new DamagedSnapshotError('manifest.json', 'manifest.json is not the one that was published.')
      await checkSizes(folder, manifest)
      return null
    } catch (error) {
      const damage = asDamage(error)
      if (damage === null) throw error
      return this.#record(version, damage)
    }
  }

  async #record(version: Version, { file, message }: DamagedSnapshotError): Promise<Damage | null> {
    const { table, snapshot } = version
    const { log, blobs } = this.#parts
    if (!(await this.#isPublished(version))) return null
    const isMissing = await this.#isMissing(version)
    const earlier = this.#damage.get(snapshot)
    if (earlier) return earlier
    const damage: Damage = { table, version: version.version, snapshot, file, message, isMissing }
    this.#damage.set(snapshot, damage)
    log.error(
      damage,
      isMissing
        ? `Version ${damage.version} of "${table}" is not in the storage (${blobs.location}). It is served as soon as it is there.`
        : `Version ${damage.version} of "${table}" is damaged and is not served: ${message}`,
    )
    if (isMissing) this.#lookAgainLater()
    for (const listener of this.#listeners) listener(damage)
    return damage
  }
}

function missingSnapshot(): DamagedObjectError {
  return new DamagedObjectError(SNAPSHOT_FILES.manifest, 'The snapshot is missing.')
}

/** An unreadable sector (EIO) is damage too. */
function asDamage(error: unknown): DamagedSnapshotError | null {
  if (error instanceof DamagedSnapshotError) return error
  const { code, message } = error as NodeJS.ErrnoException
  return code === 'EIO' ? new DamagedSnapshotError('unknown', message, { cause: error }) : null
}

function damagedProblem({ table, version }: Version, cause?: unknown): Problem {
  return new Problem(
    'data-damaged',
    `Version ${version} of the dataset "${table}" is damaged on the server and is not served. Nothing was charged.`,
    { cause },
  )
}
