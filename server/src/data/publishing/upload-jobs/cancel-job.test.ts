import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JobRecord } from '@wayleave/contract/records'
import { needs } from '../../../../../scripts/test-run/needs.ts'
import { operator } from '../../../base/events/events.ts'
import { newId } from '../../../base/id.ts'
import { openAccount } from '../../../testing/account.ts'
import { runCommand } from '../../../testing/processes/run-command.ts'
import { points } from '../../../testing/publish.ts'
import { signIn } from '../../../testing/sign-in.ts'
import {
  databaseKinds,
  openTestServer,
  type TestServer,
  temporaryFolder,
  testOnce,
} from '../../../testing/test-server.ts'

needs('time')

/** A GeoPackage whose only layer is a view that computes without an end. */
function endlessFile(t: TestContext): Buffer {
  const path = join(temporaryFolder(t), 'endless.gpkg')
  const database = new DatabaseSync(path)
  database.exec('CREATE TABLE gpkg_contents (table_name TEXT, data_type TEXT)')
  database.exec(`INSERT INTO gpkg_contents VALUES ('layer', 'attributes')`)
  database.exec(
    `CREATE TABLE ten (i); INSERT INTO ten VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
     CREATE VIEW layer AS SELECT a.i FROM ten a, ten b, ten c, ten d, ten e, ten f, ten g, ten h, ten i, ten j
       WHERE a.i + b.i + c.i + d.i + e.i + f.i + g.i + h.i + i.i + j.i < 0`,
  )
  database.close()
  return readFileSync(path)
}

async function upload(
  service: TestServer,
  key: string,
  table: string,
  body: string | Buffer,
): Promise<string> {
  const response = await fetch(`${service.url}/v1/dataset/${table}?filename=x`, {
    method: 'PUT',
    body: new Uint8Array(Buffer.from(body)),
    headers: { 'x-api-key': key },
  })
  assert.equal(response.status, 202)
  return ((await response.json()) as JobRecord).id
}

async function waitFor(service: TestServer, id: string, state: JobRecord['state']): Promise<JobRecord> {
  while (true) {
    const job = await service.parts.jobs.find(id)
    if (job.state === state) return job
    assert.ok(['waiting', 'running'].includes(job.state), `${job.state} ${job.problem?.detail}`)
    await sleep(20)
  }
}

/** The processes that compile for this one. */
function compilers(): number[] {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ')
  return children.filter((pid) => pid !== '' && isCompiler(pid)).map(Number)
}

function isCompiler(pid: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('compile-process')
  } catch {
    return false
  }
}

function leftovers({ config }: TestServer): string[] {
  const folders = ['uploads', 'snapshots/.staging', 'snapshots/.trash'].map((name) =>
    join(config.dataDir, name),
  )
  return folders.flatMap((folder) => (existsSync(folder) ? readdirSync(folder) : []))
}

