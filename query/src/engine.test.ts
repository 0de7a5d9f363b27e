import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openSnapshot, PackCache, type Snapshot } from '@wayleave/geodata/features'
import { collection, compileText, feature, scratch, withStoredLists } from '@wayleave/geodata/testing'
import { lacks } from '../../scripts/test-run/needs.ts'
import {
  type AggregateQuery,
  type FeatureQuery,
  finish,
  planConditions,
  QueryEngine,
  TimedWork,
  Unfinished,
} from './engine.ts'
import { conditionsOf } from './testing/conditions.ts'

const ROWS = 3000
const NO_HEIGHTS = { heights: null, projected: null }
const work = new TimedWork({ owner: 'test', maxMs: 600_000 })
let snapshot: Snapshot
let folder: string
/** The same features, whose posting lists are in a file and are read by parts. */
let stored: Snapshot

before(async () => {
  // Triangles, so that boxes are not decided by the tree alone.
  const made = Array.from({ length: ROWS }, (_, i) => {
    const [x, y] = [(i * 7919) % 360, (i * 104_729) % 170]
    const [west, south] = [x / 2 - 90, y / 2 - 40]
    const ring = [[west, south], [west + 3, south], [west, south + 3], [west, south]] // biome-ignore format: one line
    return feature({ n: i, group: i % 7 }, { type: 'Polygon', coordinates: [ring] })
  })
  const compiled = await compileText(collection(made))
  folder = compiled.folder
  snapshot = await openSnapshot(folder)
  const storedFolder = await withStoredLists(folder, compiled.manifest)
  stored = await openSnapshot(storedFolder, new PackCache(1 << 24))
})
after(() => Promise.all([snapshot.close(), stored.close()]))

interface Question {
  filter?: string
  box?: [number, number, number, number]
  sort?: FeatureQuery['sort']
}

const QUESTIONS: Question[] = [
  {},
  { box: [-20, -10, 20, 10] },
  { filter: 'group = 3' },
  { filter: 'group = 3 AND n > 500', box: [-50, -30, 50, 30] },
  { sort: [{ column: 0, descending: true }] },
  { filter: 'group < 5', sort: [{ column: 1, descending: false }] },
  { filter: 'S_INTERSECTS(geometry, POLYGON((0 0, 30 0, 0 30, 0 0))) AND group <> 1' },
  { filter: 'S_INTERSECTS(geometry, POLYGON((0 0, 30 0, 0 30, 0 0)))' },
  { filter: 'n % 7 = group + 1' },
]

function queryOf({ filter, box, sort = [] }: Question): FeatureQuery {
  const selection = JSON.stringify([filter, box])
  return { box: box ? { box, heights: null, projected: null } : null, ids: null, sort, offset: 0, selection }
}

function openEngine(options: { maxListedRows?: number } = {}) {
  return new QueryEngine(scratch, { geometryBytes: 1 << 24, columnBytes: 1 << 26, ...options })
}

/** A page and its counts, and which of them were found synchronously. */
async function ask(engine: QueryEngine, question: Question, asked = snapshot) {
  const query = queryOf(question)
  const plan = question.filter ? planConditions(conditionsOf(question.filter), asked) : null
  const page = engine.page(asked, query, plan, { after: -1, limit: 10 })
  const selected = await finish(page, work)
  const count = engine.countCheaply(asked, query, plan, { after: -1, selected })
  const matched = await finish(count, work)
  const exact = await finish(engine.count(asked, query, plan, null), work)
  return {
    positions: [...selected.runs.toArray()],
    matched,
    exact,
    isInMemory: !(page instanceof Unfinished) && !(count instanceof Unfinished),
  }
}

test('pages and counts are the same whether they are found in memory or have to be read', {
  skip: lacks('time'),
}, async (t) => {
  const warm = openEngine()
  t.after(() => warm.close())
  for (const question of QUESTIONS) {
    const cold = openEngine()
    const first = await ask(cold, question)
    await cold.close()
    const name = JSON.stringify(question)
    assert.equal(first.isInMemory, name === '{}', `${name}: nothing was in memory`)
    // The tree and the database search what codes cannot decide. A busy machine may use up a time slice.
    const isByCodes = !/^S_[^A]*$|%/.test(question.filter ?? '')
    let again = await ask(warm, question)
    for (let tries = 0; tries < 100 && !again.isInMemory && isByCodes; tries++)
      again = await ask(warm, question)
    assert.deepEqual({ ...again, isInMemory: isByCodes }, again, name)
    // The number that was counted exactly is remembered.
    assert.deepEqual({ ...again, isInMemory: first.isInMemory, matched: first.matched }, first, name)
    assert.equal(again.matched, again.exact, name)
    const all = await allPositions(warm, question)
    assert.equal(first.exact, all.length, name)
    if (first.matched !== null) assert.equal(first.matched, all.length, name)
    if (!question.sort) assert.deepEqual(first.positions, all.slice(0, 10), name)
  }
})

