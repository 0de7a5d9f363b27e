import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { lacks, needs } from '../../../../scripts/test-run/needs.ts'
import { operator } from '../../base/events/events.ts'
import { SettingError } from '../../base/settings/config.ts'
import { StorageUnavailableError } from '../../base/storage/object-store.ts'
import { openAccount, readAccountLedger } from '../../testing/account.ts'
import { snapshotFolder } from '../../testing/damage-files.ts'
import { runProgramFile } from '../../testing/processes/run-command.ts'
import { sameProcessWork } from '../../testing/processes/same-process-work.ts'
import { points, publishText } from '../../testing/publish.ts'
import { openTestServer, type TestServer, temporaryFolder } from '../../testing/test-server.ts'

needs('postgres', 'processes')

const FILE = '/v1/dataset/places/files/csv'

async function openNode(t: TestContext, first: TestServer, role: 'api' | 'worker', settings = {}) {
  const { databaseUrl, dataDir } = first.config
  return openTestServer(t, { databaseUrl: databaseUrl!, dataDir, settings: { role, ...settings } })
}

async function jobEnded({ parts }: TestServer, id: string) {
  for (;;) {
    const job = await parts.jobs.find(id)
    if (job.state !== 'waiting' && job.state !== 'running') return job
    await sleep(20)
  }
}

test('API nodes run no jobs, and workers run those of all nodes', { skip: lacks('postgres') }, async (t) => {
  const api = await openTestServer(t, { database: 'postgres', settings: { role: 'api', tiles: true } })
  await publishText(api, 'places', 'places.geojson', points(50))
  const account = await openAccount(api, 'ada@example.org', {
    addOns: ['API_ACCESS', 'GIS_ACCESS'],
    credits: 10,
  })
  const { key } = account
  const { secret } = await api.parts.keys.createPlatform(operator, { name: 'P', permissions: ['write'] })

  const refused = await api.request('GET', FILE, { key })
  assert.deepEqual([refused.status, refused.body.code], [503, 'export-not-ready'])
  assert.ok(Number(refused.headers.get('retry-after')) > 0)
  assert.equal((await readAccountLedger(api, account)).balance, 10)
  const upload = await fetch(`${api.url}/v1/dataset/others`, {
    method: 'PUT',
    body: points(20),
    headers: { 'x-api-key': secret },
  })
  assert.equal(upload.status, 202)
  const { id } = (await upload.json()) as { id: string }
  const waiting = await api.request('GET', '/v1/jobs?kind=export', { key: secret })
  assert.deepEqual(
    waiting.body.data.map((job: { table: string; state: string }) => [job.table, job.state]),
    [['places', 'waiting']],
  )
  assert.equal((await api.parts.jobs.find(id)).state, 'waiting')
  assert.deepEqual(builders(), [])

  const worker = await openNode(t, api, 'worker')
  assert.equal((await jobEnded(api, id)).report?.version, 1)
  const sent = await api.request('GET', FILE, { key })
  assert.deepEqual([sent.status, sent.headers.get('credits-charged')], [200, '1'])
  assert.equal(sent.text.trim().split('\r\n').length, 51)
  for (let state = ''; state !== 'ready'; await sleep(50)) {
    state = (await api.request('GET', '/v1/dataset/others')).body.tiles.state
    assert.ok(['pending', 'building', 'ready'].includes(state), state)
  }
  assert.deepEqual(
    ['publish', 'export', 'tiles'].map((kind) => api.parts.runner.finished[kind as 'tiles'].done),
    [0, 0, 0],
  )
  assert.ok(worker.parts.runner.finished.export.done >= 1)

  assert.equal((await fetch(`${worker.url}/health`)).status, 200)
  assert.equal((await fetch(`${worker.url}/ready`)).status, 200)
  assert.match(
    await (await fetch(`${worker.url}/metrics`)).text(),
    /^wayleave_jobs\{kind="export",state="waiting"\} 0$/m,
  )
  for (const path of ['/', '/v1/datasets', '/v1/ogc', FILE, '/v1/openapi.json'])
    assert.equal((await fetch(worker.url + path, { headers: { 'x-api-key': key } })).status, 404, path)
})

