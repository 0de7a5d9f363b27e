import { DamagedSnapshotError } from '@wayleave/geodata/snapshot/damaged-snapshot-error.ts'
import { readManifest } from '@wayleave/geodata/snapshot/read-manifest.ts'
import { checkSizes } from '@wayleave/geodata/snapshot/verify.ts'
import type { Logger } from 'pino'
import type { Blobs } from '../blobs/blobs.ts'
import { notFound, Problem } from '../problem.ts'
import type { Version } from './dataset.ts'

/** What is wrong with a published version. */
export interface Damage {
  table: string
  version: number
  snapshot: string
  file: string
  message: string
}

interface HealthParts {
  blobs: Blobs
  log: Logger
  /** Whether a version still names the snapshot. The files of a version that was removed are no damage. */
  isPublished: (snapshot: string) => Promise<boolean>
}

/** Results of first looks that are remembered; more are looked at again. */
const MAX_LOOKS = 100_000

/**
 * Which published versions are damaged, as far as this process knows. Each version is looked at once before it is
 * first used: its manifest must be the one of the catalog, and its files must have the sizes that it names. Damage
 * that is found later, while files are read, is reported here as well. What is damaged stays so until the next
 * start, which looks again.
 */
export class SnapshotHealth {
  readonly #parts: HealthParts
  readonly #looks = new Map<string, Promise<Damage | null>>()
  readonly #damage = new Map<string, Damage>()
  readonly #listeners: ((damage: Damage) => void)[] = []

  constructor(parts: HealthParts) {
    this.#parts = parts
  }

  /** Called once for each damaged version, at the moment when the damage is found. */
  onDamage(listener: (damage: Damage) => void): void {
    this.#listeners.push(listener)
  }

  /** All damaged versions that were found since the start. */
  get damaged(): Iterable<Damage> {
    return this.#damage.values()
  }

  /** The damage that the first look at a version finds, or null. Concurrent callers share one look. */
  firstLook(version: Version): Promise<Damage | null> {
    const { snapshot } = version
    const pending = this.#looks.get(snapshot)
    if (pending) return pending
    if (this.#looks.size >= MAX_LOOKS) this.#looks.clear()
    const look = this.#look(version)
    this.#looks.set(snapshot, look)
    // A look that failed for another reason than damage, such as a lack of descriptors, is repeated.
    look.catch(() => this.#looks.delete(snapshot))
    return look
  }

  /** Throws `data-damaged` for a version that is known to be damaged, or turns out to be at the first look. */
  async require(version: Version): Promise<void> {
    if (!this.#damage.has(version.snapshot)) await this.firstLook(version)
    if (this.#damage.has(version.snapshot)) throw damagedProblem(version)
  }

  /** What to throw for an error that was met while a version's files were read: damage is recorded and is 503. */
  async problemOf(version: Version, error: unknown): Promise<unknown> {
    const damage = asDamage(error)
    if (damage === null) return error
    const recorded = await this.#record(version, damage)
    return recorded ? damagedProblem(version, error) : notFound(`such version of "${version.table}" any more`)
  }

  async #look(version: Version): Promise<Damage | null> {
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
    const { isPublished, log } = this.#parts
    // Without the database the version is taken as published: a false alarm is better than silence.
    if (!(await isPublished(snapshot).catch(() => true))) return null
    const earlier = this.#damage.get(snapshot)
    if (earlier) return earlier
    const damage: Damage = { table, version: version.version, snapshot, file, message }
    this.#damage.set(snapshot, damage)
    log.error(damage, `Version ${damage.version} of "${table}" is damaged and is not served: ${message}`)
    for (const listener of this.#listeners) listener(damage)
    return damage
  }
}

/** An unreadable sector is damage too. */
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
