import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { ColumnCache, openSnapshot, type Snapshot } from '@wayleave/geodata/features'
import { queryColumns } from '@wayleave/geodata/snapshot'
import { collection, compileText, feature, type GeojsonFeature, scratch } from '@wayleave/geodata/testing'
import { needs } from '../../../scripts/test-run/needs.ts'
import { CompiledSelection } from '../by-codes/compiled-selection.ts'
import { BitCount } from '../count/bit-count.ts'
import { countOfLists, planCount } from '../count/match-count.ts'
import { GeometryCache } from '../features/geometry-cache.ts'
import { ENDED, PAUSED } from '../features/sliced-work.ts'
import { PageSearch } from '../page/page-search.ts'
import { planConditions } from '../plan/plan-conditions.ts'
import type { SortKey } from '../plan/sort-key.ts'
import { QueryError } from '../query-error.ts'
import { conditionsOf } from '../testing/conditions.ts'
import { TimedWork } from '../work/timed-work.ts'
import { finish } from '../work/unfinished.ts'
import { DuckdbQueries } from './duckdb-queries.ts'
import { selectByDuckdb } from './select-by-duckdb.ts'

needs('time')

/** Two row groups in the file, which DuckDB's threads read concurrently. */
const ROWS = 130_000
const WORDS = ['Straße', 'STRASSE', 'Lake', 'lake', 'Müller', '東京', 'x%y']

let snapshot: Snapshot
let features: GeojsonFeature[]
// A query of this file may wait for another one as long as a busy machine makes it.
const duckdb = new DuckdbQueries(scratch, { maxWaitMs: 600_000 })
const columns = new ColumnCache(1 << 28)
const parts = {
  duckdb,
  geometries: new GeometryCache(1 << 20),
  work: new TimedWork({ owner: 'test', maxMs: 600_000 }),
}
const compiled = new CompiledSelection(columns, parts.geometries)

before(async () => {
  const made = Array.from({ length: ROWS }, (_, i) => {
    const mixed = Math.imul(i, 2654435761) >>> 0
    const place = [(mixed % 3600) / 10 - 180, ((mixed >>> 12) % 1700) / 10 - 85]
    const properties = {
      n: i,
      group: mixed % 7,
      rare: mixed % 50_021,
      word: WORDS[mixed % WORDS.length],
      maybe: mixed % 11 === 0 ? null : mixed % 13,
    }
    return feature(properties, i % 1000 === 0 ? null : { type: 'Point', coordinates: place })
  })
  const compiled = await compileText(collection(made), { threads: 2 })
  features = compiled.features
  snapshot = await openSnapshot(compiled.folder)
})
after(async () => {
  await duckdb.close()
  await snapshot.close()
})

interface Question {
  filter?: string
  sortby?: string
  box?: [number, number, number, number]
}

async function page(
  { filter, sortby, box }: Question,
  after: number,
  skip: number,
  limit: number,
  work: TimedWork = parts.work,
) {
  const selection = selectionOf({ filter, sortby, box })
  const selected = await selectByDuckdb({ ...selection, after, skip, limit }, { ...parts, work })
  return {
    positions: [...selected.runs.toArray()],
    more: selected.more,
  }
}

function selectionOf({ filter, sortby, box }: Question) {
  const { manifest } = snapshot
  return {
    snapshot,
    plan: filter ? planConditions(conditionsOf(filter), { manifest }) : null,
    box: box ? { box, heights: null, projected: null } : null,
    sort: sortby ? sortby.split(',').map(sortKey) : [],
  }
}

/** `-name` is descending. */
function sortKey(text: string): SortKey {
  const name = text.replace(/^[+-]/, '')
  const column = queryColumns(snapshot.manifest).findIndex((each) => each.name === name)
  return { column, descending: text.startsWith('-') }
}

/** The same page by compiled columns; null if the database has to decide. `slice` is the time slice, in ms. */
async function compiledPage(question: Question, after: number, skip: number, limit: number, slice: number) {
  const { plan, ...rest } = selectionOf(question)
  const request = { ...rest, condition: plan?.condition ?? null, wanted: skip + limit }
  const prepared = await finish(compiled.prepare(request), parts.work)
  if (prepared === null) return null
  const search = new PageSearch(prepared, { after, skip, limit })
  for (let state = search.advance(performance.now() + slice); state !== ENDED; ) {
    assert.equal(state, PAUSED)
    state = search.advance(performance.now() + slice)
  }
  const { runs, more } = search.finish()
  return { positions: [...runs.toArray()], more }
}