for (const database of databaseKinds) {
  testOnce(
    database,
    'an endless upload delays only its own table, and cancelling it leaves nothing',
    async (t) => {
      const service = await openTestServer(t, { childProcesses: true, settings: { publishJobs: 2 } })
      const { secret: key } = await service.parts.keys.createPlatform(operator, {
        name: 'Publisher',
        permissions: ['write'],
      })
      const endless = await upload(service, key, 'stuck', endlessFile(t))
      await waitFor(service, endless, 'running')
      const next = await upload(service, key, 'stuck', points(3))
      await waitFor(service, await upload(service, key, 'places', points(3)), 'done')
      assert.equal((await service.parts.jobs.find(next)).state, 'waiting')
      while (compilers().length === 0) await sleep(20)

      const cancel = (id: string) => service.request('DELETE', `/v1/jobs/${id}`, { key })
      const { status, body } = await cancel(endless)
      assert.deepEqual([status, body.state, body.progress], [200, 'cancelled', null])
      assert.ok(!leftovers(service).includes(endless), 'the upload')
      await waitFor(service, next, 'done')
      // What the next job used is removed right after its version is visible.
      while (service.parts.runner.running.publish > 0) await sleep(20)
      assert.deepEqual(compilers(), [])
      assert.deepEqual(leftovers(service), [])
      assert.equal((await cancel(endless)).status, 200, 'again')
      assert.equal((await cancel(next)).status, 409)
      assert.deepEqual(service.parts.runner.finished.publish, { done: 2, failed: 0, cancelled: 1 })
      assert.deepEqual(await service.parts.jobQueue.count(), [])
      const events = await service.parts.database.db
        .selectFrom('events')
        .select('subject')
        .where('action', '=', 'job.cancelled')
        .execute()
      assert.deepEqual(events, [{ subject: `job:${endless}` }])
    },
  )

  test(`a command cancels the jobs of a running server, and no start takes them up (${database})`, async (t) => {
    const settings = { publishJobs: 1 }
    const service = await openTestServer(t, { childProcesses: true, database, settings })
    const { config } = service
    const { secret: key } = await service.parts.keys.createPlatform(operator, {
      name: 'Publisher',
      permissions: ['write'],
    })
    const running = await upload(service, key, 'stuck', endlessFile(t))
    const waiting = await upload(service, key, 'places', points(3))
    await waitFor(service, running, 'running')
    while (compilers().length === 0) await sleep(20)
    const { json: listed } = await runCommand(config, 'job', 'list', '--json')
    assert.deepEqual(
      listed.data.map(({ id, state }: JobRecord) => [id, state]),
      [
        [waiting, 'waiting'],
        [running, 'running'],
      ],
    )
    for (const id of [waiting, running]) {
      const { code, stdout } = await runCommand(config, 'job', 'cancel', id)
      assert.deepEqual([code, stdout.startsWith(`Cancelled job ${id}`)], [0, true])
    }
    while (compilers().length > 0 || leftovers(service).length > 0) await sleep(20)
    assert.equal((await runCommand(config, 'job', 'cancel', newId('job'))).code, 1)
    await service.stop()
    const again = await openTestServer(t, {
      dataDir: config.dataDir,
      databaseUrl: config.databaseUrl ?? undefined,
      settings,
    })
    for (const id of [waiting, running]) assert.equal((await again.parts.jobs.find(id)).state, 'cancelled')
    assert.deepEqual(await again.parts.jobQueue.count(), [])
  })
}

test('only administrators and platform keys that may write the table see, cancel and list its jobs', async (t) => {
  const service = await openTestServer(t, {
    childProcesses: true,
    settings: { admins: ['root@example.org'] },
  })
  const root = await signIn(service, 'root@example.org')
  const ada = await openAccount(service, 'ada@example.org', { permissions: ['read', 'write'] })
  const platformKey = async (...permissions: string[]) =>
    (await service.parts.keys.createPlatform(operator, { name: 'Platform', permissions })).secret
  const own = await platformKey('write:stuck')
  const id = await upload(service, own, 'stuck', endlessFile(t))
  for (const [caller, status, listStatus] of [
    [{}, 401, 401],
    [{ token: ada.token }, 403, 403],
    [{ key: ada.key }, 404, 403],
    [{ key: await platformKey('read') }, 404, 403],
    [{ key: await platformKey('read:stuck', 'write:places') }, 404, 200],
  ] as const) {
    assert.equal((await service.request('GET', `/v1/jobs/${id}`, caller)).status, status)
    assert.equal((await service.request('DELETE', `/v1/jobs/${id}`, caller)).status, status)
    const listed = await service.request('GET', '/v1/jobs', caller)
    assert.equal(listed.status, listStatus)
    if (listStatus === 200) assert.deepEqual(listed.body, { data: [], next: null })
  }
  for (const caller of [{ key: own }, { token: root.token }]) {
    assert.equal((await service.request('GET', `/v1/jobs/${id}`, caller)).status, 200)
    const { body } = await service.request('GET', '/v1/jobs?limit=1', caller)
    assert.deepEqual([body.data.length, body.data[0].id, body.next], [1, id, null])
  }
  assert.equal((await service.request('DELETE', `/v1/jobs/${newId('job')}`, { key: own })).status, 404)
  const { body } = await service.request('DELETE', `/v1/jobs/${id}`, { token: root.token })
  assert.equal(body.state, 'cancelled')
  const after = await service.request('GET', `/v1/jobs?state=running&after=${id}`, { token: root.token })
  assert.deepEqual(after.body, { data: [], next: null })
})

test('a view without an end is refused within the limit of the settings, and the next job runs', async (t) => {
  const service = await openTestServer(t, {
    childProcesses: true,
    settings: { publishJobs: 1, readSeconds: 3 },
  })
  const { secret: key } = await service.parts.keys.createPlatform(operator, {
    name: 'Publisher',
    permissions: ['write'],
  })
  const endless = await upload(service, key, 'stuck', endlessFile(t))
  const next = await upload(service, key, 'places', points(3))
  const { problem } = await waitFor(service, endless, 'failed')
  assert.match(problem!.detail, /WAYLEAVE_READ_SECONDS/)
  await waitFor(service, next, 'done')
})
