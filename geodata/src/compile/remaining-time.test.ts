import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CompileProgress } from './compile-options.ts'
import { RemainingTime } from './remaining-time.ts'

const reading = (bytesRead: number): CompileProgress => ({
  ...{ phase: 'reading', rows: bytesRead, bytesRead, totalBytes: 1000 },
})
const later = (phase: 'sorting' | 'indexing', indexedRows?: number): CompileProgress => ({
  ...{ phase, rows: 1000, bytesRead: 1000, totalBytes: 1000 },
  ...(indexedRows !== undefined && { indexedRows }),
})

test('the remaining time follows the rate of reading, and then that of indexing', () => {
  const time = new RemainingTime(0)
  const seconds = (progress: CompileProgress, at: number) => time.at(progress, at * 1000).remainingSeconds
  assert.equal(seconds(reading(100), 1), null, 'too early')
  assert.equal(seconds(reading(5), 2), null, 'too little')
  assert.equal(seconds(reading(100), 10), 190, '90 s of reading and as long again')
  assert.equal(seconds(reading(500), 50), 150)
  assert.equal(seconds(later('sorting'), 100), 100)
  assert.equal(seconds(later('sorting'), 120), 80)
  assert.equal(seconds(later('sorting'), 200), 70, 'sorting takes longer than expected')
  assert.equal(seconds(later('indexing', 0), 200), 70)
  assert.equal(seconds(later('indexing', 250), 210), 30)
  assert.deepEqual(
    [time.at(later('indexing', 1000), 240_000)].map((each) => [each.fraction, each.remainingSeconds]),
    [[1, 0]],
  )
})

test('a source of unknown size has no estimate until it is read', () => {
  const time = new RemainingTime(0)
  const unknown: CompileProgress = { phase: 'reading', rows: 5, bytesRead: 50, totalBytes: null }
  assert.deepEqual(time.at(unknown, 60_000), { ...unknown, fraction: null, remainingSeconds: null })
  assert.equal(time.at(later('sorting'), 100_000).remainingSeconds, 100)
})
