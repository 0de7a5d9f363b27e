import type { ColumnCache, CompiledColumn, Snapshot } from '@wayleave/geodata/features'
import type { Column } from '@wayleave/geodata/geometry'
import { queryColumns } from '@wayleave/geodata/snapshot'
import type { CompiledSelection } from '../by-codes/compiled-selection.ts'
import type { DuckdbQueries } from '../by-duckdb/duckdb-queries.ts'
import type { GeometryCache } from '../features/geometry-cache.ts'
import { eachMatch } from '../page/each-match.ts'
import type { FilterPlan } from '../plan/plan-filter.ts'
import { FairQueue } from '../work/fair-queue.ts'
import type { TimedWork } from '../work/timed-work.ts'
import type { AggregateQuery, AggregateResult, Dimension, Named } from './aggregate-query.ts'
import { DecodedColumns } from './columns/decoded-columns.ts'
import { RankedColumns } from './columns/ranked-columns.ts'
import { GeometrySizes } from './geometries/geometry-sizes.ts'
import { InGeometryThread } from './geometries/in-geometry-thread.ts'
import { columnGroups } from './groups/column-groups.ts'
import type { GroupDimension } from './groups/group-dimension.ts'
import { GroupNumbers } from './groups/group-numbers.ts'
import { MatchedGroups } from './matched-groups.ts'
import { groupOfPosition } from './measures/group-measure.ts'
import { GroupMeasures } from './measures/group-measures.ts'
import { cellGroups } from './places/cell-groups.ts'
import { cellGrid } from './places/map-cells.ts'
import { ZoneCache } from './places/zone-groups.ts'
import { GroupPage, type ReadValues } from './result/group-page.ts'

export interface AggregateDeps {
  columns: ColumnCache
  compiled: CompiledSelection
  geometries: GeometryCache
  duckdb: DuckdbQueries
}

/** The memory of all queries that need the group of every position, in bytes, and of one owner's. */
const WALK_MEMORY = 256 << 20
const MAX_WAIT_MS = 3000

/** Groups the features that match a query and computes measures of each group. */
export class Aggregates {
  readonly #deps: AggregateDeps
  readonly #zones: ZoneCache
  readonly #sizes: GeometrySizes
  readonly #ranked: RankedColumns
  readonly #memory = new FairQueue({
    capacity: WALK_MEMORY,
    share: WALK_MEMORY / 2,
    maxWaitMs: MAX_WAIT_MS,
    limit: 'aggregates',
  })

  constructor(deps: AggregateDeps) {
    this.#deps = deps
    const thread = new InGeometryThread()
    this.#zones = new ZoneCache(deps.columns, thread)
    this.#sizes = new GeometrySizes(deps.columns, thread)
    this.#ranked = new RankedColumns(deps.duckdb, deps.columns)
  }

  async compute(
    snapshot: Snapshot,
    query: AggregateQuery,
    plan: FilterPlan | null,
    work: TimedWork,
  ): Promise<AggregateResult> {
    const { rows } = snapshot.manifest
    const columns = await this.#columnsOf(snapshot, query, work)
    const decoded = new DecodedColumns(this.#deps.columns, snapshot)
    for (const measure of query.measures) {
      if (measure.kind === 'sum' || measure.kind === 'mean')
        await decoded.loadSummands(columns.get(measure.column)!, work)
      if (measure.kind === 'stddev') await decoded.loadNumbers(columns.get(measure.column)!, work)
    }
    const dimensions: GroupDimension[] = []
    for (const dimension of query.groupby)
      dimensions.push(await this.#dimension(snapshot, dimension, columns, decoded, work))
    const numbers = new GroupNumbers(dimensions, query.measures.length, rows)
    const measures = new GroupMeasures(
      query.measures,
      { columns, decoded, sizes: await this.#sizesOf(snapshot, query, work) },
      numbers.capacity,
    )
    const needsGroups = measures.walks.length > 0
    const hold = needsGroups ? await this.#memory.acquire(work.owner, rows * 4, work.signal) : null
    try {
      const groupOf = needsGroups ? groupOfPosition(rows, numbers.capacity) : null
      const matches = new MatchedGroups(numbers, measures, decoded, groupOf)
      await eachMatch({ snapshot, box: query.box, plan }, matches, work, this.#deps)
      matches.finish()
      for (const walk of measures.walks) await walk.run(groupOf!, work)
    } finally {
      hold?.release()
    }
    const isRanked = columns.values().some((column) => this.#ranked.has(column))
    const readValues: ReadValues = isRanked
      ? (column, codes) => this.#ranked.read(snapshot, column, codes, work)
      : null
    return new GroupPage(query, { dimensions, numbers, measures, readValues }).read(work)
  }

  async #columnsOf(
    snapshot: Snapshot,
    { groupby, measures }: AggregateQuery,
    work: TimedWork,
  ): Promise<Map<string, CompiledColumn>> {
    const names = new Set<string>()
    for (const part of [...groupby, ...measures]) {
      if ('column' in part) names.add(part.column)
      if ('time' in part) names.add(part.time)
    }
    const columns = new Map<string, CompiledColumn>()
    // These are found in the sorted order of a column.
    const ordered = new Set(
      measures.flatMap((part) => (part.kind === 'distinct' || part.kind === 'percentile' ? part.column : [])),
    )
    for (const name of names) {
      const { columns: cache } = this.#deps
      const column = await (ordered.has(name) ? cache.loadOrder(snapshot, name) : cache.load(snapshot, name))
      work.check()
      columns.set(name, column ?? (await this.#ranked.load(snapshot, columnNamed(snapshot, name), work)))
    }
    return columns
  }

  async #dimension(
    snapshot: Snapshot,
    dimension: Named<Dimension>,
    columns: ReadonlyMap<string, CompiledColumn>,
    decoded: DecodedColumns,
    work: TimedWork,
  ): Promise<GroupDimension> {
    if ('column' in dimension) return columnGroups(dimension, columns.get(dimension.column)!, decoded, work)
    const places = await this.#placesOf(snapshot, work)
    if (dimension.kind !== 'within')
      return cellGroups(dimension.name, snapshot, await cellGrid(dimension), places, this.#deps.columns)
    const { name, zones, label } = dimension
    return this.#zones.groups({ name, snapshot, zones, label, places }, work)
  }

  /** Points have their own coordinates, other shapes a point that lies on them. */
  async #placesOf(snapshot: Snapshot, work: TimedWork): Promise<Float64Array> {
    const { tree } = snapshot
    if (!tree.isPoints) return this.#sizes.load(snapshot, 'point', work)
    return tree.leaves ?? this.#readPoints(snapshot)
  }

  /** The points of a snapshot whose index is read by blocks. */
  async #readPoints(snapshot: Snapshot): Promise<Float64Array> {
    const { columns } = this.#deps
    const key = `${snapshot.folder}\nleaves`
    let points = columns.derived<Float64Array>(key)
    if (points === undefined) {
      points = await snapshot.readLeaves()
      columns.keep(key, points, points.byteLength)
    }
    return points
  }

  async #sizesOf(
    snapshot: Snapshot,
    { measures }: AggregateQuery,
    work: TimedWork,
  ): Promise<{ area?: Float64Array; length?: Float64Array }> {
    const sizes: { area?: Float64Array; length?: Float64Array } = {}
    for (const { kind } of measures)
      if (kind === 'area' || kind === 'length') sizes[kind] = await this.#sizes.load(snapshot, kind, work)
    return sizes
  }
}

function columnNamed({ manifest }: Snapshot, name: string): Column {
  return queryColumns(manifest).find((column) => column.name === name)!
}
