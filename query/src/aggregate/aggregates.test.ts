import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openSnapshot, type Snapshot } from '@wayleave/geodata/features'
import { collection, compileText, feature, scratch } from '@wayleave/geodata/testing'
import fc from 'fast-check'
import { needs } from '../../../scripts/test-run/needs.ts'
import {
  type AggregateQuery,
  type AggregateResult,
  type Dimension,
  type Measure,
  planConditions,
  QueryEngine,
  QueryError,
  type ResultValue,
  TimedWork,
} from '../engine.ts'
import { conditionsOf } from '../testing/conditions.ts'
import { keyOf, type Row, referenceAggregate } from './testing/reference.ts'

needs('time')

const ROWS = 6000
const TEXTS = ['', 'a', 'B', 'é', '😀', "'; --", null]
const work = new TimedWork({ owner: 'test', maxMs: 600_000 })
const TIMES = [
  '0001-01-01T00:00:00Z',
  '1969-12-31T23:59:59.999999Z',
  '2020-02-29T12:30:00.000001Z',
  '9999-12-31T23:59:59Z',
]

function propertiesOf(i: number): Record<string, ResultValue> {
  const mixed = Math.imul(i + 1, 2654435761) >>> 0
  const bit = (shift: number, count: number) => (mixed >>> shift) % count
  return {
    text: TEXTS[bit(3, 7)]!,
    number: bit(5, 11) === 0 ? null : (bit(7, 4001) - 2000) / 16,
    // Not a decimal with a few digits.
    fine: bit(6, 12) === 0 ? null : (bit(7, 4001) - 2000) / 2 ** 30,
    small: bit(9, 13) === 0 ? null : BigInt(bit(4, 50) - 25),
    big: [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n + BigInt(i), null, 1n][bit(6, 5)]!,
    wide: BigInt(bit(8, 9) - 4) * 10n ** 29n + BigInt(i % 5),
    flag: [true, false, null][bit(2, 3)]!,
    day:
      bit(10, 9) === 0
        ? null
        : new Date(Date.UTC(1950 + bit(1, 120), bit(4, 12), 1 + bit(6, 28))).toISOString().slice(0, 10),
    time:
      bit(11, 9) === 0
        ? (TIMES[bit(12, 5)] ?? null)
        : new Date(Date.UTC(2019, bit(4, 30), 1, bit(9, 100), bit(3, 60))).toISOString().replace('.000', ''),
  }
}

/** `JSON.rawJSON` is newer than the type definitions. */
type RawJson = { rawJSON(text: string): unknown }

let snapshot: Snapshot
let rows: Row[]
let engine: QueryEngine

before(async () => {
  const source = Array.from({ length: ROWS }, (_, i) => {
    const coordinates = [((i * 7919) % 3600) / 10 - 180, ((i * 104_729) % 1700) / 10 - 85]
    return feature({ i, ...propertiesOf(i) } as never, i % 50 === 0 ? null : { type: 'Point', coordinates })
  })
  const text = JSON.stringify({ type: 'FeatureCollection', features: source }, (_name, value: unknown) =>
    typeof value === 'bigint' ? (JSON as unknown as RawJson).rawJSON(String(value)) : value,
  )
  const compiled = await compileText(text)
  snapshot = await openSnapshot(compiled.folder)
  rows = compiled.features.map(({ properties }) => ({
    properties: { ...propertiesOf(Number(properties['i'])), i: BigInt(properties['i'] as number) },
  }))
  engine = new QueryEngine(scratch, { geometryBytes: 1 << 24, columnBytes: 1 << 28 })
})
after(async () => {
  await engine.close()
  await snapshot.close()
})

const EMPTY: AggregateQuery = {
  groupby: [],
  measures: [{ kind: 'count', name: 'count' }],
  having: null,
  sort: [],
  offset: 0,
  limit: 100_000,
  others: false,
  geometry: null,
  box: null,
}

function ask(query: Partial<AggregateQuery>, filter?: string): Promise<AggregateResult> {
  const whole: AggregateQuery = { ...EMPTY, ...query }
  return engine.aggregate(
    snapshot,
    whole,
    filter ? planConditions(conditionsOf(filter), snapshot) : null,
    work,
  )
}

function named<T extends object>(parts: readonly T[]): (T & { name: string })[] {
  return parts.map((part) => ({ ...part, name: JSON.stringify(part) }))
}

