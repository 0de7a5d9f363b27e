import type { Logger } from 'pino'
import { mayKnow } from '../../accounts/access/dataset-access.ts'
import type { Grant } from '../../accounts/access/grant.ts'
import { type CacheLookups, CoherentCache } from '../../base/caching/coherent-cache.ts'
import type { Clock } from '../../base/clock.ts'
import type { Changes, Subject } from '../../base/database/changes/changes.ts'
import type { Db } from '../../base/database/open.ts'
import { andThen, type MaybePromise } from '../../base/maybe-promise.ts'
import { notFound, type Problem } from '../../base/problem.ts'
import { type Dataset, isTable, type ListedDataset, summaryOf, type Version } from './dataset.ts'
import { eachBounded } from './each-bounded.ts'
import type { SnapshotHealth } from './snapshot-health.ts'
import { readDataset, readDatasetsAfter, readListedDatasets, readVersions } from './store.ts'
import { VersionUnreadable } from './version-unreadable.ts'
import { VisibleDatasets } from './visible-datasets.ts'

/**
 * Max concurrent first checks of snapshots: enough to keep a disk busy, few enough to leave I/O for requests.
 */
const MAX_CONCURRENT_CHECKS = 16
/** A dataset with its manifest takes 15 KB and more. The list, which has all of them, has summaries. */
const MAX_DATASETS = 1000
const MAX_VERSION_LISTS = 200
/**
 * Names that no dataset has. A request for one takes as long as a request for a dataset that its caller may not
 * know of, which is in memory too.
 */
const MAX_ABSENT = 10_000
/** The key of the list of all datasets in its cache. */
const ALL = ''

/**
 * The current datasets. Every request needs one, so they are cached in memory. As with all caches, an entry
 * is invalidated before the call that changes the dataset returns.
 *
 * Requests use `findFor`, `findOpen` and `allFor`, which know who may know of a dataset; `find` and `all` are for
 * jobs, for the command line and for administrators.
 */
export class Catalog {
  readonly #db: Db
  readonly #health: SnapshotHealth
  readonly #clock: Clock
  readonly #visible: VisibleDatasets
  readonly #log: Logger
  /** Snapshots of damaged current versions for which the replacement has already been logged. */
  readonly #loggedDamage = new Set<string>()
  readonly #datasets: CoherentCache<Dataset>
  readonly #versions: CoherentCache<Version[]>
  readonly #all: CoherentCache<ListedDataset[]>

