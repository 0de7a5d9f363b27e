import type { ColumnCache, CompiledColumn, Snapshot } from '@wayleave/geodata/features'
import { queryColumns } from '@wayleave/geodata/snapshot'
import { columnsOf } from '../cql2/columns-of.ts'
import type { Condition } from '../cql2/condition.ts'
import type { GeometryCache } from '../features/geometry-cache.ts'
import { runSliced, type SlicedWork } from '../features/sliced-work.ts'
import type { BoxQuery } from '../plan/box-query.ts'
import type { FeatureQuery } from '../plan/feature-query.ts'
import type { FilterPlan } from '../plan/plan-filter.ts'
import type { SortKey } from '../plan/sort-key.ts'
import { begin, type MaybeUnfinished, need, type Steps } from '../work/unfinished.ts'
import { BoxTest } from './box-test.ts'
import { compileCondition } from './compile-condition.ts'
import { CompiledFilters } from './compiled-filters.ts'
import { PlaceMasks } from './place-masks.ts'
import { PositionFilter } from './position-filter.ts'
import { isDecidedByLists, isWorthListing, MAX_CANDIDATES, type ScanSource } from './position-scan.ts'

const MAX_ATTEMPTS = 3
const NO_COLUMNS: ReadonlyMap<string, CompiledColumn> = new Map()

/** The part of a request that compiled columns can decide. */
export interface CompiledRequest {
  snapshot: Snapshot
  condition: Condition | null
  sort: readonly SortKey[]
  box: BoxQuery | null
  /**
   * About how many matches are needed; Infinity if all are. A page in snapshot order that is filtered by the geometry
   * alone is searched in the tree, which stops when the page is full.
   */
  wanted: number
  /** Whether only the number of matches is needed. */
  isCount?: boolean
}

/** A request whose columns are loaded and whose filter is compiled. */
export interface PreparedRequest extends ScanSource {
  /** The column to sort by; null for snapshot order. */
  order: { column: CompiledColumn; isDescending: boolean } | null
}

/** Loads the columns of requests, compiles their filters, and runs their searches in time slices. */
export class CompiledSelection {
  readonly #columns: ColumnCache
  readonly #geometries: GeometryCache
  readonly #places: PlaceMasks
  readonly #filters = new CompiledFilters()

  constructor(columns: ColumnCache, geometries: GeometryCache) {
    this.#columns = columns
    this.#geometries = geometries
    this.#places = new PlaceMasks(geometries)
    columns.onEvict = () => this.#filters.clear()
  }

  /** Null if the database has to decide. Throws a DamagedSnapshotError. */
  prepare(request: CompiledRequest): MaybeUnfinished<PreparedRequest | null> {
    const { snapshot, condition, sort } = request
    const known = condition && sort.length === 0 && this.#filters.get(snapshot, condition)
    if (!known) return begin(this.#prepareSteps(request))
    const source = this.#source(request, known.filter)
    if (needsList(request, source) || needsCodes(request, known.filter))
      return begin(this.#prepareSteps(request))
    // They count as used.
    for (const name of known.columns) {
      if (known.filter.hasCodes) this.#columns.peek(snapshot, name)
      else this.#columns.peekLists(snapshot, name)
    }
    return prepared(request, source, NO_COLUMNS)
  }

  *#prepareSteps(request: CompiledRequest): Steps<PreparedRequest | null> {
    const { snapshot, condition } = request
    const names = columnNames(request)
    if (names === null) return null
    const listed = yield* this.#prepareListed(request, names)
    if (listed) return listed
    const columns = new Map<string, CompiledColumn>()
    const sortName = sortNameOf(request)
    let isInMemory = true
    for (const name of names) {
      const isOrdered = name === sortName
      let column = this.#columns.peek(snapshot, name)
      if (column === undefined || (isOrdered && column?.sorted === null)) {
        isInMemory = false
        column = yield* this.#load(snapshot, name, isOrdered)
      }
      if (column === null) return null
      columns.set(name, column)
    }
    if (condition === null) return prepared(request, this.#source(request, null), columns)
    // Another filter may evict the results of this one before they are used.
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const expression = this.#compile(snapshot, condition, columns)
      if (expression === null) return null
      if (!Array.isArray(expression)) {
        const filter = new PositionFilter(expression, snapshot.manifest.rows)
        const source = this.#source(request, filter)
        if (needsList(request, source) && !filter.listCandidates()) {
          isInMemory = false
          yield* this.#loadCandidates(snapshot, filter)
        }
        // Loading one column may have evicted another one of the filter.
        if (isInMemory && filter.isSmall) this.#filters.keep(snapshot, condition, filter)
        return prepared(request, source, columns)
      }
      isInMemory = false
      yield* need(async (work) => {
        for (const pending of expression) await pending.evaluate(() => work.next())
      })
    }
    return null
  }

  /**
   * A filter for few values of one column whose posting lists are stored: its codes are not needed. Null if the filter
   * is another one, or if the codes are in memory anyway.
   */
  *#prepareListed(request: CompiledRequest, names: ReadonlySet<string>): Steps<PreparedRequest | null> {
    const { snapshot, condition, sort } = request
    const [name] = names
    if (condition === null || name === undefined || names.size > 1 || sort.length > 0) return null
    const inMemory = this.#columns.peekLists(snapshot, name)
    if (inMemory === null || this.#columns.peek(snapshot, name)) return null
    const column = inMemory ?? (yield* this.#loadLists(snapshot, name))
    if (column === null) return null
    const columns = new Map([[name, column]])
    const expression = this.#compile(snapshot, condition, columns)
    if (expression === null || Array.isArray(expression)) return null
    const filter = new PositionFilter(expression, snapshot.manifest.rows)
    if (!filter.areCandidatesExact || !isDecidedByLists(filter, request)) return null
    if (isListed(filter)) {
      if (inMemory && filter.isSmall) this.#filters.keep(snapshot, condition, filter)
    } else {
      yield* this.#loadCandidates(snapshot, filter)
      if (!isListed(filter)) return null
    }
    return prepared(request, this.#source(request, filter), NO_COLUMNS)
  }

  /** Makes the candidates of a filter known, by the orders of their columns. */
  *#loadCandidates(snapshot: Snapshot, filter: PositionFilter): Steps<void> {
    for (const { column } of filter.candidates!) {
      if (column.sorted === null) yield* this.#load(snapshot, column.name, true)
      // There is no room for its order.
      if (column.sorted === null) return
    }
    // What was read may have been evicted by other requests.
    for (let attempt = 0; attempt < MAX_ATTEMPTS && !isListed(filter); attempt++)
      yield* need(() => filter.loadCandidates())
  }

  #loadLists(snapshot: Snapshot, name: string): Steps<CompiledColumn | null> {
    return need(async (work) => {
      const column = await this.#columns.loadLists(snapshot, name)
      work.check()
      return column
    })
  }

  /** `isOrdered`: with the sorted order. */
  #load(snapshot: Snapshot, name: string, isOrdered: boolean): Steps<CompiledColumn | null> {
    return need(async (work) => {
      const column = await this.#columns.load(snapshot, name)
      const isMissing = isOrdered && column?.sorted === null
      const ordered = isMissing ? await this.#columns.loadOrder(snapshot, name) : column
      work.check()
      return ordered
    })
  }

