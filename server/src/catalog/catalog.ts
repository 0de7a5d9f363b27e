import type { Changes } from '../database/changes.ts'
import type { Db } from '../database/open.ts'
import type { MaybePromise } from '../maybe-promise.ts'
import { notFound } from '../problem.ts'
import { type Dataset, isTable, type Version } from './dataset.ts'
import { readDataset, readDatasets, readVersions } from './store.ts'

/**
 * The datasets, as they are now. Every request asks for one, so they are kept in memory, by the same rule as
 * everything that is: forgotten before the call that changes them answers.
 */
export class Catalog {
  readonly #db: Db
  readonly #changes: Changes
  readonly #datasets = new Map<string, Dataset>()
  readonly #versions = new Map<string, Version[]>()
  #all: Dataset[] | null = null

  constructor(db: Db, changes: Changes) {
    this.#db = db
    this.#changes = changes
    changes.listen((subject, id) => {
      if (subject === 'dataset') {
        this.#datasets.delete(id)
        this.#versions.delete(id)
        this.#all = null
      } else if (subject === 'everything') {
        this.#datasets.clear()
        this.#versions.clear()
        this.#all = null
      }
    })
  }

  /** Returned at once if it is cached. Throws 404 for a table that does not exist. */
  find(table: string): MaybePromise<Dataset> {
    const cachedDataset = this.#changes.trusted() ? this.#datasets.get(table) : undefined
    return cachedDataset ?? this.#load(table)
  }

  async all(): Promise<Dataset[]> {
    if (this.#changes.trusted() && this.#all) return this.#all
    return this.#keepUnlessChanged(
      () => readDatasets(this.#db),
      (datasets) => {
        this.#all = datasets
      },
    )
  }

  /** All versions, newest first. Throws 404 for a table that does not exist. */
  async versions(table: string): Promise<Version[]> {
    const known = this.#changes.trusted() ? this.#versions.get(table) : undefined
    if (known) return known
    const versions = isTable(table)
      ? await this.#keepUnlessChanged(
          () => readVersions(this.#db, table),
          (read) => {
            if (read.length > 0) this.#versions.set(table, read)
          },
        )
      : []
    if (versions.length === 0) throw notFound(`dataset named "${table.slice(0, 80)}"`)
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
    const dataset = isTable(table)
      ? await this.#keepUnlessChanged(
          () => readDataset(this.#db, table),
          (read) => {
            if (read) this.#datasets.set(table, read)
          },
        )
      : undefined
    if (!dataset) throw notFound(`dataset named "${table.slice(0, 80)}"`)
    return dataset
  }

  /** What was read before a change must not be kept after it. */
  async #keepUnlessChanged<T>(read: () => Promise<T>, keep: (value: T) => void): Promise<T> {
    const trusted = this.#changes.trusted()
    const before = this.#changes.applied
    const value = await read()
    if (trusted && this.#changes.trusted() && this.#changes.applied === before) keep(value)
    return value
  }
}
