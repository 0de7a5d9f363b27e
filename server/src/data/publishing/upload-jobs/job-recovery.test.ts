import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { needs } from '../../../../../scripts/test-run/needs.ts'
import { openDatabase } from '../../../base/database/open.ts'
import { operator } from '../../../base/events/events.ts'
import { newId } from '../../../base/id.ts'
import { type ServerProcess, startServerProcess } from '../../../testing/processes/server-process.ts'
import { points } from '../../../testing/publish.ts'
import {
  type DatabaseKind,
  databaseKinds,
  openTestServer,
  type TestServer,
  temporaryDatabase,
  temporaryFolder,
} from '../../../testing/test-server.ts'
import { insertJob, type JobRow, waitingJob } from '../../jobs/job-store.ts'
import { printJobRequest } from './job-request.ts'

needs('processes')

const killedAfterCommit = fileURLToPath(
  new URL('../../../testing/processes/kill-after-commit.ts', import.meta.url),
)

interface Place {
  dataDir: string
  databaseUrl: string | undefined
  environment: Record<string, string>
  /** A platform key with permission to publish. */
  key: string
}

async function preparePlace(t: TestContext, database: DatabaseKind): Promise<Place> {
  const dataDir = temporaryFolder(t)
  const databaseUrl = database === 'postgres' ? await temporaryDatabase(t) : undefined
  const service = await openTestServer(t, { dataDir, databaseUrl })
  const given = { name: 'Publisher', permissions: ['read', 'write'] }
  const { secret } = await service.parts.keys.createPlatform(operator, given)
  await service.stop()
  return {
    dataDir,
    databaseUrl,
    key: secret,
    environment: { WAYLEAVE_DATABASE_URL: databaseUrl ?? '', WAYLEAVE_PUBLISH_JOBS: '1' },
  }
}

async function upload({ url }: ServerProcess, { key }: Place, query: string, rows: number) {
  const response = await fetch(`${url}/v1/dataset/${query}`, {
    method: 'PUT',
    body: points(rows),
    headers: { 'x-api-key': key, 'content-type': 'application/geo+json' },
  })
  assert.equal(response.status, 202)
  return (await response.json()) as { id: string }
}

async function readState({ url }: { url: string }, { key }: Place, id: string): Promise<string> {
  const response = await fetch(`${url}/v1/jobs/${id}`, { headers: { 'x-api-key': key } })
  return ((await response.json()) as { state: string }).state
}

/** Opens the server again. On PostgreSQL, the leases of jobs are expired, which saves ten seconds. */
async function restart(t: TestContext, { dataDir, databaseUrl }: Place): Promise<TestServer> {
  if (databaseUrl) {
    const database = await openDatabase({ dataDir, databaseUrl })
    await database.db.updateTable('jobs').set({ lease_until: '2020-01-01T00:00:00.000Z' }).execute()
    await database.close()
  }
  return openTestServer(t, { dataDir, databaseUrl })
}

async function ended({ parts }: TestServer, id: string) {
  for (;;) {
    const job = await parts.jobs.find(id)
    if (job.state === 'done' || job.state === 'failed') return job
    await sleep(20)
  }
}

/** The file is removed right after the job ends. */
async function waitUntilEmpty(folder: string): Promise<void> {
  while (readdirSync(folder).length > 0) await sleep(20)
}

/**
 * The ids of the server's compiling processes. One that was only forked has the command line of the server;
 * stopping it then would block the server.
 */
function compilersOf({ child }: ServerProcess): number[] {
  const ps = spawnSync('ps', ['-ww', '-o', 'pid=,args=', '--ppid', String(child.pid)], { encoding: 'utf8' })
  return ps.stdout
    .split('\n')
    .flatMap((line) => (line.includes('compile-process') ? [parseInt(line, 10)] : []))
}

