import { BoundedCache } from '@wayleave/geodata/base'
import {
  type ColumnCache,
  type CompiledColumn,
  PositionBits,
  quoteName,
  type Snapshot,
} from '@wayleave/geodata/features'
import { type Bbox, type Column, roundOutward } from '@wayleave/geodata/geometry'
import type { CompiledSelection } from '../by-codes/compiled-selection.ts'
import type { DuckdbQueries } from '../by-duckdb/duckdb-queries.ts'
import type { GeometryCache } from '../features/geometry-cache.ts'
import { eachMatch } from '../page/each-match.ts'
import type { BoxQuery } from '../plan/box-query.ts'
import type { FilterPlan } from '../plan/plan-filter.ts'
import type { TimedWork } from '../work/timed-work.ts'
import { type Facet, FacetCounts } from './facet-counts.ts'
import { MatchedExtent } from './matched-extent.ts'
import { MatchedPositions } from './matched-positions.ts'

export interface FacetDeps {
  columns: ColumnCache
  compiled: CompiledSelection
  geometries: GeometryCache
  duckdb: DuckdbQueries
}

/** What is counted. */
export interface FacetQuery {
  /** The indexes of the columns. */
  columns: readonly number[]
  /** The max number of values per column. */
  limit: number
  /** The number of intervals of a histogram. */
  bins: number
  /** Whether the extent of the features is computed. */
  extent: boolean
  /** Which features are counted, beside the conditions that a plan holds. */
  box: BoxQuery | null
  /** Everything that determines which features match; what the database has counted is cached by it. */
  selection: string
}

export interface FacetResult {
  matched: number
  /** The bounding box of the features in degrees; null if none has a place, undefined if it was not asked for. */
  extent: Bbox | null | undefined
  /** By column name, in the order of the request. */
  facets: [name: string, facet: Facet][]
}

/** The memory of the cached facets of one snapshot, in bytes. */
const MAX_CACHED_BYTES = 4 << 20

/** Counts the values of columns among the features that match a query, and finds the extent of these features. */
export class Facets {
  readonly #parts: FacetDeps
  /** What the database has counted, which takes more than half a second for a million texts. */
  readonly #counted = new WeakMap<Snapshot, BoundedCache<string, Facet>>()

  constructor(parts: FacetDeps) {
    this.#parts = parts
  }

  async count(
    snapshot: Snapshot,
    query: FacetQuery,
    plan: FilterPlan | null,
    work: TimedWork,
  ): Promise<FacetResult> {
    const { limit, bins, box } = query
    const columns = query.columns.map((index) => snapshot.manifest.columns[index]!)
    const compiled = new Map<string, FacetCounts>()
    const isAll = plan === null && box === null
    const isBoxOnly = plan === null && box !== null
    // A filter beside the box reads its columns as a whole.
    const segments = isBoxOnly ? await this.#parts.columns.segmentsInBox(snapshot, box.box) : null
    for (const { name } of columns) {
      work.check()
      const column = await this.#loadColumn(snapshot, name, { isAll, segments, query })
      if (column) compiled.set(name, new FacetCounts(column, limit, bins))
    }
    const { rows } = snapshot.manifest
    const counts = [...compiled.values()]
    const cached = this.#cachedOf(snapshot)
    const keyOf = ({ name }: Column) => JSON.stringify([name, limit, query.selection])
    const isCounted = (column: Column) => compiled.has(column.name) || cached.get(keyOf(column)) !== undefined
    // The database counts what is not compiled; it gets the matching positions as a parameter.
    const bits = !columns.every(isCounted) && !isAll ? PositionBits.empty(rows) : null
    let matched = rows
    let extent: FacetResult['extent']
    if (isAll) {
      for (const count of counts) count.addAll()
      if (query.extent) extent = snapshot.manifest.bbox && roundOutward(snapshot.manifest.bbox)
    } else {
      for (const count of counts) await count.prepare(work)
      const matchedExtent = query.extent ? new MatchedExtent(snapshot.tree) : null
      const matches = new MatchedPositions(counts, bits, matchedExtent)
      await eachMatch({ snapshot, box: query.box, plan }, matches, work, this.#parts)
      matches.finish()
      matched = matches.count
      extent = await matchedExtent?.result(work)
    }
    const facets: FacetResult['facets'] = []
    for (const column of columns) {
      let facet = compiled.get(column.name)?.result() ?? cached.get(keyOf(column))
      if (facet === undefined) {
        facet = await this.#countByDuckdb(snapshot, column, bits, limit, matched, work)
        cached.set(keyOf(column), facet)
      }
      facets.push([column.name, facet])
    }
    return { matched, extent, facets }
  }

  /**
   * To count all features, the posting lists of a large column are enough. To count those of a box, the segments in which
   * they are; but intervals are looked up once for all features.
   */
  async #loadColumn(
    snapshot: Snapshot,
    name: string,
    { isAll, segments, query }: { isAll: boolean; segments: ReadonlySet<number> | null; query: FacetQuery },
  ): Promise<CompiledColumn | null> {
    const { columns } = this.#parts
    const lists = isAll || segments ? await columns.loadLists(snapshot, name) : null
    if (lists && isAll) return lists
    if (lists && segments && !new FacetCounts(lists, query.limit, query.bins).isByBin)
      return columns.loadSegments(snapshot, name, segments)
    return columns.load(snapshot, name)
  }