const dimension: fc.Arbitrary<Dimension> = fc.oneof(
  fc.constantFrom('text', 'number', 'fine', 'small', 'big', 'wide', 'flag', 'day', 'time').map((column) => ({
    kind: 'column' as const,
    column,
  })),
  fc
    .constantFrom(0.5, 7, 1000, 0.125)
    .map((width) => ({ kind: 'interval' as const, column: 'number', width })),
  fc
    .record({ column: fc.constantFrom('small', 'big', 'wide'), width: fc.constantFrom(3, 10, 2 ** 40) })
    .map((part) => ({ kind: 'interval' as const, ...part })),
  fc
    .record({
      column: fc.constantFrom('day', 'time'),
      period: fc.constantFrom(
        'year' as const,
        'quarter' as const,
        'month' as const,
        'week' as const,
        'day' as const,
        'weekday' as const,
      ),
    })
    .filter(({ column, period }) => column === 'day' || period !== 'week')
    .map((part) => ({ kind: 'period' as const, ...part })),
  fc.constant({ kind: 'period' as const, column: 'time', period: 'hour' as const }),
)

const numeric = fc.constantFrom('number', 'fine', 'small', 'big', 'wide')
const any = fc.constantFrom('text', 'number', 'small', 'big', 'wide', 'flag', 'day', 'time')
const measure: fc.Arbitrary<Measure> = fc.oneof(
  fc.constant({ kind: 'count' as const }),
  fc
    .record({ kind: fc.constantFrom('sum' as const, 'mean' as const, 'stddev' as const), column: numeric })
    // The reference computes deviations of small numbers only.
    .filter(({ kind, column }) => kind !== 'stddev' || column === 'number' || column === 'small'),
  fc.record({ kind: fc.constantFrom('distinct' as const, 'min' as const, 'max' as const), column: any }),
  fc.record({
    kind: fc.constant('percentile' as const),
    column: fc.constantFrom('number', 'small', 'big', 'day', 'time'),
    percent: fc.constantFrom(0, 10, 50, 95, 99.9, 100),
  }),
  fc.record({
    kind: fc.constantFrom('first' as const, 'last' as const),
    column: any,
    time: fc.constantFrom('day', 'time'),
  }),
)

const FILTERS: [text: string | undefined, matches: (row: Row['properties']) => boolean][] = [
  [undefined, () => true],
  ['small > 5', ({ small }) => small !== null && (small as bigint) > 5n],
  ["text = 'é' AND flag = TRUE", ({ text, flag }) => text === 'é' && flag === true],
  // The database decides.
  ['i % 10 = 3', ({ i }) => (i as bigint) % 10n === 3n],
  ['number > 1000', () => false],
]

function isSame(a: ResultValue, b: ResultValue): boolean {
  if (typeof a === 'bigint' || typeof b === 'bigint')
    return a !== null && b !== null && BigInt(a) === BigInt(b)
  if (typeof a !== 'number' || typeof b !== 'number') return a === b
  return a === b || Math.abs(a - b) <= 1e-12 * Math.max(Math.abs(a), Math.abs(b)) + 1e-13
}

test('measures of groups are those of the simplest code, for all types, nulls, extreme numbers and filters', async () => {
  const question = fc.record({
    groupby: fc.array(dimension, { maxLength: 3 }),
    measures: fc.array(measure, { minLength: 1, maxLength: 4 }),
    filter: fc.constantFrom(...FILTERS),
  })
  await fc.assert(
    fc.asyncProperty(question, async ({ groupby, measures, filter: [filter, matches] }) => {
      const matching = rows.filter(({ properties }) => matches(properties))
      const expected = referenceAggregate(matching, groupby, measures)
      const result = await ask({ groupby: named(groupby), measures: named(measures) }, filter)
      assert.equal(result.numberGroups, expected.size)
      assert.equal(result.rows.length, expected.size)
      for (const row of result.rows) {
        const values = expected.get(keyOf(row.slice(0, groupby.length)))
        assert.ok(values, `no group ${keyOf(row.slice(0, groupby.length))}`)
        for (const [i, value] of values.entries()) {
          const own = row[groupby.length + i]!
          assert.ok(isSame(own, value), `${JSON.stringify(measures[i])}: ${own} is not ${value}`)
        }
      }
    }),
    { numRuns: 150, seed: 41 },
  )
})

