import { setImmediate as nextTurn } from 'node:timers/promises'
import { DuckDBBlobValue, type DuckDBValue } from '@duckdb/node-api'
import type { Snapshot } from '@wayleave/geodata/snapshot/open.ts'
import type { BoxQuery } from './box-query.ts'
import type { FilterPlan } from './cql2/plan-filter.ts'
import type { GeometryCache } from './geometry-cache.ts'
import { parseFeature } from './parse-feature.ts'
import { PositionSet } from './position-set.ts'
import { type FeatureBlock, readBlock } from './read-selected.ts'
import { type RowQueries, rowsTable } from './row-queries.ts'
import { isDecidedByTree, meets } from './select-by-box.ts'
import { type Selected, selectFound } from './selected.ts'
import type { SortKey } from './sort-keys.ts'
import { afterRow, orderSql } from './sort-sql.ts'
import { SLICE_MS } from './take-turns.ts'

/** Candidates so few are looked at one by one sooner than the database is asked. */
const FEW = 1000
const BATCH = 256
const LARGEST_BATCH = 16_384

export interface RowSelection {
  snapshot: Snapshot
  plan: FilterPlan | null
  box: BoxQuery | null
  sort: readonly SortKey[]
  /** The last position of the page before; -1 at the beginning. */
  after: number
  skip: number
  limit: number
}

export interface RowSelectionParts {
  rows: RowQueries
  geometries: GeometryCache
  signal: AbortSignal
}

/** The features that meet conditions, or in an order, that only their values can tell. */
export async function selectByRows(asked: RowSelection, parts: RowSelectionParts): Promise<Selected> {
  const { snapshot, plan, box, sort, limit } = asked
  const region = regionOf(snapshot, plan, box)
  if (region?.count === 0) return selectFound(new Uint32Array(0), 0, limit)
  const page = new PageUnderWay(asked.skip, limit)
  const isFew = region !== null && region.count <= FEW
  if (sort.length === 0 && plan && (isFew || plan.isSpatialOnly)) await lookAtEach(asked, region, page, parts)
  else await askRows(asked, region, page, parts)
  return { ...selectFound(page.positions, page.count, limit), ascending: sort.length === 0 }
}

/** Matches as they come: the first `skip` are passed over, and one more than the limit is wanted. */
class PageUnderWay {
  readonly positions: Uint32Array
  count = 0
  #skip: number

  constructor(skip: number, limit: number) {
    this.#skip = skip
    this.positions = new Uint32Array(limit + 1)
  }

  get isFull(): boolean {
    return this.count === this.positions.length
  }

  /** How many more matches are wanted. */
  get wanted(): number {
    return this.#skip + this.positions.length - this.count
  }

  takeSkip(): number {
    const skip = this.#skip
    this.#skip = 0
    return skip
  }

