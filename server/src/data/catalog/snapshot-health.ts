import { BoundedCache } from '@wayleave/geodata/base'
import { checkSizes, DamagedSnapshotError, readManifest } from '@wayleave/geodata/snapshot'
import { QueryError } from '@wayleave/query'
import type { Logger } from 'pino'
import { Problem } from '../../base/problem.ts'
import type { Blobs } from '../blobs/blobs.ts'
import type { Version } from './dataset.ts'
import { VersionRemoved } from './version-removed.ts'

/** What is wrong with a published version. */
export interface Damage {
  table: string
  version: number
  snapshot: string
  file: string
  message: string
}

interface HealthDeps {
  blobs: Blobs
  log: Logger
  /** Whether a version still references the snapshot. Missing files of a removed version are not damage. */
  isPublished: (snapshot: string) => Promise<boolean>
}

/** Max cached results of first checks; a version whose result was evicted is checked again. */
const MAX_CACHED_CHECKS = 100_000

/**
 * The published versions that this process knows to be damaged. Each version is checked once before its first
 * use: its manifest must equal the one in the catalog, and its files must have the sizes in the manifest.
 * Damage that is found later, while files are read, is reported here as well. A damaged version stays marked
 * as damaged until the next start, which checks again.
 */
export class SnapshotHealth {
  readonly #parts: HealthDeps
  readonly #checks = new BoundedCache<string, Promise<Damage | null>>(MAX_CACHED_CHECKS)
  readonly #damage = new Map<string, Damage>()
  readonly #listeners: ((damage: Damage) => void)[] = []

  constructor(parts: HealthDeps) {
    this.#parts = parts
  }

  /** The listener is called once for each damaged version, when the damage is found. */
  onDamage(listener: (damage: Damage) => void): void {
    this.#listeners.push(listener)
  }

  /** All damaged versions found since the start. */
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
    const pending = this.#checks.get(snapshot)
    if (pending) return pending
    const check = this.#check(version)
    this.#checks.set(snapshot, check)
    // A check that failed for a reason other than damage, such as a lack of file descriptors, is repeated.
    check.catch(() => this.#checks.delete(snapshot))
    return check
  }

  /** Throws `data-damaged` if the version is known to be damaged or the first check finds damage. */
  async require(version: Version): Promise<void> {
    if (!this.#damage.has(version.snapshot)) await this.firstCheck(version)
    if (this.#damage.has(version.snapshot)) throw damagedProblem(version)
  }

  /**
   * What to throw for an error that occurred while reading a version's files. Damage is recorded and becomes
   * a 503.
   */
  async problemOf(version: Version, error: unknown): Promise<unknown> {
    const damage = asDamage(error)
    if (damage === null) return error
    const recorded = await this.#record(version, damage)
    return recorded ? damagedProblem(version, error) : new VersionRemoved(version, error)
  }

  /**
   * What to throw for an error, of whatever kind, while a version was read or a file built from it: `VersionRemoved`
   * if the version is removed. Refusals of the request itself stay what they are.
   */
  async removalOr(version: Version, error: unknown): Promise<unknown> {
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
    const { log } = this.#parts
    if (!(await this.#isPublished(version))) return null
    const earlier = this.#damage.get(snapshot)
    if (earlier) return earlier
    const damage: Damage = { table, version: version.version, snapshot, file, message }
    this.#damage.set(snapshot, damage)
    log.error(damage, `Version ${damage.version} of "${table}" is damaged and is not served: ${message}`)
    for (const listener of this.#listeners) listener(damage)
    return damage
  }
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