  constructor(db: Db, changes: Changes, health: SnapshotHealth, clock: Clock, log: Logger) {
    this.#db = db
    this.#health = health
    this.#clock = clock
    this.#visible = new VisibleDatasets(clock)
    this.#log = log
    const isStale = (_value: unknown, table: string, subject: Subject, id: string) =>
      subject === 'dataset' && id === table
    this.#datasets = new CoherentCache({
      changes,
      read: (table) => this.#read(table),
      // A dataset has the name of its owner.
      isStale: (dataset, table, subject, id) =>
        isStale(dataset, table, subject, id) ||
        (subject === 'organization' && dataset.owner?.organizationId === id),
      maxEntries: MAX_DATASETS,
      maxAbsent: MAX_ABSENT,
    })
    this.#versions = new CoherentCache({
      changes,
      read: async (table) => {
        const versions = await readVersions(db, table)
        return versions.length > 0 ? versions : null
      },
      isStale,
      maxEntries: MAX_VERSION_LISTS,
    })
    this.#all = new CoherentCache({
      changes,
      read: () => this.#readAll(),
      isStale: (datasets, _key, subject, id) =>
        subject === 'dataset' ||
        (subject === 'organization' && datasets.some(({ owner }) => owner?.organizationId === id)),
      maxEntries: 1,
    })
    // The list then has the version that is served in its place.
    health.onDamage(({ table, isMissing }) => {
      this.#all.evict(ALL)
      // Damage that is found later does not move readers to another version in the middle of a reading.
      if (isMissing) this.#datasets.evict(table)
    })
    health.onReturn(({ table, snapshot }) => {
      this.#loggedDamage.delete(snapshot)
      this.#all.evict(ALL)
      this.#datasets.evict(table)
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

  /** Null if no dataset has the name. For checks of owners, which do not tell that a dataset exists. */
  async findIfAny(table: string): Promise<Dataset | null> {
    return isTable(table) ? this.#datasets.get(table) : null
  }

  /**
   * The same for a caller, null without a key: throws the same 404 for a dataset that the caller may not know of.
   */
  findFor(caller: Grant | null, table: string): MaybePromise<Dataset> {
    const cached = this.#datasets.peek(table)
    if (cached !== undefined && mayKnow(caller, cached, this.#clock)) return cached
    return this.#loadFor(caller, table)
  }

  /** The dataset if it is open to everybody; null if it is not, or does not exist. */
  findOpen(table: string): MaybePromise<Dataset | null> {
    const cached = this.#datasets.peek(table)
    if (cached !== undefined) return cached.visibility === 'open' ? cached : null
    // The list is in memory, so that requests without a key cost no query.
    return andThen(this.all(), (all) =>
      this.#visible.isOpen(table, all)
        ? andThen(this.find(table), (dataset) => (dataset.visibility === 'open' ? dataset : null))
        : null,
    )
  }

  /**
   * Does the work of a request that names no version, with the dataset that was found for it. If the version is
   * replaced and removed meanwhile, or the storage does not have it, the work is done once more, with the version that
   * is served then.
   */
  withCurrent<T>(dataset: Dataset, work: (current: Dataset) => Promise<T>): Promise<T> {
    return work(dataset).catch(async (error: unknown) => {
      if (!(error instanceof VersionUnreadable)) throw error
      return work(await this.findAgain(dataset.table))
    })
  }

  /** The dataset as it is in the database now. */
  findAgain(table: string): Promise<Dataset> {
    this.#datasets.evict(table)
    return this.#load(table)
  }

  /** Returns synchronously if the list is cached; the array is the same until a dataset changes. */
  all(): MaybePromise<ListedDataset[]> {
    return andThen(this.#all.get(ALL), (datasets) => datasets ?? [])
  }

  /** Those that the caller may know of; null without a key. */
  allFor(caller: Grant | null): MaybePromise<ListedDataset[]> {
    return andThen(this.all(), (all) => this.#visible.of(caller, all))
  }

  /** Whether any dataset is open to everybody. */
  hasOpen(): MaybePromise<boolean> {
    return andThen(this.all(), (all) => this.#visible.hasOpen(all))
  }

  /** All versions, newest first. Throws 404 for a table that does not exist. */
  async versions(table: string): Promise<Version[]> {
    const versions = isTable(table) ? await this.#versions.get(table) : null
    if (!versions) throw noSuchDataset(table)
    return versions
  }

  async version(table: string, number: string): Promise<Version> {
    const versions = await this.versions(table)
    const matchingVersion =
      /^[1-9]\d{0,14}$/.test(number) && versions.find((version) => version.version === Number(number))
    if (!matchingVersion) throw notFound(`such version of the dataset "${table}"`)
    return matchingVersion
  }

  /** Whether there is a dataset for the caller is decided by the list in memory: its time tells nobody why there is none. */
  async #loadFor(caller: Grant | null, table: string): Promise<Dataset> {
    const isKnown = this.#visible.has(caller, table, await this.all())
    const dataset = isKnown ? await this.#load(table) : null
    if (dataset === null || !mayKnow(caller, dataset, this.#clock)) throw noSuchDataset(table)
    return dataset
  }

  async #load(table: string): Promise<Dataset> {
    const dataset = isTable(table) ? await this.#datasets.get(table) : null
    if (!dataset) throw noSuchDataset(table)
    return dataset
  }

  async #read(table: string): Promise<Dataset | null> {
    const dataset = await readDataset(this.#db, table)
    return dataset ? this.#served(dataset) : null
  }

  /**
   * Checks the files of all current versions, a few at a time. Until it gets to a version, that version is checked
   * by its first use, and the list may have a version that turns out to be damaged.
   */
  async checkFiles(): Promise<void> {
    if (!this.#health.checksFiles) return
    for (let after = ''; ; ) {
      const datasets = await readDatasetsAfter(this.#db, after)
      if (datasets.length === 0) return
      after = datasets.at(-1)!.table
      // A check that fails for a reason other than damage fails the requests for this dataset only.
      await eachBounded(MAX_CONCURRENT_CHECKS, datasets, async (dataset) => {
        await this.#served(dataset).catch(() => {})
      })
    }
  }

  async #readAll(): Promise<ListedDataset[]> {
    const datasets = await readListedDatasets(this.#db)
    // The same order on both databases: PostgreSQL sorts by its locale.
    datasets.sort((a, b) => (a.table < b.table ? -1 : 1))
    const damaged = new Set(Array.from(this.#health.damaged, ({ snapshot }) => snapshot))
    for (const [i, { table, snapshot }] of datasets.entries()) {
      if (!damaged.has(snapshot)) continue
      const served = await this.#read(table)
      if (served) datasets[i] = { ...served, manifest: summaryOf(served.manifest) }
    }
    // Damage that was found meanwhile did not evict this list, because it is not cached yet.
    return Iterator.from(this.#health.damaged).some(({ snapshot }) => !damaged.has(snapshot))
      ? this.#readAll()
      : datasets
  }

  /**
   * The dataset with the version that is served. That is the current version or, if the first check finds it
   * damaged or it is missing, the newest undamaged version before it. If no version is undamaged, the current one is returned;
   * requests for its data are then refused.
   */
  async #served(dataset: Dataset): Promise<Dataset> {
    const damage = await this.#health.firstCheck(dataset)
    if (damage === null) return dataset
    const { table, version, snapshot } = dataset
    const replacement = await this.#newestWhole(dataset)
    if (!this.#loggedDamage.has(snapshot)) {
      this.#loggedDamage.add(snapshot)
      const detail = { table, version, file: damage.file, served: replacement?.version ?? null }
      this.#log.error(
        detail,
        replacement
          ? `Version ${replacement.version} of "${table}" is served instead of the ${damage.isMissing ? 'missing' : 'damaged'} version ${version}.`
          : `Every version of "${table}" is damaged or missing: its data is not served.`,
      )
    }
    return replacement ? { ...dataset, ...replacement } : dataset
  }

  async #newestWhole({ table, version: current }: Dataset): Promise<Version | null> {
    for (const version of await readVersions(this.#db, table)) {
      if (version.version < current && (await this.#health.isWhole(version))) return version
    }
    return null
  }
}

function noSuchDataset(table: string): Problem {
  return notFound(`dataset named "${table.slice(0, 80)}"`)
}
