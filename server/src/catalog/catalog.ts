import type { Logger } from 'pino'
import { type CacheLookups, CoherentCache } from '../caching/coherent-cache.ts'
import type { Changes, Subject } from '../database/changes.ts'
import type { Db } from '../database/open.ts'
import { andThen, type MaybePromise } from '../maybe-promise.ts'
import { notFound } from '../problem.ts'
import { type Dataset, isTable, type Version } from './dataset.ts'
import { eachBounded } from './each-bounded.ts'
import type { SnapshotHealth } from './snapshot-health.ts'
import { readDataset, readDatasets, readVersions } from './store.ts'

/**
 * Max concurrent first checks of snapshots: enough to keep a disk busy, few enough to leave I/O for requests.
 */
const LOOKS_AT_ONCE = 16
/** Far above the number of datasets of an installation. */
const MAX_CACHED = 100_000

/**
 * The current datasets. Every request needs one, so they are cached in memory. As with all caches, an entry
 * is invalidated before the call that changes the dataset returns.
 */
export class Catalog {
  readonly #db: Db
  readonly #health: SnapshotHealth
  readonly #log: Logger
  /** Snapshots of damaged current versions for which the replacement has already been logged. */
  readonly #told = new Set<string>()
  readonly #datasets: CoherentCache<Dataset>
  readonly #versions: CoherentCache<Version[]>
  readonly #all: CoherentCache<Dataset[]>

  constructor(db: Db, changes: Changes, health: SnapshotHealth, log: Logger) {
    this.#db = db
    this.#health = health
    this.#log = log
    const isStale = (_value: unknown, table: string, subject: Subject, id: string) =>
      subject === 'dataset' && id === table
    this.#datasets = new CoherentCache({
      changes,
      read: (table) => this.#read(table),
      isStale,
      maxEntries: MAX_CACHED,
    })
    this.#versions = new CoherentCache({
      changes,
      read: async (table) => {
        const versions = await readVersions(db, table)
        return versions.length > 0 ? versions : null
      },
      isStale,
      maxEntries: MAX_CACHED,
    })
    this.#all = new CoherentCache({
      changes,
      read: () => this.#readAll(),
      isStale: (_datasets, _key, subject) => subject === 'dataset',
      maxEntries: 1,
    })
  }

  /** How often a dataset was in memory. */
  get lookups(): CacheLookups {
    return this.#datasets.lookups
  }

  /** Returns synchronously if the dataset is cached. Throws 404 for a table that does not exist. */
  find(table: string): MaybePromise<Dataset> {
    return this.#datasets.peek(table) ?? this.#load(table)
  }

  /** Returns synchronously if the list is cached; the array is the same until a dataset changes. */
  all(): MaybePromise<Dataset[]> {
    return andThen(this.#all.get(''), (datasets) => datasets ?? [])
  }

  /** All versions, newest first. Throws 404 for a table that does not exist. */
  async versions(table: string): Promise<Version[]> {
    const versions = isTable(table) ? await this.#versions.get(table) : null
    if (!versions) throw notFound(`dataset named "${table.slice(0, 80)}"`)
    return versions
  }

  async version(table: string, number: string): Promise<Version> {
    const versions = await this.versions(table)
    const found =
      /^[1-9]\d{0,14}$/.test(number) && versions.find((version) => version.version === Number(number))
    if (!found) throw notFound(`such version of the dataset "${table}"`)
    return found
  }

  async #load(table: string): Promise<Dataset> {
    const dataset = isTable(table) ? await this.#datasets.get(table) : null
    if (!dataset) throw notFound(`dataset named "${table.slice(0, 80)}"`)
    return dataset
  }

  async #read(table: string): Promise<Dataset | null> {
    const dataset = await readDataset(this.#db, table)
    return dataset ? this.#served(dataset) : null
  }

  async #readAll(): Promise<Dataset[]> {
    const datasets = await readDatasets(this.#db)
    // The same order on both databases: PostgreSQL sorts by its locale.
    datasets.sort((a, b) => (a.table < b.table ? -1 : 1))
    await eachBounded(LOOKS_AT_ONCE, datasets.keys(), async (i) => {
      const dataset = datasets[i]!
      // A check that fails for a reason other than damage fails the requests for this dataset, not the list.
      datasets[i] = await this.#served(dataset).catch(() => dataset)
    })
    return datasets
  }

  /**
   * The dataset with the version that is served. That is the current version or, if the first check finds it
   * damaged, the newest undamaged version before it. If no version is undamaged, the current one is returned;
   * requests for its data are then refused.
   */
  async #served(dataset: Dataset): Promise<Dataset> {
    const damage = await this.#health.firstLook(dataset)
    if (damage === null) return dataset
    const { table, version, snapshot } = dataset
    const replacement = await this.#newestWhole(dataset)
    if (!this.#told.has(snapshot)) {
      this.#told.add(snapshot)
      const detail = { table, version, file: damage.file, served: replacement?.version ?? null }
      this.#log.error(
        detail,
        replacement
          ? `Version ${replacement.version} of "${table}" is served in the place of the damaged version ${version}.`
          : `No version of "${table}" is whole: its data is not served.`,
      )
    }
    return replacement ? { ...dataset, ...replacement } : dataset
  }

  async #newestWhole({ table, version: current }: Dataset): Promise<Version | null> {
    for (const version of await readVersions(this.#db, table)) {
      if (version.version < current && (await this.#health.firstLook(version)) === null) return version
    }
    return null
  }
}