test('whether a number is counted beside a page does not depend on the clock', async (t) => {
  const isCounted = async (engine: QueryEngine) => {
    const counted: (number | null)[] = []
    for (const question of QUESTIONS) counted.push((await ask(engine, question)).matched)
    await engine.close()
    return counted
  }
  const expected = await isCounted(openEngine())
  const now = performance.now.bind(performance)
  let jumps = 0
  // Every look at the clock ends a time slice.
  t.mock.method(performance, 'now', () => now() + ++jumps * 6)
  assert.deepEqual(await isCounted(openEngine()), expected)
  assert.ok(expected.includes(null) && expected.some((count) => count !== null))
})

test('a snapshot whose index is read by blocks has the same pages, counts, facets and positions', async (t) => {
  const engine = openEngine()
  t.after(() => engine.close())
  for (const question of QUESTIONS) {
    const whole = await ask(engine, question)
    // Each question begins with nothing of the index in memory.
    const paged = await openSnapshot(folder, new PackCache(1 << 24), undefined, { wholeIndexBytes: 0 })
    assert.equal(paged.hasWholeIndex, false)
    const { isInMemory, ...found } = await ask(engine, question, paged)
    const name = JSON.stringify(question)
    assert.deepEqual({ ...found, isInMemory: whole.isInMemory }, whole, name)
    assert.equal(isInMemory, name === '{}', name)
    const query = { ...queryOf(question), columns: [1], limit: 3, bins: 4, extent: true }
    const plan = question.filter ? planConditions(conditionsOf(question.filter), paged) : null
    assert.deepEqual(
      await engine.facets(paged, query, plan, work),
      await engine.facets(snapshot, query, plan, work),
      name,
    )
    const positions = await engine.positions(paged, { ...query, ids: null, sort: [], offset: 0 }, plan, work)
    assert.deepEqual([...positions.listBelow(ROWS)], await allPositions(engine, question), name)
    await paged.close()
  }
})

test('columns that are loaded without their order give the same results', async (t) => {
  const [listed, lean] = [openEngine(), openEngine({ maxListedRows: 10 })]
  t.after(() => Promise.all([listed.close(), lean.close()]))
  for (const question of [
    ...QUESTIONS,
    { filter: 'n IN (5, 2000, 2999)' },
    { filter: 'group = 3 OR n = 4' },
    { filter: 'group IN (1, 3, 6) AND n > 100 AND n <> 700' },
    { filter: 'group IN (1, 3) AND (n < 900 OR n > 2500)' },
    { filter: 'group = 2 AND n % 5 = 1' },
  ]) {
    const name = JSON.stringify(question)
    // Twice: the second time, columns and their orders are in memory.
    for (let round = 0; round < 2; round++) {
      const expected = await ask(listed, question)
      for (const asked of [snapshot, stored]) {
        const found = await ask(lean, question, asked)
        assert.deepEqual({ ...found, isInMemory: expected.isInMemory }, expected, name)
        const positions = await allPositions(lean, question, asked)
        assert.deepEqual(positions, await allPositions(listed, question), name)
      }
    }
  }
  const query: AggregateQuery = {
    groupby: [{ name: 'group', kind: 'column', column: 'group' }],
    measures: [
      { name: 'middle', kind: 'percentile', column: 'n', percent: 50 },
      { name: 'different', kind: 'distinct', column: 'n' },
    ],
    having: null,
    sort: [],
    offset: 0,
    limit: 100,
    others: false,
    geometry: null,
    box: null,
  }
  const other = openEngine({ maxListedRows: 10 })
  t.after(() => other.close())
  assert.deepEqual(
    await other.aggregate(snapshot, query, null, work),
    await listed.aggregate(snapshot, query, null, work),
  )
})

test('few values of a large column are found without its codes, and a repeated search has all in memory', async (t) => {
  const engine = openEngine({ maxListedRows: 10 })
  t.after(() => engine.close())
  const columns = ['n = 5', 'n IN (7, 5, 2999)', 'n < 0', 'n BETWEEN 100 AND 2900', 'n > 2990 OR n < 2']
  for (const filter of columns) {
    for (const box of [undefined, [-50, -30, 50, 30] as const]) {
      const question = { filter, ...(box && { box: [...box] as Question['box'] & object }) }
      const expected = await ask(engine, question)
      const found = await ask(engine, question, stored)
      assert.deepEqual({ ...found, isInMemory: expected.isInMemory }, expected, filter)
      if (!box) assert.ok((await ask(engine, question, stored)).isInMemory, filter)
    }
    const plan = planConditions(conditionsOf(filter), stored)
    const near = await engine.positionsNear(stored, queryOf({ filter }), plan, [-20, -10, 20, 10], work)
    assert.equal(near, null, 'all matches are listed instead')
  }
  assert.equal(engine.columns.peek(stored, 'n'), undefined, 'no codes were loaded')
})