/** The child processes that compile or build. */
function builders(): string[] {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ')
  return children.filter((pid) => {
    try {
      return /compile-process|build-/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
    } catch {
      return false
    }
  })
}

test('requests share one build, and a failed one is told to all of them', async (t) => {
  let calls = 0
  const service = await openTestServer(t, {
    work: {
      buildExport: async () => {
        calls++
        throw new Error('unexpected')
      },
    },
  })
  await publishText(service, 'places', 'places.geojson', points(5))
  const { key } = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 10 })
  const answers = await Promise.all([1, 2, 3].map(() => service.request('GET', FILE, { key })))
  for (const { status, body } of answers) assert.deepEqual([status, body.code], [500, 'build-failed'])
  assert.equal(calls, 1, 'all requests share one build')
  assert.ok(
    service.logLines.some((line) => line.includes('unexpected') && line.includes('could not be built')),
  )
  assert.equal((await service.request('GET', FILE, { key })).status, 500)
  assert.equal(calls, 2, 'the next request builds again')
})

test('a job whose storage is unavailable is retried, and the client gets its file', async (t) => {
  let calls = 0
  const service = await openTestServer(t, {
    work: {
      buildExport: async (...args) => {
        if (calls++ === 0) throw new StorageUnavailableError('The store does not respond.')
        return sameProcessWork.buildExport(...args)
      },
    },
  })
  await publishText(service, 'places', 'places.geojson', points(5))
  const { key } = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 10 })
  const { status, headers } = await service.request('GET', FILE, { key })
  assert.deepEqual([status, headers.get('credits-charged'), calls], [200, '1', 2])
  const [row] = await service.parts.database.db
    .selectFrom('jobs')
    .select(['attempts', 'retries'])
    .where('kind', '=', 'export')
    .execute()
  assert.deepEqual(row, { attempts: 1, retries: 1 }, 'an outage does not count as an attempt')
})

test('a worker that lost its job makes no file visible, and the client is not charged', async (t) => {
  const steal: { run: () => Promise<unknown> } = { run: async () => {} }
  const service = await openTestServer(t, {
    settings: { exportWait: 1 },
    work: {
      buildExport: async (...args) => {
        const built = await sameProcessWork.buildExport(...args)
        await steal.run()
        return built
      },
    },
  })
  await publishText(service, 'places', 'places.geojson', points(5))
  const account = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 10 })
  const { db } = service.parts.database
  const holder = { lease_token: 'of another worker', lease_until: '2999-01-01T00:00:00.000Z' }
  steal.run = () => db.updateTable('jobs').set(holder).where('state', '=', 'running').execute()
  const refused = await service.request('GET', FILE, { key: account.key })
  assert.deepEqual([refused.status, refused.body.code], [503, 'export-not-ready'])
  const exports = join(await snapshotFolder(service, 'places'), 'exports')
  assert.ok(!readdirSync(exports).includes('places.csv.meta.json'))
  assert.equal((await readAccountLedger(service, account)).balance, 10)

  // The other worker dies: its job is run again.
  steal.run = async () => {}
  await db.updateTable('jobs').set({ lease_until: '2020-01-01T00:00:00.000Z' }).execute()
  while (service.parts.runner.finished.export.done === 0) await sleep(20)
  assert.equal((await service.request('GET', FILE, { key: account.key })).status, 200)
})

test('a role without PostgreSQL is refused', async (t) => {
  const dataDir = temporaryFolder(t)
  for (const role of ['api', 'worker'] as const)
    await assert.rejects(openTestServer(t, { dataDir, settings: { role } }), SettingError)
  const { code, stderr } = await runProgramFile(
    { dataDir, databaseUrl: null },
    'serve',
    '--role',
    'worker',
    '--port',
    '0',
  )
  assert.equal(code, 2)
  assert.match(stderr, /needs PostgreSQL/)
})
