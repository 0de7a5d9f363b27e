import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  chartText,
  fitted,
  KINDS,
  LAYOUTS,
  MEASURES,
  ORDERS,
  plainChart,
  readChart,
  SCALES,
} from '../src/explorer/charts/chart.ts'
import { isInside, type Mark } from '../src/explorer/charts/chart-data.ts'
import { niceWidth, rounded } from '../src/explorer/charts/chart-groups.ts'
import { logAxis, numberWithoutPlace } from '../src/explorer/charts/log-axis.ts'
import { fittingPeriod, nextPeriod, periodStart, periodWords } from '../src/explorer/charts/period.ts'
import { picked, rangeBetween } from '../src/explorer/charts/picked.ts'
import { csvOf } from '../src/explorer/charts/table-of.ts'
import { chartsWorthSeeing } from '../src/explorer/charts/worth-seeing.ts'
import type { Clause } from '../src/explorer/filter/clause.ts'

const column = (name: string, type: string) => ({ name, type, nullable: true })
const columns = [
  column('id', 'integer'),
  column('constant', 'text'),
  column('name', 'text'),
  column('kind; or \\', 'text'),
  column('zone', 'integer'),
  column('value', 'number'),
  column('changed', 'timestamp'),
  column('measured', 'timestamp'),
  column('tags', 'json'),
]
const statistic = (distinct: number, more: object = {}) => ({ nulls: 0, distinct, isExact: true, ...more })
const dataset = {
  table: 'things',
  rows: 1000,
  columns,
  statistics: {
    id: statistic(1000, { histogram: [500, 500] }),
    constant: statistic(1),
    name: statistic(990),
    'kind; or \\': statistic(5, { frequent: [{ value: 'a', count: 400 }] }),
    zone: statistic(4, { histogram: [250, 250, 250, 250] }),
    value: statistic(800, { histogram: [700, 200, 100] }),
    changed: statistic(900, { nulls: 600 }),
    measured: statistic(900),
  },
} as never

test('the text of a chart is read as the same chart, whatever the names of its columns', () => {
  const name = fc.constantFrom(...columns.map((one) => one.name))
  const chart = fc.record({
    column: name,
    kind: fc.constantFrom(...KINDS),
    measure: fc.constantFrom(...MEASURES),
    of: name,
    step: fc.constantFrom('', 'values', '0.5', 'month', 'weekday'),
    by: name,
    layout: fc.constantFrom(...LAYOUTS),
    scale: fc.constantFrom(...SCALES),
    order: fc.constantFrom(...ORDERS),
    top: fc.integer({ min: 1, max: 50 }),
    title: fc.string({ unit: 'grapheme', maxLength: 30 }),
    note: fc.constantFrom('', 'a; b = c, \\; "d"\nnext'),
  })
  fc.assert(
    fc.property(chart, (chart) => {
      const drawable = fitted(chart, dataset)
      if (drawable) assert.deepEqual(readChart(chartText(drawable), dataset), drawable)
      else assert.equal(chart.column, 'tags')
    }),
  )
})

test('a chart of an address that does not fit the dataset becomes one that does', () => {
  assert.equal(readChart('gone', dataset), null)
  assert.equal(readChart('', dataset), null)
  const odd = 'value;kind=pie;measure=sum;of=name;by=gone;step=-3;top=1e9;layout=filled'
  assert.deepEqual(readChart(odd, dataset), { ...plainChart('value'), measure: 'sum', of: 'id' })
})

test('the first charts are those that tell most: not constants, ids, names or a second time', () => {
  const names = chartsWorthSeeing(dataset).map((chart) => chart.column)
  assert.deepEqual(names, ['measured', 'kind; or \\', 'value', 'zone'])
})

test('a click replaces what the filter says about a column, a second one removes it, a key adds to it', () => {
  const air: Clause = { kind: 'values', column: 'kind', values: ['air'], withNull: false }
  const rain: Clause = { ...air, values: ['rain'] }
  const range: Clause = { kind: 'range', column: 'value', from: 1, to: 2, isBelow: true }
  assert.deepEqual(picked([range], [air], false, dataset), [range, air])
  assert.deepEqual(picked([range, air], [rain], false, dataset), [range, rain])
  assert.deepEqual(picked([range, air], [air], false, dataset), [range])
  assert.deepEqual(picked([air], [rain], true, dataset), [{ ...air, values: ['air', 'rain'] }])
  assert.deepEqual(picked([{ ...air, values: ['air', 'rain'] }], [rain], true, dataset), [air])
  assert.deepEqual(picked([air], [rain, range], false, dataset), [rain, range])
  const none: Clause = { ...air, values: [], withNull: true }
  assert.deepEqual(picked([air], [none], true, dataset), [{ ...air, withNull: true }])
  assert.deepEqual(picked([none], [none], true, dataset), [])
})