test('pages of a sorted large column follow one another', async (t) => {
  const engine = openEngine({ maxListedRows: 10 })
  t.after(() => engine.close())
  for (const descending of [false, true]) {
    const query = queryOf({ sort: [{ column: 1, descending }] })
    const positions: number[] = []
    for (let after = -1; ; after = positions.at(-1)!) {
      const { runs, more } = await finish(engine.page(stored, query, null, { after, limit: 700 }), work)
      positions.push(...runs.toArray())
      if (!more) break
    }
    const all = await finish(engine.page(snapshot, query, null, { after: -1, limit: ROWS }), work)
    assert.deepEqual(positions, [...all.runs.toArray()])
  }
})

test('pages of a value of a large column follow one another, and its codes are loaded only if they are needed', async (t) => {
  const engine = openEngine({ maxListedRows: 10 })
  t.after(() => engine.close())
  const filters = ['group = 3', 'group = 3 AND n > 500', 'n = 1234', 'group = 9', 'group = 3 AND n = 10']
  for (const filter of filters) {
    const plan = planConditions(conditionsOf(filter), stored)
    for (const box of [null, { box: [-50, -30, 50, 30] as [number, number, number, number], ...NO_HEIGHTS }])
      for (const limit of [1, 40, ROWS]) {
        const query = { ...queryOf({ filter }), box }
        const positions: number[] = []
        for (let after = -1; ; after = positions.at(-1)!) {
          const { runs, more } = await finish(engine.page(stored, query, plan, { after, limit }), work)
          positions.push(...runs.toArray())
          if (!more || positions.length > 80) break
        }
        const all = await finish(engine.page(snapshot, query, plan, { after: -1, limit: ROWS }), work)
        const expected = [...all.runs.toArray()]
        assert.deepEqual(positions, expected.slice(0, positions.length), `${filter}, ${limit}`)
        assert.ok(positions.length === expected.length || positions.length > 80)
      }
  }
})

test('all features are counted by the posting lists of a large column, without its codes', async (t) => {
  const engine = openEngine({ maxListedRows: 10 })
  t.after(() => engine.close())
  const query = { ...queryOf({}), columns: [0, 1], limit: 3, bins: 4, extent: true }
  assert.deepEqual(
    await engine.facets(stored, query, null, work),
    await engine.facets(snapshot, query, null, work),
  )
  for (const name of ['n', 'group']) assert.equal(engine.columns.peek(stored, name), undefined)
})

async function allPositions(engine: QueryEngine, question: Question, asked = snapshot): Promise<number[]> {
  const plan = question.filter ? planConditions(conditionsOf(question.filter), asked) : null
  const positions = await engine.positions(asked, { ...queryOf(question), sort: [] }, plan, work)
  return [...positions.listBelow(ROWS)]
}

test('the positions near a box are those of all matches that it meets', async () => {
  const engine = openEngine()
  try {
    const boxes: [number, number, number, number][] = [
      [-20, -10, 20, 10],
      [-90, -40, -60, 40],
      [0, 0, 0.1, 0.1],
      [170, -1, -80, 1],
    ]
    for (const [filter, isNear] of [
      ['group < 5', true],
      ['group < 5 AND n > 700', true],
      ['group = 2 OR n < 2000', true],
      // Few matches, or decided by the database: all are found at once.
      ['n = 5', false],
      ['n % 7 = group + 1', false],
    ] as const) {
      const [query, plan] = [queryOf({ filter }), planConditions(conditionsOf(filter), snapshot)]
      const all = await engine.positions(snapshot, query, plan, work)
      for (const box of boxes) {
        const near = await engine.positionsNear(snapshot, query, plan, box, work)
        assert.equal(near !== null, isNear, filter)
        const walk = snapshot.tree.walk(box, 0)
        while (near && walk.next())
          for (let at = walk.begin; at < walk.end; at++)
            assert.equal(near.has(at), all.has(at), `${filter} in ${box}: ${at}`)
      }
      assert.equal(await engine.positionsNear(snapshot, query, plan, [-180, -90, 180, 90], work), null)
    }
  } finally {
    await engine.close()
  }
})