for (const database of databaseKinds) {
  test(`a kill right after the commit leaves a job that is done, on ${database}`, async (t) => {
    const place = await preparePlace(t, database)
    const args = [killedAfterCommit, place.dataDir]
    const server = await startServerProcess(t, place.dataDir, place.environment, args ? { args } : {})
    const exit = once(server.child, 'exit')
    const { id } = await upload(server, place, 'places', 20)
    assert.deepEqual(await exit, [null, 'SIGKILL'])
    const service = await restart(t, place)
    const job = await service.parts.jobs.find(id)
    assert.deepEqual([job.state, job.report?.version, job.problem], ['done', 1, null])
    assert.equal((await service.parts.catalog.versions('places')).length, 1)
    assert.deepEqual(readdirSync(join(place.dataDir, 'uploads')), [])
  })

  test(`uploads that were taken before a kill are published after the next start, on ${database}`, async (t) => {
    const place = await preparePlace(t, database)
    const server = await startServerProcess(t, place.dataDir, place.environment)
    const first = await upload(server, place, 'places?title=Kept&credits=7&filename=a.geojson', 30_000)
    const second = await upload(server, place, 'others?sample=false&idColumn=number', 30)
    while ((await readState(server, place, first.id)) !== 'running') await sleep(5)
    assert.equal(await readState(server, place, second.id), 'waiting')
    await server.kill()
    const service = await restart(t, place)
    const jobs = [await ended(service, first.id), await ended(service, second.id)]
    assert.deepEqual(
      jobs.map(({ state, report, problem }) => [state, report?.rows, report?.version, problem]),
      [
        ['done', 30_000, 1, null],
        ['done', 30, 1, null],
      ],
    )
    const { title, credits } = await service.parts.catalog.find('places')
    assert.deepEqual([title, credits, jobs[0]!.report?.file], ['Kept', 7, 'a.geojson'])
    assert.equal((await service.parts.catalog.find('others')).hasSample, false)
    const events = await service.parts.database.db
      .selectFrom('events')
      .selectAll()
      .where('action', '=', 'dataset.published')
      .execute()
    assert.deepEqual(
      events.map(({ actor, address, request_id }) => [
        actor.startsWith('key:'),
        address,
        request_id !== null,
      ]),
      [
        [true, '127.0.0.1', true],
        [true, '127.0.0.1', true],
      ],
    )
    await waitUntilEmpty(join(place.dataDir, 'uploads'))
  })

  test(`a stop sends a running job back to waiting, and the next start publishes it, on ${database}`, async (t) => {
    const place = await preparePlace(t, database)
    const server = await startServerProcess(t, place.dataDir, place.environment)
    // Enough rows that the compiling process is seen while it runs.
    const rows = 50_000
    const { id } = await upload(server, place, 'places', rows)
    const exit = once(server.child, 'exit')
    while (compilersOf(server).length === 0) await sleep(5)
    const [compiler] = compilersOf(server)
    // It cannot finish before the stop.
    process.kill(compiler!, 'SIGSTOP')
    while ((await readState(server, place, id)) !== 'running') await sleep(5)
    // Ctrl-C and systemd signal all processes: the compiling process must not fail the job before the stop
    // does.
    process.kill(compiler!, 'SIGTERM')
    process.kill(compiler!, 'SIGCONT')
    while (compilersOf(server).length > 0) await sleep(5)
    server.child.kill('SIGTERM')
    assert.deepEqual(await exit, [0, null])
    const stopped = await openDatabase({ dataDir: place.dataDir, databaseUrl: place.databaseUrl ?? null })
    const row = await stopped.db
      .selectFrom('jobs')
      .select(['state', 'attempts', 'problem'])
      .where('id', '=', id)
      .executeTakeFirst()
    await stopped.close()
    assert.deepEqual({ ...row }, { state: 'waiting', attempts: 0, problem: null })
    // The job went back to waiting, so there is no lease to wait for.
    const service = await openTestServer(t, place)
    assert.deepEqual(
      [(await ended(service, id)).state, (await service.parts.jobs.find(id)).report?.rows],
      ['done', rows],
    )
  })

  test(`a job that ends the process each time, or whose upload is not whole, fails with a sentence, on ${database}`, async (t) => {
    const place = await preparePlace(t, database)
    const uploads = join(place.dataDir, 'uploads')
    mkdirSync(uploads, { recursive: true })
    const content = points(5)
    const rows: JobRow[] = [
      jobRow('again', { attempts: 2, request: request('again', content.length) }),
      jobRow('deadly', { attempts: 3, request: request('deadly', content.length) }),
      jobRow('half', { attempts: 1, request: request('half', content.length + 1) }),
      jobRow('changed', { attempts: 1, request: '{"table":"changed","path":"../wayleave.db"}' }),
    ]
    const database_ = await openDatabase({ dataDir: place.dataDir, databaseUrl: place.databaseUrl ?? null })
    for (const row of rows) {
      await insertJob(database_.db, row)
      writeFileSync(join(uploads, row.id), content)
    }
    await database_.close()
    const service = await openTestServer(t, place)
    const jobs = []
    for (const { id } of rows) jobs.push(await ended(service, id))
    assert.deepEqual(
      jobs.map(({ state }) => state),
      ['done', 'failed', 'failed', 'failed'],
    )
    assert.match(jobs[1]!.problem!.detail, /ended 3 times while it published the file/)
    assert.match(jobs[2]!.problem!.detail, /not whole\. Send it again/)
    assert.match(jobs[3]!.problem!.detail, /Send it again/)
    await waitUntilEmpty(uploads)
  })
}

