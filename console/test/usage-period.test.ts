import assert from 'node:assert/strict'
import { test } from 'node:test'
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