  add(position: number): void {
    if (this.#skip > 0) this.#skip--
    else this.positions[this.count++] = position
  }
}

/** Where matches can be at all, as far as the tree knows; null where it knows nothing. */
function regionOf(snapshot: Snapshot, plan: FilterPlan | null, box: BoxQuery | null): PositionSet | null {
  const { tree, manifest } = snapshot
  const boxes = [box?.box, plan?.bbox].filter((known) => known != null)
  const [region, other] = boxes.map((known) => PositionSet.inBox(tree, manifest.rows, known))
  if (region && other) region.intersect(other)
  return region ?? null
}

/** Goes through the region, or through all features, in snapshot order. */
async function lookAtEach(
  { snapshot, plan, box, after }: RowSelection,
  region: PositionSet | null,
  page: PageUnderWay,
  { signal, geometries }: RowSelectionParts,
): Promise<void> {
  const { located } = snapshot.manifest
  const next = (from: number) => (region ? region.next(from) : from < located ? from : -1)
  const test = async (candidates: number[]) => {
    if (!plan!.isSpatialOnly) return testValues(snapshot, candidates, plan!.matches, box)
    const passed: boolean[] = []
    for (const position of candidates) {
      const known = geometries.peek(snapshot, position)
      const geometry = known === undefined ? await geometries.read(snapshot, position) : known
      passed.push(plan!.matches({ properties: {}, geometry }) && (!box || meets(geometry, box)))
    }
    return passed
  }
  let batch = 32
  let sliceEnd = performance.now() + SLICE_MS
  for (let from = next(after + 1); from !== -1 && !page.isFull; ) {
    const candidates: number[] = []
    for (; from !== -1 && candidates.length < batch; from = next(from + 1)) candidates.push(from)
    const passed = await test(candidates)
    for (let i = 0; i < candidates.length && !page.isFull; i++) if (passed[i]) page.add(candidates[i]!)
    batch = Math.min(BATCH, batch * 2)
    if (performance.now() < sliceEnd) continue
    await nextTurn()
    signal.throwIfAborted()
    sliceEnd = performance.now() + SLICE_MS
  }
}

/** Asks the database for candidates, ever more at once, and tests what it could not decide. */
async function askRows(
  { snapshot, plan, box, sort, after }: RowSelection,
  region: PositionSet | null,
  page: PageUnderWay,
  { rows, geometries, signal }: RowSelectionParts,
): Promise<void> {
  const { columns } = snapshot.manifest
  const open = { exact: plan?.exact ?? null, box: box && !isDecidedByTree(snapshot, box) ? box : null }
  const isDecided = open.exact === null && open.box === null
  // What is decided is passed over by the database itself.
  const skip = isDecided ? page.takeSkip() : 0
  let size = isDecided ? page.wanted : Math.max(BATCH, Math.min(page.wanted, LARGEST_BATCH))
  for (let last = after; ; ) {
    const where: string[] = plan ? [plan.sql.where] : []
    const values: DuckDBValue[] = [...(plan?.sql.params ?? [])]
    const bind = (value: DuckDBValue) => `$${values.push(value)}`
    if (region) {
      where.push(`file_row_number BETWEEN ${region.first} AND ${region.last}`)
      const bits = bind(new DuckDBBlobValue(region.bytes))
      where.push(`get_bit(CAST(CAST(${bits} AS BLOB) AS BIT), CAST(file_row_number AS INTEGER)) = 1`)
    }
    if (last >= 0) {
      if (sort.length === 0) where.push(`file_row_number > ${last}`)
      else {
        const feature = parseFeature(await snapshot.readPack(last, last + 1))
        where.push(afterRow(sort, columns, feature.properties, last, bind))
      }
    }
    const condition = where.length === 0 ? '' : ` WHERE ${where.join(' AND ')}`
    const sql = `SELECT file_row_number FROM ${rowsTable(snapshot)}${condition}${orderSql(sort, columns)} LIMIT ${size} OFFSET ${skip}`
    const found = await rows.positions(sql, values, signal)
    await keepPassing(snapshot, found, open, page, geometries)
    if (page.isFull || found.length < size) return
    last = found[found.length - 1]!
    size = Math.min(LARGEST_BATCH, size * 4)
  }
}

interface Undecided {
  exact: FilterPlan['exact']
  box: BoxQuery | null
}

async function keepPassing(
  snapshot: Snapshot,
  found: Uint32Array,
  { exact, box }: Undecided,
  page: PageUnderWay,
  geometries: GeometryCache,
): Promise<void> {
  let sliceEnd = performance.now() + SLICE_MS
  for (let at = 0; at < found.length && !page.isFull; at += BATCH) {
    const some = [...found.subarray(at, at + BATCH)]
    const passed = exact
      ? await testValues(snapshot, some, exact, box)
      : box
        ? await testBox(snapshot, some, box, geometries)
        : null
    for (let i = 0; i < some.length && !page.isFull; i++) if (!passed || passed[i]) page.add(some[i]!)
    if (performance.now() < sliceEnd) continue
    await nextTurn()
    sliceEnd = performance.now() + SLICE_MS
  }
}

async function testBox(
  snapshot: Snapshot,
  positions: number[],
  box: BoxQuery,
  geometries: GeometryCache,
): Promise<boolean[]> {
  const passed: boolean[] = []
  for (const position of positions) {
    const known = geometries.peek(snapshot, position)
    passed.push(meets(known === undefined ? await geometries.read(snapshot, position) : known, box))
  }
  return passed
}

async function testValues(
  snapshot: Snapshot,
  positions: number[],
  matches: NonNullable<FilterPlan['exact']>,
  box: BoxQuery | null,
): Promise<boolean[]> {
  const ascending = positions.every((position, i) => i === 0 || position > positions[i - 1]!)
  const block: FeatureBlock = await readBlock(snapshot, {
    positions: Uint32Array.from(positions),
    first: -1,
    count: positions.length,
    ascending,
    more: false,
  })
  return positions.map((_, i) => {
    const feature = parseFeature(block.bytes, block.starts[i], block.ends[i])
    return matches(feature) && (!box || meets(feature.geometry, box))
  })
}