  #cachedOf(snapshot: Snapshot): BoundedCache<string, Facet> {
    let cached = this.#counted.get(snapshot)
    if (cached === undefined) {
      cached = new BoundedCache(MAX_CACHED_BYTES, bytesOf)
      this.#counted.set(snapshot, cached)
    }
    return cached
  }

  /** Counts a column that is not compiled, in the database. `bits` has the matching positions; null means all. */
  async #countByDuckdb(
    snapshot: Snapshot,
    { name, type }: Column,
    bits: PositionBits | null,
    limit: number,
    matched: number,
    work: TimedWork,
  ): Promise<Facet> {
    const column = quoteName(name)
    const where = bits
      ? ' WHERE get_bit(CAST(CAST($1 AS BLOB) AS BIT), CAST(file_row_number AS INTEGER)) = 1'
      : ''
    const source = { snapshot, columns: new Map([[name, column]]) }
    const bound = bits ? [bits.bytes] : []
    const shown =
      type === 'timestamp' ? `replace(value::TIMESTAMP::VARCHAR, ' ', 'T') || 'Z'` : 'value::VARCHAR'
    // Nulls are a group of their own, which comes first and is not limited.
    const sql = (from: string) => {
      const groups = `SELECT ${column} AS value, count(*) AS count FROM ${from}${where} GROUP BY 1`
      return `SELECT ${shown}, count::VARCHAR FROM (${groups}) ORDER BY value IS NOT NULL, count DESC, value LIMIT ${limit + 1}`
    }
    const groups = await this.#parts.duckdb.texts(source, sql, bound, work)
    const nulls = groups[0]?.[0] === null ? Number(groups[0][1]) : 0
    const values = groups
      .filter(([value]) => value !== null)
      .slice(0, limit)
      .map(([value, count]) => ({ value: parsed(type, value!), count: Number(count) }))
    const others = values.reduce((rest, { count }) => rest - count, matched - nulls)
    return { type, nulls, values, others }
  }
}

function bytesOf({ values = [] }: Facet, key: string): number {
  return values.reduce((sum, { value }) => sum + String(value).length * 2 + 50, key.length * 2 + 200)
}

function parsed(type: Column['type'], text: string): string | number | bigint | boolean {
  switch (type) {
    case 'boolean':
      return text === 'true'
    case 'number':
      return Number(text)
    case 'integer':
      return Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text)
    case 'text':
    case 'date':
    case 'timestamp':
    case 'json':
      return text
  }
}
