import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '../../base/database/open.ts'
import { newId } from '../../base/id.ts'
import { cleanUp } from '../../testing/cleanup.ts'
import { databaseKinds, temporaryDatabase, temporaryFolder } from '../../testing/test-server.ts'
import { JOB_KINDS, type JobKind } from './job-kinds.ts'
import {
  claimJob,
  countOpenJobs,
  insertJob,
  insertOrJoinJob,
  type JobRow,
  readJob,
  releaseAbandonedJobs,
  releaseJob,
  renewLeases,
  SOURCE_JOB,
  updateAttempt,
  waitingJob,
} from './job-store.ts'

let sequence = 0

function job(kind: JobKind, subject: string, change: Partial<JobRow> = {}): JobRow {
  const row = waitingJob({
    id: newId('job'),
    kind,
    table_name: 'places',
    queue: `${kind} ${subject}`,
    actor: 'system',
    node_id: 'node',
    request: null,
    at: new Date(Date.now() - 60_000 + sequence++).toISOString(),
  })
  return { ...row, ...change }
}

for (const kind of databaseKinds) {
  const open = async (t: TestContext) => {
    const databaseUrl = kind === 'postgres' ? await temporaryDatabase(t) : null
    const database = await openDatabase({ dataDir: temporaryFolder(t), databaseUrl })
    cleanUp(t, () => database.close())
    const at = new Date().toISOString()
    const claim = (kinds: readonly JobKind[] = JOB_KINDS, nodeId = 'node') =>
      claimJob(database, { kinds, nodeId, token: newId('job'), at, except: [] })
    return { database, db: database.db, claim, at }
  }

  test(`sources of one publisher leave places to others, and its uploads go on (${kind})`, async (t) => {
    const { database, db, at } = await open(t)
    const source = (table: string, owner_id: string | null) =>
      job('publish', table, { owner_id, single_key: `${SOURCE_JOB}${table}` })
    const rows = [source('a', 'org_a'), source('b', 'org_a'), source('c', 'org_a')]
    const upload = job('publish', 'd', { owner_id: 'org_a' })
    const others = [source('e', null), source('f', null), source('g', null), source('h', 'org_b')]
    for (const row of [...rows, upload, ...others]) await insertJob(db, row)
    const claim = async () =>
      claimJob(database, {
        ...{ kinds: JOB_KINDS, nodeId: 'node', token: newId('job'), at, except: [] },
        sourcesPerOwner: 2,
      })
    const claimed = []
    for (let row = await claim(); row !== null; row = await claim()) claimed.push(row)
    const queues = claimed.map(({ queue }) => queue.slice('publish '.length))
    assert.deepEqual(queues, ['a', 'b', 'd', 'e', 'f', 'h'])
    await updateAttempt(db, { id: rows[0]!.id, token: claimed[0]!.lease_token! }, { state: 'done' })
    assert.equal((await claim())?.id, rows[2]!.id)
  })

  test(`jobs are claimed by priority and age, one of each queue at a time (${kind})`, async (t) => {
    const { db, claim } = await open(t)
    const tiles = job('tiles', 'a')
    const first = job('publish', 'a', { priority: 20 })
    const second = job('publish', 'a', { priority: 20 })
    const other = job('publish', 'b', { priority: 20 })
    const download = job('export', 'a', { priority: 30 })
    // Inserted in another order than they are claimed in.
    for (const row of [second, tiles, other, download, first]) await insertJob(db, row)
    const claimed = []
    for (let row = await claim(); row !== null; row = await claim()) claimed.push(row)
    assert.deepEqual(
      claimed.map(({ id }) => id),
      [download, first, other, tiles].map(({ id }) => id),
    )
    assert.ok(claimed.every(({ state, attempts }) => state === 'running' && attempts === 1))
    assert.equal(await claim(['export']), null)
    await updateAttempt(db, { id: first.id, token: claimed[1]!.lease_token! }, { state: 'done' })
    assert.equal((await claim(['export', 'tiles'])) ?? (await claim())?.id, second.id)
  })

  test(`workers that claim at the same instant get different jobs (${kind})`, async (t) => {
    const { db, claim } = await open(t)
    for (let i = 0; i < 30; i++) await insertJob(db, job('publish', `table ${i % 5}`))
    const claims = await Promise.all(Array.from({ length: 20 }, (_, i) => claim(JOB_KINDS, `node ${i}`)))
    const rows = claims.filter((row) => row !== null)
    assert.ok(rows.length >= 1)
    assert.equal(new Set(rows.map(({ queue }) => queue)).size, rows.length)
  })

  test(`an attempt whose lease lapsed is fenced off, and a live one is renewed (${kind})`, async (t) => {
    const { database, db, claim, at } = await open(t)
    await insertJob(db, job('publish', 'a'))
    const slow = (await claim())!
    const slowAttempt = { id: slow.id, token: slow.lease_token! }
    const release = () => releaseAbandonedJobs(database, { except: [], evenLeased: false, at })
    assert.deepEqual(await release(), [])
    assert.deepEqual([...(await renewLeases(database, [slowAttempt]))], [slowAttempt.token])
    await db.updateTable('jobs').set({ lease_until: '2020-01-01T00:00:00.000Z' }).execute()
    assert.deepEqual(
      (await release()).map(({ id }) => id),
      [slow.id],
    )
    const next = (await claim(JOB_KINDS, 'another'))!
    assert.deepEqual([next.id, next.attempts, next.node_id], [slow.id, 2, 'another'])
    assert.equal(await updateAttempt(db, slowAttempt, { state: 'done' }), false)
    assert.equal((await renewLeases(database, [slowAttempt])).size, 0)
    await releaseJob(database, slowAttempt, { attempts: 0, retries: 0, delayMs: 0, at })
    assert.equal((await readJob(db, slow.id))!.state, 'running')
    assert.equal(await updateAttempt(db, { id: next.id, token: next.lease_token! }, { state: 'done' }), true)
  })

  test(`a released job waits for its delay, and jobs with one key are one job (${kind})`, async (t) => {
    const { database, db, claim, at } = await open(t)
    const build = () => job('export', 'snapshot', { single_key: 'export csv', priority: 1 })
    const rows = await Promise.all(Array.from({ length: 5 }, () => insertOrJoinJob(db, build())))
    assert.equal(new Set(rows.map(({ id }) => id)).size, 1)
    await insertOrJoinJob(db, { ...build(), priority: 7 })
    const claimed = (await claim())!
    assert.equal(claimed.priority, 7)
    const attempt = { id: claimed.id, token: claimed.lease_token! }
    await releaseJob(database, attempt, { attempts: 0, retries: 1, delayMs: 500, at })
    assert.equal(await claim(), null)
    assert.deepEqual(
      (await countOpenJobs(database)).map(({ oldestSeconds, ...count }) => [count, oldestSeconds > 50]),
      [[{ kind: 'export', state: 'waiting', count: 1 }, true]],
    )
    let again = await claim()
    for (; again === null; again = await claim()) await sleep(20)
    assert.deepEqual([again.id, again.attempts, again.retries], [claimed.id, 1, 1])
    await updateAttempt(db, { id: again.id, token: again.lease_token! }, { state: 'failed' })
    const next = await insertOrJoinJob(db, build())
    assert.notEqual(next.id, claimed.id)
  })
}
