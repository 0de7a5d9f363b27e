import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ColumnCache, type Snapshot } from '@wayleave/geodata/features'
import { PositionScan } from '../by-codes/position-scan.ts'
import type { DuckdbQueries } from '../by-duckdb/duckdb-queries.ts'
import { ENDED } from '../features/sliced-work.ts'
import { WatchedWork, watched } from '../testing/watched-work.ts'
import type { AggregateQuery } from './aggregate-query.ts'
import { DecodedColumns } from './columns/decoded-columns.ts'
import { RankedColumns } from './columns/ranked-columns.ts'
import type { GroupDimension } from './groups/group-dimension.ts'
import { GroupNumbers } from './groups/group-numbers.ts'
import { MatchedGroups } from './matched-groups.ts'
import { GroupMeasures } from './measures/group-measures.ts'
import { PercentileCodes } from './measures/measure-walks.ts'
import { cellGroups } from './places/cell-groups.ts'
import { GroupPage } from './result/group-page.ts'

// How many groups or values are looked at before others can be served. What a limit allows takes about a millisecond.

const GROUPS = 50_000

/** Groups with one feature each. */
function groupsOf(work: WatchedWork) {
  const dimension: GroupDimension = {
    size: GROUPS,
    columns: [{ name: 'place', type: 'integer' }],
    number: (_, groups) => groups,
    values(group) {
      work.did()
      return [group]
    },
    order(group) {
      work.did()
      return GROUPS - group
    },
    async geometry() {
      work.did()
      return Buffer.from('{}')
    },
  }
  const numbers = new GroupNumbers([dimension], 1, GROUPS)
  const data = { columns: new Map(), decoded: {} as DecodedColumns, sizes: {} }
  const measures = new GroupMeasures([{ kind: 'count', name: 'count' }], data, numbers.capacity)
  measures.counts.fill(1)
  return { dimensions: [dimension], numbers, measures, readValues: null }
}

function page(more: Partial<AggregateQuery> = {}): AggregateQuery {
  return {
    groupby: [],
    measures: [],
    having: null,
    sort: [],
    offset: 0,
    limit: 10_000,
    others: false,
    geometry: null,
    box: null,
    ...more,
  }
}

test('groups are sorted, tested and shown in turns', async () => {
  for (const [query, max] of [
    [page(), 256],
    [page({ sort: [{ name: 'place', isDescending: true }] }), 256],
    [page({ geometry: 'geojson' }), 256],
    [page({ having: 'place > 10' }), 256],
    [page({ having: 'place > 10', limit: 0 }), 16],
  ] as const) {
    const work = new WatchedWork()
    const { rows, numberGroups } = await new GroupPage(query, groupsOf(work)).read(work)
    const having = query.having === null ? 0 : 11
    assert.equal(numberGroups, GROUPS - having)
    assert.equal(rows.length, query.limit)
    assert.ok(work.longest <= max, `${work.longest}: ${JSON.stringify(query)}`)
  }
})

test('geometries of groups are written in turns', async () => {
  const work = new WatchedWork()
  const parts = groupsOf(work)
  // Counted alone.
  const [dimension] = parts.dimensions
  dimension!.order = (group) => group
  dimension!.values = (group) => [group]
  const { geometries } = await new GroupPage(page({ geometry: 'geojson' }), parts).read(work)
  assert.equal(geometries!.length, 10_000)
  assert.equal(work.longest, 1)
})

test('a percentile of many groups begins in turns', async () => {
  const work = new WatchedWork()
  const counts = watched(new Uint32Array(GROUPS).fill(3), work)
  await new PercentileCodes(50, counts).begin(work)
  assert.ok(work.longest > 0 && work.longest <= 4096, String(work.longest))
})

test('texts that the database has ranked are read in turns', async () => {
  const work = new WatchedWork()
  const codes = Uint32Array.from({ length: GROUPS }, (_, i) => i + 1)
  const bytes = Buffer.from(Array.from(codes, (code) => `t${code};`).join(''))
  let end = 0
  const ends = codes.map((code) => (end += `t${code};`.length))
  const duckdb = {
    positions: async () => codes,
    textsAt: async () => ({ positions: codes.map((code) => code - 1), ends: watched(ends, work), bytes }),
  } as unknown as DuckdbQueries
  const cache = new ColumnCache(1 << 26)
  const ranked = new RankedColumns(duckdb, cache)
  const snapshot = { folder: 'a' } as Snapshot
  const column = await ranked.load(snapshot, { name: 'name', type: 'text', nullable: false }, work)
  work.longest = 0
  await ranked.read(snapshot, column, [watched(codes, work)], work)
  assert.equal(column.value(GROUPS), `t${GROUPS};`)
  assert.ok(work.longest > 0 && work.longest <= 1 << 15, String(work.longest))
})

test('cells are computed in turns, and known ones are numbered block by block', () => {
  const work = new WatchedWork()
  const grid = {
    name: 'grid',
    count: 100,
    cellAt: (longitude: number) => {
      work.did()
      return longitude % 100
    },
    text: String,
    geometry: () => ({ type: 'Point' as const, coordinates: [0, 0] }),
  }
  const rows = 20_000
  const snapshot = { folder: 'a', manifest: { rows } } as Snapshot
  const cache = new ColumnCache(1 << 26)
  const places = Float64Array.from({ length: rows * 2 }, (_, i) => i >> 1)
  const steps = () => {
    const numbers = new GroupNumbers([cellGroups('cell', snapshot, grid, places, cache)], 1, rows)
    const decoded = new DecodedColumns(cache, snapshot)
    const measures = new GroupMeasures(
      [{ kind: 'count', name: 'count' }],
      { columns: new Map(), decoded, sizes: {} },
      numbers.capacity,
    )
    const matches = new MatchedGroups(numbers, measures, decoded, null)
    const scan = new PositionScan({ snapshot, filter: null, box: null }, 0, Infinity, matches)
    let count = 1
    // Its time is always over.
    while (scan.advance(-1) !== ENDED) {
      void work.next()
      count++
    }
    matches.finish()
    assert.equal(
      measures.counts.reduce((all, each) => all + each, 0),
      rows,
    )
    return count
  }
  assert.ok(steps() >= rows / 256)
  assert.ok(work.longest > 0 && work.longest <= 256, String(work.longest))
  work.longest = 0
  assert.ok(steps() <= rows / 4096 + 8)
  assert.equal(work.longest, 0)
})
