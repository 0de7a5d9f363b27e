import { BoundedCache } from '@wayleave/geodata/base'
import { isHidden, mayKnow } from '../../accounts/access/dataset-access.ts'
import type { Grant } from '../../accounts/access/grant.ts'
import type { Clock } from '../../base/clock.ts'
import type { ListedDataset } from './dataset.ts'

/** Lists of callers who know hidden datasets; callers of one organization usually know the same. */
const MAX_AUDIENCES = 200

interface Lists {
  byName: Map<string, ListedDataset>
  /** What everybody may know of. */
  common: ListedDataset[]
  hidden: ListedDataset[]
  /** The names of open datasets. */
  open: Set<string>
  /** By the names of the hidden datasets in them. */
  byAudience: BoundedCache<string, ListedDataset[]>
}

/**
 * The lists of datasets that callers may know of. Callers who know the same datasets get the same array until a
 * dataset changes, so that documents about the list can be cached by it.
 */
export class VisibleDatasets {
  readonly #clock: Clock
  readonly #lists = new WeakMap<readonly ListedDataset[], Lists>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** `all` is the list of the catalog. */
  of(caller: Grant | null, all: ListedDataset[]): ListedDataset[] {
    const { common, hidden, byAudience } = this.#listsOf(all)
    if (caller === null || hidden.length === 0) return common
    const known = hidden.filter((dataset) => mayKnow(caller, dataset, this.#clock))
    if (known.length === 0) return common
    const audience = known.map(({ table }) => table).join(' ')
    let list = byAudience.get(audience)
    if (list === undefined) {
      const isKnown = new Set(known)
      list = all.filter((dataset) => !isHidden(dataset) || isKnown.has(dataset))
      byAudience.set(audience, list)
    }
    return list
  }

  /** Whether a dataset with this name exists for the caller. */
  has(caller: Grant | null, table: string, all: ListedDataset[]): boolean {
    const dataset = this.#listsOf(all).byName.get(table)
    return dataset !== undefined && mayKnow(caller, dataset, this.#clock)
  }

  /** Whether a dataset with this name is open to everybody. */
  isOpen(table: string, all: ListedDataset[]): boolean {
    return this.#listsOf(all).open.has(table)
  }

  hasOpen(all: ListedDataset[]): boolean {
    return this.#listsOf(all).open.size > 0
  }

  #listsOf(all: ListedDataset[]): Lists {
    let lists = this.#lists.get(all)
    if (lists === undefined) {
      const hidden = all.filter(isHidden)
      const common = hidden.length === 0 ? all : all.filter((dataset) => !isHidden(dataset))
      const open = new Set(common.filter(({ visibility }) => visibility === 'open').map(({ table }) => table))
      const byName = new Map(all.map((dataset) => [dataset.table, dataset]))
      lists = { byName, common, hidden, open, byAudience: new BoundedCache(MAX_AUDIENCES) }
      this.#lists.set(all, lists)
    }
    return lists
  }
}
