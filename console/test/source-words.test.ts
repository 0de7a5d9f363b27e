import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SourceRunRecord } from '@wayleave/contract/records'
import { featureChanges } from '../src/datasets/version-changes.ts'
import { durationWords, outcomeWords, scheduleWords } from '../src/sources/source-words.ts'

const run: SourceRunRecord = {
  id: 'run_1',
  startedAt: '2026-11-15T08:00:00.000Z',
  endedAt: '2026-11-15T08:00:02.340Z',
  outcome: 'published',
  isManual: false,
  version: 3,
  rows: 12_000,
  bytes: 2_500_000,
  problem: null,
}

test('changes of features are in signs and in words', () => {
  assert.deepEqual(featureChanges({ from: 1, added: 312, removed: 4, changed: 1208 }), {
    short: '+312 −4 ~1,208',
    words: '312 features added, 4 removed, 1,208 changed',
  })
  assert.equal(featureChanges({ from: 1, added: 0, removed: 0, changed: 0 }).words, 'No feature changed')
})

test('a schedule and a run are in words', () => {
  assert.deepEqual(['6h', '1d', '15 3 * * *', 'CRON_TZ=Europe/Vienna 15 3 * * *', null].map(scheduleWords), [
    'Every 6 hours',
    'Every day',
    'By the schedule 15 3 * * * (UTC)',
    'By the schedule 15 3 * * * (Europe/Vienna)',
    'By hand',
  ])
  assert.equal(outcomeWords(run), 'Version 3: 12,000 rows from 2.5 MB')
  assert.equal(outcomeWords({ ...run, outcome: 'failed', problem: 'It is gone.' }), 'It is gone.')
  const problem = 'a.gpkg has 2 layers: a, b. Choose one with --layer.'
  assert.match(outcomeWords({ ...run, outcome: 'failed', problem }), /Choose one with “Layer or sheet”\.$/)
  assert.match(outcomeWords({ ...run, rows: 1 }), /: 1 row from/)
  assert.equal(durationWords(run), '2.3 s')
  assert.equal(durationWords({ ...run, endedAt: '2026-11-15T08:01:05.000Z' }), '1 min 5 s')
})
