import assert from 'node:assert/strict'
import { test } from 'node:test'
import { forecastOf, forecastWords } from '../src/usage/forecast.ts'
import { layersOf } from '../src/usage/usage-parts.ts'
import { changeWords, daysIn, periodBefore, readRange } from '../src/usage/usage-period.ts'
import { weekday } from '../src/words.ts'

const now = Date.parse('2026-11-18T12:00:00Z')
const range = (startDate: string, endDate: string) => ({ startDate, endDate })

test('the period before has as many days and ends the day before', () => {
  assert.deepEqual(periodBefore(range('2026-03-01', '2026-03-30')), range('2026-01-30', '2026-02-28'))
  assert.deepEqual(periodBefore(range('2026-03-01', '2026-03-01')), range('2026-02-28', '2026-02-28'))
  assert.equal(daysIn(periodBefore(range('2025-11-19', '2026-11-18'))), 365)
})

test('an address has a period; without one, or with one that cannot be reported, it is the last 30 days', () => {
  const read = (query: string) => readRange(new URLSearchParams(query), now)
  const usual = range('2026-10-20', '2026-11-18')
  assert.deepEqual(read('from=2026-01-01&to=2026-01-31'), range('2026-01-01', '2026-01-31'))
  for (const query of ['', 'from=2026-01-01', 'from=x&to=y', 'from=2026-02-01&to=2026-01-01'])
    assert.deepEqual(read(query), usual, query)
  assert.deepEqual(read('from=2020-01-01&to=2026-01-01'), usual, 'more than a year')
})

test('a change is shown in percent, a large one as a factor, and none if there was nothing before', () => {
  assert.equal(changeWords(112, 100, 30), '12 % more than in the 30 days before')
  assert.equal(changeWords(88, 100, 7), '12 % less than in the 7 days before')
  assert.equal(changeWords(5, 5, 1), 'as many as on the day before')
  assert.equal(changeWords(100_001, 100_000, 30), 'about as many as in the 30 days before')
  assert.equal(changeWords(2500, 2, 30), '1,250 times as many as in the 30 days before')
  assert.equal(changeWords(3, 0, 30), 'none in the 30 days before')
  assert.equal(changeWords(0, 0, 30), 'none in the 30 days before either')
})

test('a list by days calls them as people do', () => {
  assert.deepEqual(
    ['2026-11-18T00:00:00Z', '2026-11-17T23:59:59Z', '2026-11-16T08:00:00Z'].map((at) => weekday(at, now)),
    ['Today', 'Yesterday', 'Mon, 16 Nov 2026'],
  )
})

test('a forecast goes on as on the whole days since the first use, until the end of the period', () => {
  const days = (...credits: number[]) =>
    credits.map((one, i) => ({
      date: new Date(now - (credits.length - 1 - i) * 86_400_000).toISOString().slice(0, 10),
      calls: one * 2,
      credits: one,
    }))
  const at = { now, periodEnd: null, balance: 100 }
  // The days before the first use, and today, which is not over, do not count.
  const forecast = forecastOf(days(0, 0, 10, 20, 30, 999), at)!
  assert.deepEqual(forecast, {
    ...{ measure: 'credits', days: 3, perDay: 20, end: '2026-11-30', needed: 240, runsOut: '2026-11-23' },
  })
  assert.equal(
    forecastWords(forecast, 100),
    'At the rate of the last 3 days (20 credits a day), you will need about 240 credits until 30 Nov 2026. The 100 that are left last until about 23 Nov 2026.',
  )
  const enough = forecastOf(days(1, 0, 0, 0, 0), { ...at, periodEnd: '2026-11-22T10:00:00Z' })!
  assert.deepEqual([enough.perDay, enough.needed, enough.end, enough.runsOut], [0.25, 1, '2026-11-22', null])
  assert.match(forecastWords(enough, 100), /\(0\.3 credits a day\).* 100 are left\.$/)
  assert.equal(forecastOf(days(5, 5, 5), at), null, 'two whole days tell nothing')
  assert.equal(forecastOf(days(0, 0, 0, 0, 0), at), null)
  const free = forecastOf(
    days(1, 1, 1, 1).map((one) => ({ ...one, credits: 0 })),
    { ...at, balance: 0 },
  )!
  assert.deepEqual([free.measure, free.needed, free.runsOut], ['calls', 24, null])
  assert.match(forecastWords(free, 0), /about 24 calls until 30 Nov 2026\.$/)
})

test('the bars of days are split into the keys, the largest lowest, and into what no key has', () => {
  const days = (...calls: number[]) =>
    calls.map((one, i) => ({ date: `2026-11-0${i + 1}`, calls: one, credits: 0 }))
  const parts = [
    { name: 'small', days: days(1, 0, 2) },
    { name: 'unused', days: days(0, 0, 0) },
    // A key that was used later has fewer days.
    { name: 'large', days: days(5, 5, 0).slice(1) },
  ]
  assert.deepEqual(layersOf(days(4, 5, 9), parts, 'calls', 'Others'), [
    { name: 'large', own: [0, 5, 0], top: [0, 5, 0] },
    { name: 'small', own: [1, 0, 2], top: [1, 5, 2] },
    { name: 'Others', own: [3, 0, 7], top: [4, 5, 9] },
  ])
  assert.deepEqual(
    layersOf(days(1, 0, 2), parts.slice(0, 1), 'calls', 'Others').map(({ name }) => name),
    ['small'],
  )
})
