import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Snapshot } from '@wayleave/geodata/snapshot/open.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { Dataset, Version } from '../catalog/dataset.ts'
import type { OpenSnapshots } from '../catalog/open-snapshots.ts'
import { type Clock, HOUR } from '../clock.ts'
import { Problem } from '../problem.ts'
import type { BoxQuery } from './box-query.ts'
import type { FilterPlan } from './cql2/plan-filter.ts'
import { readCursor } from './cursor.ts'
import type { GeometryCache } from './geometry-cache.ts'
import type { ItemsQuery } from './items-query.ts'
import type { RowQueries } from './row-queries.ts'
import { BoxSearch, countByBox, ENDED, isDecidedByTree, PAUSED, selectInTree } from './select-by-box.ts'
import { selectByRows } from './select-by-rows.ts'
import { type Selected, selectRun } from './selected.ts'

/** How long a reading may go on over a version that was replaced meanwhile. */
const GRACE = HOUR
const MOST_COUNTS = 10_000

export interface Start {
  version: Version
  /** The last position of the page before; -1 at the beginning. */
  after: number
}

export interface Reading {
  after: number
  limit: number
  /** Called only where there is something to abort. */
  signal: () => AbortSignal
}

export interface ItemsParts {
  catalog: Catalog
  snapshots: OpenSnapshots
  geometries: GeometryCache
  rows: RowQueries
  clock: Clock
}

/** From a query to the features of its page. */
export class Items {
  readonly #parts: ItemsParts
  readonly #counts = new Map<string, number | null>()

  constructor(parts: ItemsParts) {
    this.#parts = parts
  }

  /**
   * Where a page begins. A reading stays in the version it began in, so that its pages fit together; an hour
   * after that was replaced it has to begin again.
   */
  start(dataset: Dataset, query: ItemsQuery): Start | Promise<Start> {
    if (query.cursor === null) return { version: dataset, after: -1 }
    const { version, position } = readCursor(query.cursor, `${dataset.table}\n${query.selection}`)
    return version === dataset.version
      ? { version: dataset, after: position }
      : this.#older(dataset, version, position)
  }

  async #older(dataset: Dataset, number: number, position: number): Promise<Start> {
    const { catalog, clock } = this.#parts
    const versions = await catalog.versions(dataset.table)
    const at = versions.findIndex(({ version }) => version === number)
    const successor = versions[at - 1]
    const found = versions[at]
    if (!found || !successor || clock().getTime() - Date.parse(successor.createdAt) > GRACE) {
      throw new Problem(
        'invalid-cursor',
        'The dataset was replaced meanwhile. Begin again at the first page.',
      )
    }
    return { version: found, after: position }
  }

  /** The page where everything that decides is in memory; null where something has to be waited for. */
  selectAtOnce(
    snapshot: Snapshot,
    { box, sort, offset }: ItemsQuery,
    plan: FilterPlan | null,
    after: number,
    limit: number,
    into?: Uint32Array,
  ): Selected | null {
    if (plan || sort.length > 0) return null
    if (box && isDecidedByTree(snapshot, box)) {
      return selectInTree(snapshot, box, after, offset, limit, into)
    }
    if (box) {
      const search = new BoxSearch(snapshot, box, this.#parts.geometries, { after, skip: offset, limit })
      return search.advance() === ENDED ? search.selected : null
    }
    return selectRun(after + 1 + offset, limit, snapshot.manifest.rows)
  }

  /** `plan` is what `conditions` come to; `signal` tells that nobody waits any more. */
  async select(
    snapshot: Snapshot,
    query: ItemsQuery,
    plan: FilterPlan | null,
    { after, limit, signal }: Reading,
  ): Promise<Selected> {
    const { rows, geometries } = this.#parts
    const { box, sort, offset: skip } = query
    if (plan || sort.length > 0) {
      return selectByRows(
        { snapshot, plan, box, sort, after, skip, limit },
        { rows, geometries, signal: signal() },
      )
    }
    if (!box || isDecidedByTree(snapshot, box)) return this.selectAtOnce(snapshot, query, plan, after, limit)!
    const search = new BoxSearch(snapshot, box, geometries, { after, skip, limit })
    for (let needed = search.advance(); needed !== ENDED; ) {
      if (needed === PAUSED) await nextTurn()
      needed = search.advance(needed === PAUSED ? undefined : await geometries.read(snapshot, needed))
    }
    return search.selected
  }

  /** How many features the query has in all, where that is cheap to know. */
  count(
    snapshot: Snapshot,
    query: ItemsQuery,
    plan: FilterPlan | null,
    { count, more }: Selected,
  ): number | null | Promise<number | null> {
    // A first page that is not full has them all.
    if (!more && query.cursor === null && (count > 0 || query.offset === 0)) return query.offset + count
    if (plan) return null
    return query.box ? this.#countInBox(snapshot, query.box, query.selection) : snapshot.manifest.rows
  }

  /** Remembered, since all pages of a reading ask for it. */
  #countInBox(snapshot: Snapshot, box: BoxQuery, selection: string): number | null | Promise<number | null> {
    const key = `${snapshot.folder}
${selection}`
    const known = this.#counts.get(key)
    if (known !== undefined) return known
    const keep = (count: number | null) => {
      if (this.#counts.size >= MOST_COUNTS) this.#counts.clear()
      this.#counts.set(key, count)
      return count
    }
    const counted = countByBox(snapshot, box, this.#parts.geometries)
    return counted instanceof Promise ? counted.then(keep) : keep(counted)
  }
}
