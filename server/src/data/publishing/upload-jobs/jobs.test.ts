import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { CompileKilledError, compileSnapshot } from '@wayleave/geodata/compile'
import { lacks } from '../../../../../scripts/test-run/needs.ts'
import { DAY } from '../../../base/clock.ts'
import { operator } from '../../../base/events/events.ts'
import { newId } from '../../../base/id.ts'
import { jobsWithoutVersion } from '../../../operation/verification/verification-store.ts'
import { points } from '../../../testing/publish.ts'
import { openTestServer } from '../../../testing/test-server.ts'
import { insertJob, type JobRow, waitingJob } from '../../jobs/job-store.ts'

/** A job that a worker runs whose lease ends in so many milliseconds; null for a worker without leases. */
function runningJob(table: string, leaseMs: number | null): JobRow {
  const waiting = waitingJob({
    id: newId('job'),
    kind: 'publish',
    table_name: table,
    queue: `publish ${table}`,
    actor: 'operator',
    node_id: newId('node'),
    request: null,
    at: new Date().toISOString(),
  })
  const leaseUntil = leaseMs === null ? null : new Date(Date.now() + leaseMs).toISOString()
  return { ...waiting, state: 'running', attempts: 1, lease_token: newId('job'), lease_until: leaseUntil }
}

test('jobs whose lease has lapsed are taken over, while those of living workers go on', {
  skip: lacks('postgres'),
}, async (t) => {
  const { parts } = await openTestServer(t, { database: 'postgres' })
  const { db } = parts.database
  const jobs = [runningJob('gone', -1), runningJob('older', null), runningJob('alive', 600_000)]
  for (const job of jobs) await insertJob(db, job)
  // Rows written by an earlier version of the program do not describe the file. Taking over such a job fails
  // with a message that says so.
  const read = async () => Promise.all(jobs.map(async ({ id }) => parts.jobs.find(id)))
  while ((await read()).some(({ table, state }) => table !== 'alive' && state !== 'failed')) await sleep(20)
  const [gone, older, alive] = await read()
  for (const { problem } of [gone!, older!]) assert.match(problem!.detail, /Send it again/)
  assert.equal(alive!.state, 'running')
  assert.equal(parts.runner.leasesLost, 2)
})

test('uploads that no job waits for are removed after a day', { skip: lacks('postgres') }, async (t) => {
  const { parts, config } = await openTestServer(t, { database: 'postgres' })
  const folder = join(config.dataDir, 'uploads')
  mkdirSync(folder, { recursive: true })
  const wanted = runningJob('places', 600_000)
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

test('a dry run is not reported as a job whose version is missing', async (t) => {
  const { parts } = await openTestServer(t)
  const id = parts.jobs.newId()
  const content = points(3)
  writeFileSync(await parts.jobs.uploadPath(id), content)
  const publish = { table: 'places', file: 'a.geojson', description: {}, dryRun: true }
  await parts.jobs.start(id, { publish, origin: operator, uploadBytes: content.length })
  while ((await parts.jobs.find(id)).state !== 'done') await sleep(20)
  assert.deepEqual(await jobsWithoutVersion(parts.database.db), [])
})

test('a job whose compiling process is killed is tried again, and fails only if that repeats', async (t) => {
  let kills = 1
  const compile: typeof compileSnapshot = (...args) => {
    if (kills-- > 0) throw new CompileKilledError('The process that compiled a.geojson was killed.')
    return compileSnapshot(...args)
  }
  const { parts } = await openTestServer(t, { work: { compile } })
  const start = async (table: string) => {
    const id = parts.jobs.newId()
    const content = points(3)
    writeFileSync(await parts.jobs.uploadPath(id), content)
    const publish = { table, file: 'a.geojson', description: {} }
    await parts.jobs.start(id, { publish, origin: operator, uploadBytes: content.length })
    for (;;) {
      const job = await parts.jobs.find(id)
      if (job.state === 'done' || job.state === 'failed') return job
      await sleep(20)
    }
  }
  assert.equal((await start('places')).state, 'done')
  kills = 100
  const failed = await start('always')
  assert.equal(failed.state, 'failed')
  assert.match(failed.problem!.detail, /was killed/)
  assert.equal(kills, 97)
})