async function compiledCount(question: Question): Promise<number | null> {
  const { plan, ...rest } = selectionOf(question)
  const request = { ...rest, condition: plan?.condition ?? null, sort: [], wanted: Infinity }
  const prepared = await finish(compiled.prepare(request), parts.work)
  if (prepared === null) return null
  const count = planCount(prepared).begin()
  await finish(compiled.run(count, snapshot), parts.work)
  const listed = countOfLists(prepared)
  if (listed !== null) assert.equal(listed, count.count)
  if (prepared.filter && prepared.box === null) {
    const byBits = new BitCount(prepared.filter.expression, ROWS)
    while (byBits.advance(0) !== ENDED);
    assert.equal(byBits.count, count.count)
  }
  return count.count
}

type Row = { n: number; group: number; rare: number; word: string; maybe: number | null }
type Matches = (row: Row, place: [number, number] | null) => boolean

const isIn = (place: [number, number] | null, west: number, south: number, east: number, north: number) =>
  place !== null && place[0] >= west && place[0] <= east && place[1] >= south && place[1] <= north

/** The `bbox` parameter: features without a geometry match every box. */
const inBox: typeof isIn = (place, ...box) => place === null || isIn(place, ...box)

const FILTERS: [question: Question, matches: Matches][] = [
  [{ filter: 'n >= 0' }, () => true],
  [{ filter: 'n < 0' }, () => false],
  [{ filter: 'true' }, () => true],
  [{ filter: 'false' }, () => false],
  [{ filter: 'group = 3' }, ({ group }) => group === 3],
  [{ filter: 'rare = 77' }, ({ rare }) => rare === 77],
  // Ids are row numbers here, which are in a file of their own.
  [{ filter: 'id % 7777 = 3 AND group <> 1' }, ({ n, group }) => (n + 1) % 7777 === 3 && group !== 1],
  [{ filter: 'rare < 40 AND group <> 1' }, ({ rare, group }) => rare < 40 && group !== 1],
  [{ filter: 'n % 9999 = 7 OR n DIV 1000 = 299' }, ({ n }) => n % 9999 === 7 || n >= 299_000],
  [{ filter: 'maybe IS NULL AND rare < 900' }, ({ maybe, rare }) => maybe === null && rare < 900],
  [{ filter: 'NOT maybe > 2' }, ({ maybe }) => maybe !== null && maybe <= 2],
  [{ filter: "word LIKE 'St%'" }, ({ word }) => word.startsWith('St')],
  [{ filter: "word LIKE '%\\%y' AND rare < 300" }, ({ word, rare }) => word === 'x%y' && rare < 300],
  [{ filter: "CASEI(word) = CASEI('strasse')" }, ({ word }) => word.toUpperCase() === 'STRASSE'],
  [{ filter: "ACCENTI(CASEI(word)) LIKE '%mull%'" }, ({ word }) => word === 'Müller'],
  [
    { filter: 'maybe IN (1, 2.5, 12) AND NOT group IN (0, 6)' },
    ({ maybe, group }) => {
      return (maybe === 1 || maybe === 12) && group !== 0 && group !== 6
    },
  ],
  [
    { filter: 'n BETWEEN 4000 AND 4200 OR rare = 5' },
    ({ n, rare }) => (n >= 4000 && n <= 4200) || rare === 5,
  ],
  [{ filter: '(maybe > 3) IS NULL AND group = 1' }, ({ maybe, group }) => maybe === null && group === 1],
  [
    { filter: 'rare < 500', box: [-20, -10, 20, 10] },
    ({ rare }, place) => rare < 500 && inBox(place, -20, -10, 20, 10),
  ],
  [
    { filter: 'group <> 3', box: [0, 0, 0, 0] },
    ({ group }, place) => group !== 3 && inBox(place, 0, 0, 0, 0),
  ],
  [{ filter: 'geometry IS NULL' }, (_, place) => place === null],
  [{ filter: 'geometry IS NULL OR rare = 5' }, ({ rare }, place) => place === null || rare === 5],
  [{ filter: 'S_INTERSECTS(geometry, BBOX(10, 10, 30, 20))' }, (_, place) => isIn(place, 10, 10, 30, 20)],
  [
    { filter: 'NOT S_INTERSECTS(geometry, BBOX(-179, -80, 179, 80))' },
    (_, place) => place !== null && !isIn(place, -179, -80, 179, 80),
  ],
  [
    { filter: 'S_WITHIN(geometry, BBOX(10, 10, 30, 20)) OR rare = 9' },
    ({ rare }, place) => isIn(place, 10.05, 10.05, 29.95, 19.95) || rare === 9,
  ],
  [
    { filter: 'NOT S_INTERSECTS(geometry, BBOX(-100, -50, 100, 50)) AND group = 3' },
    ({ group }, place) => group === 3 && place !== null && !isIn(place, -100, -50, 100, 50),
  ],
  [
    { filter: 'group = 2', box: [170, -40, -170, 40] },
    ({ group }, place) =>
      group === 2 && (inBox(place, 170, -40, 180, 40) || inBox(place, -180, -40, -170, 40)),
  ],
  [
    { filter: 'S_DISJOINT(geometry, POINT(0 0))', box: [0, 0, 9, 9] },
    (_, place) => isIn(place, 0, 0, 9, 9) && String(place) !== '0,0',
  ],
]

