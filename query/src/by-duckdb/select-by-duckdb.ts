import { type PositionBits, PositionRuns, quoteName, type Snapshot } from '@wayleave/geodata/features'
import type { Column } from '@wayleave/geodata/geometry'
import { queryColumns } from '@wayleave/geodata/snapshot'
import { isDecidedByTree, meets } from '../by-tree/select-by-box.ts'
import { selectByTree } from '../by-tree/select-by-tree.ts'
import type { DecideInBox } from '../cql2/evaluate/decide-in-box.ts'
import type { GeometryCache } from '../features/geometry-cache.ts'
import { queryFeature } from '../features/query-feature.ts'
import { type FeatureBlock, readBlock } from '../features/read-selected.ts'
import type { BoxQuery } from '../plan/box-query.ts'
import type { FilterPlan } from '../plan/plan-filter.ts'
import type { SortKey } from '../plan/sort-key.ts'
import type { FeatureSelection } from '../positions/feature-selection.ts'
import { PageBuilder } from '../positions/page-builder.ts'
import { positionsInBox, possiblePositions } from '../positions/positions-in-box.ts'
import type { Selected } from '../positions/selected.ts'
import type { TimedWork } from '../work/timed-work.ts'
import type { DuckdbQueries } from './duckdb-queries.ts'
import type { QueryValue } from './query-messages.ts'
import { orderSql, type RowsAfter, rowsAfter } from './sort-sql.ts'

/** Up to this number of candidates, testing each one is faster than querying the database. */
const FEW = 1000
const BATCH = 256
const BATCH_BYTES = 4 << 20
const MAX_BATCH = 16_384

export interface DuckdbSelectionDeps {
  duckdb: DuckdbQueries
  geometries: GeometryCache
  work: TimedWork
}

/** Selects features by conditions, or in an order, that depend on their values. */
export async function selectByDuckdb(
  selection: FeatureSelection,
  parts: DuckdbSelectionDeps,
): Promise<Selected> {
  const { snapshot, plan, only, sort, after, limit } = selection
  const page = new PageBuilder(selection.skip, limit)
  const isInOrder = sort.length === 0
  // A forged cursor may contain any position.
  if (after >= snapshot.manifest.rows) return page.finish()
  if (isInOrder && plan?.decide && !only) await selectByTree({ ...selection, plan }, plan.decide, page, parts)
  else {
    const region = await regionOf(selection)
    const count = region?.count()
    if (count === 0) return page.finish()
    if (isInOrder && region && count! <= FEW) await lookAtEach(selection, region, page, parts)
    else await askDuckdb(selection, region, page, parts)
  }
  return page.finish()
}

/**
 * The positions at which matches are possible according to the tree; null if the tree does not restrict them.
 */
async function regionOf({ snapshot, plan, box, only }: FeatureSelection): Promise<PositionBits | null> {
  const { tree, manifest } = snapshot
  const sets: PositionBits[] = []
  if (box) sets.push(await positionsInBox(tree, manifest.rows, box.box, true))
  if (plan?.bbox) sets.push(await positionsInBox(tree, manifest.rows, plan.bbox, false))
  if (only) sets.push(only)
  const [region, ...others] = sets
  for (const other of others) region!.intersect(other)
  return region ?? null
}

/** Tests each feature of the region, in snapshot order. */
async function lookAtEach(
  { snapshot, plan, box, after }: FeatureSelection,
  region: PositionBits,
  page: PageBuilder,
  { work }: DuckdbSelectionDeps,
): Promise<void> {
  // Nothing is left to test, such as with ids alone.
  if (plan === null && (box === null || isDecidedByTree(snapshot, box))) {
    for (let at = region.next(after + 1); at !== -1 && !page.isFull; at = region.next(at + 1)) page.add(at)
    return
  }
  let batch = 32
  for (let from = region.next(after + 1); from !== -1 && !page.isFull; ) {
    const candidates: number[] = []
    for (; from !== -1 && candidates.length < batch; from = region.next(from + 1)) candidates.push(from)
    const passed = await testValues(snapshot, candidates, plan?.matches ?? (() => true), box, work)
    for (let i = 0; i < candidates.length && !page.isFull; i++) if (passed[i]) page.add(candidates[i]!)
    batch = Math.min(BATCH, batch * 2)
  }
}

/**
 * Queries the database for candidates, in growing batches, and tests the conditions that SQL could not
 * decide.
 */