test('the groups after a page are one row, whose measures are those of its features', async () => {
  const mergeable = measure.filter(({ kind }) => kind !== 'percentile' && kind !== 'distinct')
  const question = fc.record({
    column: fc.constantFrom('text', 'number', 'small', 'flag', 'day', 'time'),
    measures: fc.array(mergeable, { minLength: 1, maxLength: 4 }),
    limit: fc.integer({ min: 1, max: 60 }),
    offset: fc.integer({ min: 0, max: 3 }),
  })
  await fc.assert(
    fc.asyncProperty(question, async ({ column, measures, limit, offset }) => {
      const groupby = named([{ kind: 'column' as const, column }])
      const all = (await ask({ groupby })).rows.map(([value]) => keyOf([value!]))
      const rest = new Set(all.slice(offset + limit))
      const features = rows.filter(({ properties }) => rest.has(keyOf([properties[column]!])))
      const query = { groupby, measures: named(measures), limit, offset, others: true }
      const { rows: page, others, numberGroups } = await ask(query)
      assert.equal(page.length, Math.min(limit, Math.max(0, numberGroups - offset)))
      if (rest.size === 0) {
        assert.equal(others, null)
        return
      }
      const [expected] = referenceAggregate(features, [], measures).values()
      assert.equal(others![0], null)
      for (const [i, value] of expected!.entries())
        assert.ok(
          isSame(others![i + 1]!, value),
          `${JSON.stringify(measures[i])}: ${others![i + 1]} ${value}`,
        )
    }),
    { numRuns: 40, seed: 41 },
  )
})

test('texts that are not compiled are ranked by the database', async (t) => {
  // No column fits into this memory.
  const small = new QueryEngine(scratch, { geometryBytes: 1 << 20, columnBytes: 1000 })
  t.after(() => small.close())
  const groupby = named([{ kind: 'column' as const, column: 'text' }])
  const kinds = ['distinct', 'min', 'max'] as const
  const measures = named(kinds.map((kind) => ({ kind, column: 'text' })))
  const query: AggregateQuery = {
    ...EMPTY,
    groupby,
    measures: [{ kind: 'count', name: 'count' }, ...measures],
  }
  for (const [filter, having] of [
    [undefined, null],
    ['i % 10 = 3', `count > 10 AND ${JSON.stringify(groupby[0]!.name).replaceAll('\\"', '""')} > 'a'`],
  ] as const) {
    const plan = filter ? planConditions(conditionsOf(filter), snapshot) : null
    const work = new TimedWork({ owner: 'test', maxMs: 600_000 })
    const own = await small.aggregate(snapshot, { ...query, having }, plan, work)
    assert.deepEqual(own, await engine.aggregate(snapshot, { ...query, having }, plan, work))
    assert.ok(own.rows.length > 1)
    work.end()
  }
  const sum = { ...query, measures: named([{ kind: 'sum' as const, column: 'number' }]) }
  await assert.rejects(small.aggregate(snapshot, sum, null, work), QueryError)
})

test('three dimensions may have more combinations than groups may be', async () => {
  const groupby = named(['i', 'time', 'number'].map((column) => ({ kind: 'column' as const, column })))
  const { numberGroups } = await ask({ groupby, limit: 10 })
  assert.equal(numberGroups, ROWS)
})

test('a client that disconnects ends the work', async () => {
  const leaving = new AbortController()
  const aborted = new TimedWork({ owner: 'test', maxMs: 600_000, disconnected: () => leaving.signal })
  leaving.abort(new Error('the client left'))
  const query: AggregateQuery = { ...EMPTY, measures: named([{ kind: 'distinct' as const, column: 'i' }]) }
  await assert.rejects(engine.aggregate(snapshot, query, null, aborted), /the client left/)
})

test('quantiles have about as many features each, and equal values are in one', async () => {
  const groupby = named([{ kind: 'quantile' as const, column: 'number', count: 4 }])
  const measures = named([
    { kind: 'count' as const },
    { kind: 'min' as const, column: 'number' },
    { kind: 'max' as const, column: 'number' },
  ])
  const result = (await ask({ groupby, measures })).rows as (number | null)[][]
  assert.deepEqual(result.at(-1)!.slice(2), [null, null])
  const quarters = result.slice(0, -1)
  const all = rows.filter(({ properties }) => properties['number'] !== null).length
  assert.equal(quarters.length, 4)
  for (const [i, [lower, count, min, max]] of quarters.entries()) {
    assert.ok(Math.abs(count! - all / 4) < all / 50)
    assert.equal(lower, min)
    if (i > 0) assert.ok(quarters[i - 1]![3]! < min! && min! <= max!)
  }
})