const ORDERS: [sortby: string, keys: ((row: Row) => number | string | null)[]][] = [
  ['-n', [({ n }) => -n]],
  ['-id', [({ n }) => -n]],
  ['maybe', [({ maybe }) => maybe]],
  ['-maybe,group', [({ maybe }) => maybe && -maybe, ({ group }) => group]],
  ['group,-maybe', [({ group }) => group, ({ maybe }) => maybe && -maybe]],
  ['word', [({ word }) => word]],
]

function expected(matches: Matches, keys: ((row: Row) => number | string | null)[] = []): number[] {
  const found: number[] = []
  for (const [position, { properties, geometry }] of features.entries()) {
    const place = geometry?.type === 'Point' ? (geometry.coordinates as [number, number]) : null
    if (matches(properties as unknown as Row, place)) found.push(position)
  }
  if (keys.length === 0) return found
  const values = features.map(({ properties }) => keys.map((key) => key(properties as unknown as Row)))
  return found.sort((a, b) => {
    for (const [i, one] of values[a]!.entries()) {
      const other = values[b]![i]!
      if (one === other) continue
      if (one === null || other === null) return one === null ? 1 : -1
      return one < other ? -1 : 1
    }
    return a - b
  })
}

/** The questions that compiled columns decided. */
const byColumns = new Set<string>()

/** Queries repeatedly, so that later results come from cached columns. */
async function assertPages(question: Question, all: number[]): Promise<void> {
  for (let time = 0; time < 2; time++) {
    const [at, skip] = [Math.floor(all.length * 0.6), Math.floor(all.length / 3)]
    for (const [begin, offset, limit] of [
      [0, 0, 1],
      [0, 0, 10],
      [0, skip, 100],
      [at, 0, 1000],
      [all.length - 5, 0, 10],
      [Math.max(0, all.length - 30_000), 0, 10_000],
    ] as const) {
      if (begin < 0) continue
      const from = begin + offset
      const { positions, more } = await page(question, begin === 0 ? -1 : all[begin - 1]!, offset, limit)
      assert.deepEqual(
        positions,
        all.slice(from, from + limit),
        `${JSON.stringify(question)} ${from} ${limit}`,
      )
      assert.equal(more, all.length > from + limit)
      // A slice of no time stops the search as often as it can stop.
      const byCodes = await compiledPage(question, begin === 0 ? -1 : all[begin - 1]!, offset, limit, time)
      if (byCodes === null) continue
      byColumns.add(JSON.stringify(question))
      assert.deepEqual(byCodes, { positions, more }, `compiled: ${JSON.stringify(question)} ${from} ${limit}`)
    }
    const count = await compiledCount(question)
    if (count !== null) assert.equal(count, all.length, JSON.stringify(question))
    await delay(20)
  }
}

test('filtered features come in snapshot order, page by page, whatever the threads read first', async () => {
  for (const [question, matches] of FILTERS) await assertPages(question, expected(matches))
  const left = FILTERS.flatMap(([question]) =>
    byColumns.has(JSON.stringify(question)) ? [] : [question.filter],
  )
  // Arithmetic on many different values is left to the database, and the geometry alone to the tree.
  assert.ok(
    left.every(
      (filter) => /%|DIV/.test(filter!) || (filter!.includes('geometry') && !/rare|group/.test(filter!)),
    ),
    left.join('; '),
  )
})

