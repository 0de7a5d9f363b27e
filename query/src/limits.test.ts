import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openSnapshot, type Snapshot } from '@wayleave/geodata/features'
import { collection, compileText, feature, scratch } from '@wayleave/geodata/testing'
import { needs } from '../../scripts/test-run/needs.ts'
import { selectSql } from './by-duckdb/duckdb-cache.ts'
import { DuckdbQueries } from './by-duckdb/duckdb-queries.ts'
import { planConditions } from './plan/plan-conditions.ts'
import { QueryError } from './query-error.ts'
import { conditionsOf } from './testing/conditions.ts'
import { TimedWork } from './work/timed-work.ts'

needs('time')

/** A query that no limit of DuckDB's ends: its result is small, and each row takes long. */
const ENDLESS = 'SELECT count(*) FROM range(100000000000) AS r(i) WHERE sin(i) > 2'
/** Lists of single characters, which DuckDB does not count as its memory. */
const GREEDY =
  "SELECT sum(len(list_transform(string_split(repeat('ä', 400000), ''), lambda c: c || i::VARCHAR))) FROM range(4096) AS r(i)"

let snapshot: Snapshot
before(async () => {
  const made = Array.from({ length: 300 }, (_, i) =>
    feature({ txt: `Größe ${i} ${'éü'.repeat(50)}` }, { type: 'Point', coordinates: [i / 10, 0] }),
  )
  snapshot = await openSnapshot((await compileText(collection(made))).folder)
})
after(() => snapshot.close())

const workOf = (owner: string, maxMs: number, disconnected?: () => AbortSignal) =>
  new TimedWork({ owner, maxMs, disconnected })
const isQueryError = (code: string) => (error: unknown) => error instanceof QueryError && error.code === code
const isRunning = (pid: number) => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

test('a query ends at its time limit and when its client leaves, and the next one is run', async (t) => {
  const duckdb = new DuckdbQueries(scratch)
  t.after(() => duckdb.close())
  const source = { snapshot, columns: new Map<string, string>() }
  const ask = (sql: string, work: TimedWork) => duckdb.texts(source, () => sql, [], work)
  const late = ask(ENDLESS, workOf('a', 1500))
  await assert.rejects(
    late,
    (error) => isQueryError('invalid-filter')(error) && /1\.5 seconds/.test(String(error)),
  )
  const client = new AbortController()
  const left = ask(
    ENDLESS,
    workOf('a', 60_000, () => client.signal),
  )
  setTimeout(() => client.abort(), 50)
  await assert.rejects(left, { name: 'AbortError' })
  assert.deepEqual(await ask("SELECT 'next'", workOf('a', 60_000)), [['next']])
})

test('a query that needs too much memory is ended with its process, and refused', async (t) => {
  const duckdb = new DuckdbQueries(scratch, { megabytes: 256 })
  t.after(() => duckdb.close())
  const source = { snapshot, columns: new Map<string, string>() }
  const ask = (sql: string) => duckdb.texts(source, () => sql, [], workOf('a', 60_000))
  await ask("SELECT 'begun'")
  const [pid] = duckdb.processes
  await assert.rejects(
    ask(GREEDY),
    (error) => isQueryError('invalid-filter')(error) && /256 MB/.test(String(error)),
  )
  assert.equal(isRunning(pid!), false)
  assert.deepEqual(await ask("SELECT 'next'"), [['next']])
})

test('slow queries of one owner leave room for another, and are refused instead of queued for long', async (t) => {
  const duckdb = new DuckdbQueries(scratch, { maxWaitMs: 100 })
  t.after(() => duckdb.close())
  const source = { snapshot, columns: new Map<string, string>() }
  const client = new AbortController()
  const ask = (owner: string, sql: string) =>
    duckdb.texts(
      source,
      () => sql,
      [],
      workOf(owner, 60_000, () => client.signal),
    )
  const slow = Array.from({ length: 8 }, () => ask('a', ENDLESS))
  const results = Promise.allSettled(slow)
  assert.deepEqual(await ask('b', "SELECT 'b'"), [['b']])
  while (duckdb.waiting > 0) await delay(10)
  client.abort()
  const refused = (await results).filter(
    (result) => result.status === 'rejected' && isQueryError('overloaded')(result.reason),
  )
  assert.ok(refused.length >= 5, `${refused.length} of 8 were refused`)
})

test('a folded column is computed once for all conditions that read it', async (t) => {
  const duckdb = new DuckdbQueries(scratch)
  t.after(() => duckdb.close())
  const filter = (count: number) =>
    Array.from({ length: count }, (_, i) => `casei(accenti(txt)) LIKE casei(accenti('%Q${i}Z%'))`).join(
      ' OR ',
    )
  const plan = planConditions(conditionsOf(filter(200)), snapshot)!
  const source = { snapshot, columns: plan.sql.derived }
  const sql = (table: string) => `EXPLAIN SELECT file_row_number FROM ${table} WHERE ${plan.sql.where}`
  const [explained] = await duckdb.texts(source, sql, plan.sql.params as string[], workOf('a', 60_000))
  const times = explained!.join('').split('strip_accents').length - 1
  assert.ok(times <= 4, `the plan folds ${times} times`)
  assert.match(selectSql(plan.sql.derived, 'rows'), /strip_accents/)
})

test('what a filter may cost is limited before it runs, and the sentence names the limit', () => {
  const plan = (filter: string) => () => planConditions(conditionsOf(filter), snapshot)
  const many = (count: number, one: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => one(i)).join(' OR ')
  const refused = (sentence: RegExp) => (error: unknown) =>
    isQueryError('invalid-filter')(error) && sentence.test(String(error))
  assert.ok(plan(many(256, (i) => `txt LIKE '%${i}%'`))())
  assert.throws(plan(many(257, (i) => `txt LIKE '%${i}%'`)), refused(/256 LIKE/))
  assert.throws(plan(`txt LIKE '${'x'.repeat(1025)}'`), refused(/1024 characters/))
  assert.throws(plan(many(17, () => `txt LIKE '${'%a_'.repeat(333)}'`)), refused(/16384 characters in all/))
})