test('weeks at the borders of years, and times of other zones, are those of UTC', async (t) => {
  const times: [time: string, week: string, day: string, year: number][] = [
    ['2018-12-31T00:00:00Z', '2018-12-31', '2018-12-31', 2018],
    ['2021-01-03T23:59:59.999999Z', '2020-12-28', '2021-01-03', 2021],
    ['2016-01-01T12:00:00Z', '2015-12-28', '2016-01-01', 2016],
    ['2020-01-01T00:30:00+02:00', '2019-12-30', '2019-12-31', 2019],
    ['2019-12-31T23:30:00-05:00', '2019-12-30', '2020-01-01', 2020],
    ['2000-02-29T23:59:59Z', '2000-02-28', '2000-02-29', 2000],
    ['1969-12-31T23:59:59.999999Z', '1969-12-29', '1969-12-31', 1969],
  ]
  const text = collection(times.map(([time], i) => feature({ i, time }, null)))
  const zoned = await openSnapshot((await compileText(text)).folder)
  t.after(() => zoned.close())
  const periods = ['week', 'day', 'year'] as const
  for (const [at, period] of periods.entries()) {
    const groupby = named([{ kind: 'period' as const, column: 'time', period }])
    const { rows: own } = await engine.aggregate(zoned, { ...EMPTY, groupby }, null, work)
    const counts = new Map<string | number, number>()
    for (const row of times) counts.set(row[at + 1]!, (counts.get(row[at + 1]!) ?? 0) + 1)
    assert.deepEqual(new Map(own as [string, number][]), counts)
  }
})

test('one value is every percentile of itself and has no deviation; none is null', async () => {
  const column = 'number'
  const percents = [0, 12.5, 50, 99.9, 100]
  const measures = named<Measure>([
    ...percents.map((percent) => ({ kind: 'percentile' as const, column, percent })),
    { kind: 'stddev', column },
    { kind: 'mean', column },
    { kind: 'distinct', column },
    { kind: 'first', column, time: 'time' },
  ])
  const some = rows.find(({ properties }) => properties[column] !== null && properties['time'] !== null)!
  const value = some.properties[column]!
  const one = await ask({ measures }, `i = ${some.properties['i']}`)
  assert.deepEqual(one.rows, [[...percents.map(() => value), null, value, 1, value]])
  const none = await ask({ measures }, 'i < 0')
  assert.deepEqual(none.rows, [[...percents.map(() => null), null, null, 0, null]])
  const groupby = named([{ kind: 'column' as const, column: 'text' }])
  const empty = await ask({ measures, groupby, others: true, limit: 1 }, 'i < 0')
  assert.deepEqual([empty.rows, empty.others, empty.numberGroups], [[], null, 0])
})

test('sums of decimals are exact, also if they have more digits than a double', async (t) => {
  const cents = Array.from({ length: 2000 }, (_, i) => 99_999_999_900_001 + i * 37)
  const prices = cents.map((cent, i) => ({ price: cent / 100, small: (i % 10) / 10, group: i % 2 }))
  const text = collection(prices.map((price) => feature(price, null)))
  const decimals = await openSnapshot((await compileText(text)).folder)
  t.after(() => decimals.close())
  const groupby = named([{ kind: 'column' as const, column: 'group' }])
  const measures = named<Measure>([
    { kind: 'sum', column: 'price' },
    { kind: 'sum', column: 'small' },
    { kind: 'mean', column: 'small' },
  ])
  const { rows: own } = await engine.aggregate(decimals, { ...EMPTY, groupby, measures }, null, work)
  for (const [group, price, small, mean] of own) {
    const sum = cents.reduce((all, cent, i) => (i % 2 === Number(group) ? all + BigInt(cent) : all), 0n)
    assert.equal(price, Number(`${sum}e-2`))
    // 0.2 + 0.4 + 0.6 + 0.8 a thousand times, and 0.1 + 0.3 + 0.5 + 0.7 + 0.9.
    assert.deepEqual([small, mean], group === 0 ? [400, 0.4] : [500, 0.5])
  }
})

test('sums of doubles are compensated, and those beyond the largest double are missing', async (t) => {
  const numbers = { small: [1, 1e100, 1, -1e100], large: [1e308, 1e308, 1e308, 1e308] }
  const source = [0, 1, 2, 3].map((i) =>
    feature({ small: numbers.small[i]!, large: numbers.large[i]! }, null),
  )
  const extreme = await openSnapshot((await compileText(collection(source))).folder)
  t.after(() => extreme.close())
  const measures = named([
    { kind: 'sum' as const, column: 'small' },
    { kind: 'sum' as const, column: 'large' },
    { kind: 'mean' as const, column: 'large' },
    { kind: 'stddev' as const, column: 'large' },
  ])
  const { rows: extremes } = await engine.aggregate(extreme, { ...EMPTY, measures }, null, work)
  assert.deepEqual(extremes, [[2, null, 1e308, 0]])
})