test('sorted features come in one order, nulls last and equals in snapshot order', async () => {
  for (const [sortby, keys] of ORDERS) {
    await assertPages(
      { sortby },
      expected(() => true, keys),
    )
    await assertPages(
      { sortby, filter: 'rare < 3000' },
      expected(({ rare }) => rare < 3000, keys),
    )
    // Several columns, and ids that are row numbers, are sorted by the database.
    if (sortby.includes(',') || sortby === '-id') continue
    assert.ok(byColumns.has(JSON.stringify({ sortby })))
    await assertPages(
      { sortby, filter: 'group < 5', box: [-100, -60, 100, 60] },
      expected(({ group }, place) => group < 5 && inBox(place, -100, -60, 100, 60), keys),
    )
  }
})

test('columns that are asked for again are read from memory, in the same order', async () => {
  const source = { snapshot, columns: new Map([['group', '"group"']]) }
  let table = ''
  for (let tries = 0; tries < 200 && !table.startsWith('kept_'); tries++) {
    const sql = (from: string) => {
      table = from
      return `SELECT file_row_number FROM ${from}`
    }
    const positions = await duckdb.positions(source, sql, [], parts.work)
    assert.equal(positions.length, ROWS)
    assert.ok(positions.every((position, i) => position === i))
    await delay(10)
  }
  assert.match(table, /^kept_/)
})

test('a made-up cursor beyond the last feature gives an empty page', async () => {
  assert.deepEqual(await page({ sortby: 'n' }, ROWS + 7, 0, 10), { positions: [], more: false })
})

test('a filter that takes too long is stopped with 400, and the next one is served', async () => {
  const hasty = new TimedWork({ owner: 'test', maxMs: 1 })
  const product = Array.from({ length: 40 }, (_, i) => `(n + ${i})`).join(' % ')
  const slow = page({ filter: `${product} = -1` }, -1, 0, 10, hasty)
  await assert.rejects(slow, (error) => error instanceof QueryError && error.code === 'invalid-filter')
  const { positions } = await page({ filter: 'n = 7' }, -1, 0, 10)
  assert.deepEqual(
    positions.map((position) => features[position]!.properties['n']),
    [7],
  )
})

test('a search by compiled columns yields after each time slice, and ends when the client has left', async () => {
  const { condition } = selectionOf({ filter: 'group < 6 AND maybe > 1' }).plan!
  const prepared = (await finish(
    compiled.prepare({ ...selectionOf({}), condition, wanted: Infinity }),
    parts.work,
  ))!
  const client = new AbortController()
  let turns = 0
  const counting = {
    advance(until: number) {
      while (performance.now() < until);
      return ++turns > 1000 ? ENDED : PAUSED
    },
  }
  const work = new TimedWork({ owner: 'test', disconnected: () => client.signal, maxMs: 600_000 })
  const run = Promise.resolve(finish(compiled.run(counting, snapshot), work))
  setImmediate(() => client.abort())
  await assert.rejects(run, { name: 'AbortError' })
  assert.ok(turns < 1000)
  const stopped = planCount(prepared).begin()
  assert.equal(stopped.advance(performance.now() - 1), PAUSED)
  assert.ok(stopped.count < ROWS / 2)
  await finish(compiled.run(stopped, snapshot), parts.work)
  const all = expected(({ group, maybe }) => group < 6 && maybe !== null && maybe > 1)
  assert.equal(stopped.count, all.length)
})

test('a filter with many conditions on the geometry makes no masks, and is left to the database', async () => {
  const boxes = Array.from({ length: 5 }, (_, i) => [i * 30, 10, i * 30 + 5, 12] as const)
  const parts = boxes.map((box) => `S_INTERSECTS(geometry, BBOX(${box.join(', ')}))`)
  const question = { filter: `rare = 9 OR ${parts.join(' OR ')}` }
  assert.equal(await compiledPage(question, -1, 0, 10, 0), null)
  const all = expected(({ rare }, place) => rare === 9 || boxes.some((box) => isIn(place, ...box)))
  assert.deepEqual((await page(question, -1, 0, 100)).positions, all.slice(0, 100))
  const few = { filter: `rare = 9 OR ${parts.slice(0, 4).join(' OR ')}` }
  assert.notEqual(await compiledPage(few, -1, 0, 10, 0), null)
})