/** A job whose worker is gone. */
function jobRow(table: string, given: Pick<JobRow, 'attempts' | 'request'>): JobRow {
  const waiting = waitingJob({
    id: newId('job'),
    kind: 'publish',
    table_name: table,
    queue: `publish ${table}`,
    actor: 'operator',
    node_id: newId('node'),
    request: given.request,
    at: new Date().toISOString(),
  })
  return { ...waiting, state: 'running', attempts: given.attempts }
}

function request(table: string, uploadBytes: number): string {
  const publish = { table, file: `${table}.geojson`, description: {} }
  return printJobRequest({ publish, origin: operator, uploadBytes })
}

test('two nodes that take over at once publish each job once, and those of a table in order', async (t) => {
  const place = await preparePlace(t, 'postgres')
  const { dataDir, databaseUrl } = place
  const nodes = [
    await openTestServer(t, { dataDir, databaseUrl }),
    await openTestServer(t, { dataDir, databaseUrl }),
  ]
  const uploads = join(dataDir, 'uploads')
  mkdirSync(uploads, { recursive: true })
  const content = points(5)
  const rows = Array.from({ length: 6 }, (_, i) => ({
    ...jobRow('places', { attempts: 0, request: request('places', content.length) }),
    state: 'waiting' as const,
    created_at: new Date(Date.now() - 60_000 + i).toISOString(),
  }))
  for (const row of rows) {
    writeFileSync(join(uploads, row.id), content)
    await insertJob(nodes[0]!.parts.database.db, row)
  }
  for (const { parts } of nodes) parts.runner.wake()
  const versions = []
  for (const { id } of rows) versions.push((await ended(nodes[0]!, id)).report?.version)
  assert.deepEqual(versions, [1, 2, 3, 4, 5, 6])
  assert.equal((await nodes[0]!.parts.catalog.versions('places')).length, rows.length)
})

test('once a job is done, its version is on every node', async (t) => {
  const { dataDir, databaseUrl } = await preparePlace(t, 'postgres')
  const worker = await openTestServer(t, { dataDir, databaseUrl })
  const other = await openTestServer(t, { dataDir, databaseUrl, settings: { publishJobs: 0 } })
  const content = points(5)
  const publish = { table: 'places', file: 'a.geojson', description: {} }
  for (let version = 1; version <= 8; version++) {
    const { jobs } = worker.parts
    const id = jobs.newId()
    writeFileSync(await jobs.uploadPath(id), content)
    await jobs.start(id, { publish, origin: operator, uploadBytes: content.length })
    while ((await other.parts.jobs.find(id)).state !== 'done') await sleep(1)
    const seen = await Promise.all([worker, other].map((node) => node.request('GET', '/v1/dataset/places')))
    assert.deepEqual(
      seen.map(({ body }) => body.version),
      [version, version],
    )
  }
})

test('a worker that lost its job to another one publishes nothing', async (t) => {
  const place = await preparePlace(t, 'postgres')
  const service = await openTestServer(t, { ...place, childProcesses: true })
  const { parts, config } = service
  const id = parts.jobs.newId()
  const content = points(40_000)
  writeFileSync(await parts.jobs.uploadPath(id), content)
  const publish = { table: 'places', file: 'a.geojson', description: {} }
  await parts.jobs.start(id, { publish, origin: operator, uploadBytes: content.length })
  while ((await parts.jobs.find(id)).state !== 'running') await sleep(5)
  await parts.database.db
    .updateTable('jobs')
    .set({ node_id: newId('node'), lease_token: 'of another', lease_until: '2999-01-01T00:00:00.000Z' })
    .where('id', '=', id)
    .execute()
  while (!service.logLines.some((line) => line.includes('taken over by another node'))) await sleep(20)
  assert.equal((await service.request('GET', '/v1/dataset/places')).status, 404)
  assert.equal((await parts.jobs.find(id)).state, 'running')
  assert.ok(existsSync(join(config.dataDir, 'uploads', id)), 'the other worker needs the upload')
})
