import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { operator } from '../../../base/events/events.ts'
import { newId } from '../../../base/id.ts'
import { signIn } from '../../../testing/sign-in.ts'
import { databaseKinds, openTestServer, type TestServer } from '../../../testing/test-server.ts'
import { claimJob, insertJob, waitingJob } from '../../jobs/job-store.ts'
import { MAX_UPLOADS } from './upload-quota.ts'

async function openPublisher(service: TestServer, email: string) {
  const user = await signIn(service, email)
  await service.parts.organizationAdministration.setPublishing(operator, user.organizationId, true)
  return user
}

type Sender = { token: string } | { key: string }

async function send(service: TestServer, sender: Sender, path: string, body: string) {
  const headers = { 'content-type': 'text/csv' }
  const method = path.startsWith('/v1/inspect') ? 'POST' : 'PUT'
  const response = await service.request(method, path, { ...sender, body, headers })
  if (response.status === 409) assert.equal(response.body.code, 'upload-limit-reached', response.text)
  else assert.equal(response.status, 202, response.text)
  return response
}

for (const database of databaseKinds) {
  // No upload is run.
  const open = async (t: Parameters<typeof openTestServer>[0]) => {
    const service = await openTestServer(t, { database, settings: { publishJobs: 0, maxUploadBytes: 1000 } })
    const ada = await openPublisher(service, 'ada@example.org')
    const bob = await openPublisher(service, 'bob@example.org')
    const permissions = ['write']
    const { secret: key } = await service.parts.keys.createPlatform(operator, { name: 'P', permissions })
    return { service, db: service.parts.database.db, ada, bob, operator: { key } }
  }

  test(`a publisher has as many uploads as it may, and hinders nobody (${database})`, async (t) => {
    const { service, db, ada, bob, operator: platform } = await open(t)
    const room = 4
    for (let i = 0; i < MAX_UPLOADS - room; i++) {
      const job = waitingJob({
        id: newId('job'),
        kind: 'publish',
        table_name: `old${i}`,
        queue: `publish old${i}`,
        actor: 'system',
        node_id: 'node',
        request: '{"uploadBytes":1}',
        at: new Date().toISOString(),
        owner_id: ada.organizationId,
      })
      await insertJob(db, job)
    }
    // What does not count: jobs that have ended, sources, and those of others.
    const other = { ...(await db.selectFrom('jobs').selectAll().executeTakeFirstOrThrow()) }
    await insertJob(db, { ...other, id: newId('job'), state: 'failed' })
    await insertJob(db, { ...other, id: newId('job'), single_key: 'publish source a', request: '{}' })
    await insertJob(db, { ...other, id: newId('job'), owner_id: null })

    const answers = await Promise.all(
      Array.from({ length: 2 * room }, (_, i) => send(service, ada, `/v1/dataset/new${i}`, 'a,b\n')),
    )
    const accepted = answers.filter(({ status }) => status === 202)
    assert.ok(accepted.length >= 1 && accepted.length <= room, String(accepted.length))
    // Uploads that arrive at once are counted twice for a moment, so some may be refused that have room.
    for (let i = accepted.length; i < room; i++) {
      accepted.push(await send(service, ada, `/v1/dataset/more${i}`, 'a,b\n'))
      assert.equal(accepted.at(-1)!.status, 202)
    }
    const refused = await send(service, ada, '/v1/dataset/last', 'a,b\n')
    assert.equal(refused.status, 409)
    assert.match(refused.body.detail, /may have 50 uploads/)
    assert.equal((await send(service, ada, '/v1/inspect', 'a,b\n')).status, 409)
    const folder = join(service.config.dataDir, 'uploads')
    while (readdirSync(folder).length > room) await sleep(5)

    assert.equal((await send(service, bob, '/v1/dataset/bobs', 'a,b\n')).status, 202)
    assert.equal((await send(service, platform, '/v1/dataset/platforms', 'a,b\n')).status, 202)
    const cancelled = await service.request('DELETE', `/v1/jobs/${accepted[0]!.body.id}`, ada)
    assert.equal(cancelled.status, 200)
    assert.equal((await send(service, ada, '/v1/dataset/last', 'a,b\n')).status, 202)
  })

  test(`the files of a publisher have as many bytes as they may, kept inspections too (${database})`, async (t) => {
    const { service, db, ada, bob, operator: platform } = await open(t)
    const body = 'a'.repeat(1000)
    const first = await send(service, ada, '/v1/inspect', body)
    for (let i = 0; i < 3; i++)
      assert.equal((await send(service, ada, `/v1/dataset/a${i}`, body)).status, 202)
    const refused = async () => (await send(service, ada, '/v1/dataset/more', 'a')).body.detail
    assert.match(await refused(), /may have 4000 bytes in all/)
    for (const sender of [bob, platform])
      assert.equal((await send(service, sender, '/v1/dataset/others', body)).status, 202)

    const change = (changes: { state?: 'done'; updated_at?: string }) =>
      db.updateTable('jobs').set(changes).where('id', '=', first.body.id).execute()
    await change({ state: 'done' })
    assert.match(await refused(), /4000 bytes/)
    await change({ updated_at: new Date(Date.now() - 7_200_000).toISOString() })
    assert.equal((await send(service, ada, '/v1/dataset/more', body)).status, 202)
  })

  test(`the file of an inspection counts once if it is published (${database})`, async (t) => {
    const { service, db, ada } = await open(t)
    const body = 'a'.repeat(1000)
    const inspections = []
    for (let i = 0; i < 3; i++) inspections.push(await send(service, ada, '/v1/inspect', body))
    await db.updateTable('jobs').set({ state: 'done' }).execute()
    for (const [i, { body: job }] of inspections.entries()) {
      const response = await service.request('PUT', `/v1/dataset/a${i}?inspection=${job.id}`, ada)
      assert.equal(response.status, 202, response.text)
    }
    assert.equal((await send(service, ada, '/v1/dataset/more', body)).status, 202)
    assert.equal((await send(service, ada, '/v1/dataset/last', 'a')).status, 409)
  })

  test(`the first upload of a publisher does not wait for all of another (${database})`, async (t) => {
    const { service, ada, bob } = await open(t)
    for (const table of ['a1', 'a2', 'a3']) await send(service, ada, `/v1/dataset/${table}`, 'a')
    for (const table of ['b1', 'b2']) await send(service, bob, `/v1/dataset/${table}`, 'a')
    const claimed: string[] = []
    for (;;) {
      const at = new Date().toISOString()
      const claim = { kinds: ['publish'] as const, nodeId: 'node', token: newId('job'), at, except: [] }
      const row = await claimJob(service.parts.database, claim)
      if (row === null) break
      claimed.push(row.table_name)
    }
    assert.deepEqual(claimed, ['a1', 'b1', 'a2', 'a3', 'b2'])
  })
}

test('an upload ends as soon as those of its publisher have more bytes than they may', async (t) => {
  const service = await openTestServer(t, { settings: { publishJobs: 0, maxUploadBytes: 1000 } })
  const ada = await openPublisher(service, 'ada@example.org')
  const bob = await openPublisher(service, 'bob@example.org')
  const { jobs } = service.parts
  const begin = (owner: string | null) => jobs.beginUpload(owner)
  const arriving = await Promise.all(Array.from({ length: 5 }, () => begin(ada.organizationId)))
  for (const upload of arriving.slice(0, 4)) assert.equal(upload.take(900), null)
  assert.equal(arriving[4]!.take(400), null)
  assert.equal(arriving[4]!.take(1)?.code, 'upload-limit-reached')
  await assert.rejects(begin(ada.organizationId), { code: 'upload-limit-reached' })
  for (const owner of [bob.organizationId, null]) {
    const upload = await begin(owner)
    assert.equal(upload.take(1000), null)
    upload.end()
  }
  for (const upload of arriving) upload.end()
  const next = await begin(ada.organizationId)
  assert.equal(next.take(1000), null)
  next.end()
})