async function askDuckdb(
  { snapshot, plan, box, sort, after }: FeatureSelection,
  region: PositionBits | null,
  page: PageBuilder,
  { duckdb, geometries, work }: DuckdbSelectionDeps,
): Promise<void> {
  const columns = queryColumns(snapshot.manifest)
  const open = { exact: plan?.exact ?? null, box: box && !isDecidedByTree(snapshot, box) ? box : null }
  const isDecided = open.exact === null && open.box === null
  const source = { snapshot, columns: readColumns(plan, sort, columns) }
  const filterValues: QueryValue[] = []
  for (const parameter of plan?.sql.params ?? []) {
    filterValues.push(
      typeof parameter === 'function' ? await bitsWhere(snapshot, parameter, work) : parameter,
    )
  }
  // If SQL decides everything, the database itself skips the offset.
  const skip = isDecided ? page.takeSkip() : 0
  let size = isDecided ? page.wanted : Math.max(BATCH, Math.min(page.wanted, MAX_BATCH))
  for (let last = after, isNullsTurn = false; ; ) {
    const where: string[] = plan ? [plan.sql.where] : []
    const values: QueryValue[] = [...filterValues]
    const bind = (value: QueryValue) => `$${values.push(value)}`
    if (region) {
      where.push(`file_row_number BETWEEN ${region.next(0)} AND ${region.last()}`)
      const bits = bind(region.bytes)
      where.push(`get_bit(CAST(CAST(${bits} AS BLOB) AS BIT), CAST(file_row_number AS INTEGER)) = 1`)
    }
    let following: RowsAfter | null = null
    if (last >= 0) {
      const { properties } = queryFeature(snapshot.manifest, await snapshot.readPack(last, last + 1))
      following = rowsAfter(sort, columns, properties, last, isNullsTurn ? () => '' : bind)
      where.push(isNullsTurn ? following.nulls! : following.where)
    }
    const condition = where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`
    const rest = `${condition}${orderSql(sort, columns, condition)} LIMIT ${size} OFFSET ${skip}`
    const sql = (table: string) => `SELECT file_row_number FROM ${table}${rest}`
    const candidates = await duckdb.positions(source, sql, values, work)
    await keepPassing(snapshot, candidates, open, page, geometries, work)
    if (page.isFull) return
    if (candidates.length === size) {
      last = candidates[candidates.length - 1]!
      isNullsTurn = false
      size = Math.min(MAX_BATCH, size * 4)
    } else if (following?.nulls && !isNullsTurn) isNullsTurn = true
    else return
  }
}

async function bitsWhere(
  { tree, manifest }: Snapshot,
  decide: DecideInBox,
  work: TimedWork,
): Promise<QueryValue> {
  return (await possiblePositions(tree, manifest.rows, decide, work)).bytes
}

/** The columns that the query reads, each with the SQL that computes it from the file's columns. */
function readColumns(
  plan: FilterPlan | null,
  sort: readonly SortKey[],
  columns: readonly Column[],
): Map<string, string> {
  const names = new Set([...(plan?.sql.columns ?? []), ...sort.map(({ column }) => columns[column]!.name)])
  const plain = Array.from(names, (name): [string, string] => [name, quoteName(name)])
  return new Map([...plain, ...(plan?.sql.derived ?? [])])
}

interface Undecided {
  exact: FilterPlan['exact']
  box: BoxQuery | null
}

async function keepPassing(
  snapshot: Snapshot,
  candidates: Uint32Array,
  { exact, box }: Undecided,
  page: PageBuilder,
  geometries: GeometryCache,
  work: TimedWork,
): Promise<void> {
  for (let at = 0; at < candidates.length && !page.isFull; at += BATCH) {
    const some = [...candidates.subarray(at, at + BATCH)]
    const passed = exact
      ? await testValues(snapshot, some, exact, box, work)
      : box
        ? await testBox(snapshot, some, box, geometries, work)
        : null
    for (let i = 0; i < some.length && !page.isFull; i++) if (!passed || passed[i]) page.add(some[i]!)
    await work.next()
  }
}

async function testBox(
  snapshot: Snapshot,
  positions: number[],
  box: BoxQuery,
  geometries: GeometryCache,
  work: TimedWork,
): Promise<boolean[]> {
  const passed: boolean[] = []
  for (const position of positions) {
    await work.next()
    const cached = geometries.peek(snapshot, position)
    passed.push(meets(cached === undefined ? await geometries.read(snapshot, position) : cached, box))
  }
  return passed
}

async function testValues(
  snapshot: Snapshot,
  positions: number[],
  matches: NonNullable<FilterPlan['exact']>,
  box: BoxQuery | null,
  work: TimedWork,
): Promise<boolean[]> {
  const { manifest } = snapshot
  const passed: boolean[] = []
  while (passed.length < positions.length) {
    const some = await positionsWithin(snapshot, positions, passed.length)
    const block: FeatureBlock = await readBlock(snapshot, PositionRuns.of(some), work)
    for (let i = 0; i < some.length; i++) {
      const feature = queryFeature(manifest, block.bytes, block.starts[i], block.ends[i])
      passed.push(matches(feature) && (!box || meets(feature.geometry, box)))
      await work.next()
    }
  }
  return passed
}

/** The next positions whose features are read at once: as many as have this many bytes, but at least one. */
async function positionsWithin(snapshot: Snapshot, positions: number[], from: number): Promise<number[]> {
  const rest = positions.slice(from)
  const sizes = await snapshot.sizesOf(rest)
  let bytes = 0
  let count = 0
  do bytes += sizes[count++]!
  while (count < rest.length && bytes < BATCH_BYTES)
  return rest.slice(0, count)
}