test('marks outside of the filter on their own column are told apart', () => {
  const mark = (from: number | null, to: number | null) =>
    ({ clauses: [{ kind: 'range', column: 'value', from, to, isBelow: true }] }) as unknown as Mark
  const own: Clause = { kind: 'range', column: 'value', from: 10, to: 30, isBelow: true }
  assert.deepEqual(
    [mark(0, 10), mark(10, 20), mark(20, 30), mark(30, null)].map((one) => isInside(one, own)),
    [false, true, true, false],
  )
  assert.equal(isInside(mark(0, 10), undefined), true)
})

test('intervals have round widths and ends', () => {
  assert.deepEqual([0.031, 1, 1.1, 3, 7, 2400].map(niceWidth), [0.05, 1, 2, 5, 10, 2500])
  assert.equal(rounded(0.1 + 0.2, 0.1), 0.3)
  assert.equal(niceWidth(0), 1, 'all values are the same')
})

test('periods follow each other without gaps, and suit the time that they divide', () => {
  const at = (iso: string) => Date.parse(iso)
  assert.equal(nextPeriod(at('2024-02-01'), 'month'), at('2024-03-01'))
  assert.equal(nextPeriod(at('2024-10-01'), 'quarter'), at('2025-01-01'))
  assert.equal(nextPeriod(periodStart(1999), 'year'), at('2000-01-01'))
  assert.equal(periodStart(33), at('0033-01-01'))
  assert.equal(periodWords(at('2024-10-01'), 'quarter'), '2024 Q4')
  assert.equal(fittingPeriod(at('2024-01-01'), at('2024-01-04'), 'timestamp'), 'hour')
  assert.equal(fittingPeriod(at('2024-01-01'), at('2024-01-08'), 'timestamp'), 'day')
  assert.equal(fittingPeriod(at('2024-01-01'), at('2024-01-08'), 'date'), 'day')
  assert.equal(fittingPeriod(at('1900-01-01'), at('2024-01-08'), 'date'), 'year')
})

test('the CSV of a chart quotes texts and disarms formulas', () => {
  const mark = (group: string, value: number | null) => ({
    group,
    part: null,
    from: null,
    to: null,
    value,
    rows: 2,
    clauses: null,
  })
  const marks = [mark('a "b", c', 1.5), mark('=1+1', null)]
  const data = {
    axis: 'values' as const,
    step: '',
    marks,
    groups: [],
    parts: [],
    colors: [],
    rows: 4,
    notes: [],
  }
  const chart = { ...plainChart('kind'), measure: 'mean' as const, of: 'value' }
  assert.equal(csvOf(chart, data), 'kind,Mean of value,Rows\r\n"a ""b"", c",1.5,2\r\n\'=1+1,,2\r\n')
})

test('dragging from one bar to another selects the range of both, in either direction', () => {
  const bar = (from: number, low: number | null, high: number | null, more: Clause[] = []) =>
    ({
      from,
      clauses: [{ kind: 'range', column: 'value', from: low, to: high, isBelow: high !== null }, ...more],
    }) as Mark
  const part: Clause = { kind: 'values', column: 'zone', values: [1], withNull: false }
  const [first, middle, last] = [bar(0, null, 1), bar(1, 1, 2, [part]), bar(4, 4, null)]
  const range = { kind: 'range', column: 'value', from: 1, isBelow: false, to: null }
  assert.deepEqual(rangeBetween(middle!, last!, 'value'), range)
  assert.deepEqual(rangeBetween(last!, middle!, 'value'), range)
  assert.deepEqual(rangeBetween(middle!, first!, 'value'), { ...range, from: null, to: 2, isBelow: true })
  assert.equal(rangeBetween(first!, { ...last!, clauses: null }, 'value'), null)
})

test('a logarithmic axis is offered where lengths add up to nothing, and begins below the smallest value', () => {
  const scaleOf = (text: string) => readChart(text, dataset)!.scale
  assert.equal(scaleOf('value;scale=log'), 'log')
  assert.equal(scaleOf('value;by=kind\\; or \\\\;scale=log'), 'linear', 'parts on top of each other')
  assert.equal(scaleOf('value;by=kind\\; or \\\\;layout=grouped;scale=log'), 'log')
  assert.equal(scaleOf('value;scale=log-across'), 'linear', 'bars have one such axis')
  assert.equal(scaleOf('value;kind=points;of=zone;scale=log-across'), 'log-across')
  assert.equal(scaleOf('measured;kind=points;of=zone;scale=log-across'), 'linear', 'a time')
  assert.deepEqual(logAxis([0, 4, -2, 4000], true), {
    domain: [2, 4000],
    ticks: [3, 10, 30, 100, 300, 1000, 3000],
  })
  assert.deepEqual(logAxis([0.5, 0.5], false)?.domain, [0.25, 1])
  assert.equal(logAxis([0, -1], true), null)
  const chart = { ...plainChart('value'), measure: 'mean' as const, of: 'zone', scale: 'log' as const }
  const mark = (value: number | null, rows: number) => ({ value, rows }) as Mark
  const marks = [mark(3, 2), mark(-1, 2), mark(0, 5), mark(0, 0), mark(null, 1)]
  assert.equal(numberWithoutPlace(chart, { step: '10', marks } as never), 2)
  assert.equal(numberWithoutPlace({ ...chart, scale: 'linear' }, { step: '10', marks } as never), 0)
})
