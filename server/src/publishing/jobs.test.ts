import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { DAY } from '../clock.ts'
import { newId } from '../id.ts'
import { openTestServer, withoutPostgres } from '../testing/test-server.ts'
import { insertJob, type JobRow } from './job-store.ts'

function jobOf(nodeId: string): JobRow {
  const at = new Date().toISOString()
  const unset = { progress: null, report: null, problem: null, version: null, request: null, attempts: 0 }
  const times = { created_at: at, updated_at: at }
  return {
    id: newId('job'),
    table_name: 'places',
    state: 'running',
    actor: 'operator',
    node_id: nodeId,
    ...unset,
    ...times,
  }
}

test('the jobs of a node that is gone are taken over, while those of living nodes go on', {
  skip: withoutPostgres,
}, async (t) => {
  const { parts } = await openTestServer(t, { database: 'postgres' })
  const { db } = parts.database
  const [gone, slow] = [newId('node'), newId('node')]
  const ago = (milliseconds: number) => new Date(Date.now() - milliseconds).toISOString()
  await db
    .insertInto('nodes')
    .values({ id: gone, lease_until: ago(600_000), acknowledged: 0 })
    .execute()
  await db
    .insertInto('nodes')
    .values({ id: slow, lease_until: ago(5_000), acknowledged: 0 })
    .execute()
  const other = newId('node')
  await db
    .insertInto('nodes')
    .values({ id: other, lease_until: ago(0), acknowledged: 0 })
    .execute()
  const jobs = [gone, slow, other].map(jobOf)
  for (const job of jobs) await insertJob(db, job)
  await parts.jobs.sweep()
  // Rows written by an earlier version of the program do not describe the file. Taking over such a job fails
  // with a message that says so.
  const read = async () => Promise.all(jobs.map(async ({ id }) => parts.jobs.find(id)))
  while ((await read())[0]!.state !== 'failed') await sleep(20)
  const [ended, ...others] = await read()
  assert.match(ended!.problem!.detail, /Send it again/)
  assert.deepEqual(
    others.map(({ state }) => state),
    ['running', 'running'],
  )
})

test('uploads that no job waits for are removed after a day', { skip: withoutPostgres }, async (t) => {
  const { parts, config } = await openTestServer(t, { database: 'postgres' })
  const folder = join(config.dataDir, 'uploads')
  mkdirSync(folder, { recursive: true })
  const living = newId('node')
  await parts.database.db
    .insertInto('nodes')
    .values({ id: living, lease_until: new Date().toISOString(), acknowledged: 0 })
    .execute()
  const wanted = jobOf(living)
  await insertJob(parts.database.db, wanted)
  const [left, fresh] = [newId('job'), newId('job')]
  const old = new Date(Date.now() - 2 * DAY)
  for (const name of [left, fresh, wanted.id, 'lost+found']) {
    writeFileSync(join(folder, name), 'x')
    if (name !== fresh) utimesSync(join(folder, name), old, old)
  }
  await parts.jobs.sweep()
  assert.deepEqual(readdirSync(folder).sort(), [fresh, wanted.id, 'lost+found'].sort())
})