  #compile(snapshot: Snapshot, condition: Condition, columns: ReadonlyMap<string, CompiledColumn>) {
    return compileCondition(condition, columns, (part, isTrue) => this.#places.of(snapshot, part, isTrue))
  }

  #source({ snapshot, box }: CompiledRequest, filter: PositionFilter | null): ScanSource {
    return { snapshot, filter, box: box && new BoxTest(snapshot, box, this.#geometries) }
  }

  /** Runs a search to its end, as `runSliced` does. */
  run(search: SlicedWork, snapshot: Snapshot): MaybeUnfinished<true> {
    return runSliced(search, snapshot, this.#geometries)
  }
}

function prepared(
  request: CompiledRequest,
  source: ScanSource,
  columns: ReadonlyMap<string, CompiledColumn>,
): PreparedRequest {
  const [key] = request.sort
  const sortColumn = key && columns.get(sortNameOf(request)!)!
  return { ...source, order: sortColumn ? { column: sortColumn, isDescending: key.descending } : null }
}

/** Whether the candidates of the filter have to be listed, because the request is faster with them. */
function needsList({ sort, wanted, isCount }: CompiledRequest, source: ScanSource): boolean {
  const { filter, box } = source
  // Posting lists are counted by their lengths, or by parts.
  if (isCount && box === null && (filter?.exactCount !== null || filter?.candidateList)) return false
  // Sorting needs all matches.
  return isWorthListing(source, sort.length > 0 ? Infinity : wanted)
}

/** Whether a filter whose column is loaded with its posting lists alone cannot be used for the request. */
function needsCodes(request: CompiledRequest, filter: PositionFilter): boolean {
  return !filter.hasCodes && !isDecidedByLists(filter, request)
}

/** Whether the candidates of a filter are known, or too many to be used. */
function isListed(filter: PositionFilter): boolean {
  if (filter.candidates === null || filter.candidateCount > MAX_CANDIDATES) return true
  return filter.areCandidatesListed || filter.listCandidates()
}

/** The name of the first column to sort by. */
function sortNameOf({ snapshot, sort }: Pick<CompiledRequest, 'snapshot' | 'sort'>): string | undefined {
  return sort[0] && queryColumns(snapshot.manifest)[sort[0].column]!.name
}

/** The columns that have to be loaded; null if the request is one for the database. */
function columnNames({ snapshot, condition, sort, wanted }: CompiledRequest): Set<string> | null {
  if (sort.length > 1) return null
  const names = new Set<string>()
  if (condition) {
    const { columns, geometry } = columnsOf(condition)
    if (geometry && columns.length === 0 && sort.length === 0 && wanted < Infinity) return null
    for (const name of columns) names.add(name)
  }
  for (const { column } of sort) names.add(queryColumns(snapshot.manifest)[column]!.name)
  return names
}

/** The request of a query. `plan` is made of its conditions. */
export function compiledRequest(
  snapshot: Snapshot,
  { box, sort }: FeatureQuery,
  plan: FilterPlan | null,
  wanted: number,
): CompiledRequest {
  return { snapshot, condition: plan?.condition ?? null, sort, box, wanted }
}
