import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { query } from '../../../../geodata/src/compile/compile-fixture.ts'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { operator } from '../../base/events/events.ts'
import { newBucketSettings, openTestBucket } from '../../testing/bucket.ts'
import { sameProcessWork } from '../../testing/processes/same-process-work.ts'
import { startServerProcess } from '../../testing/processes/server-process.ts'
import { openTestServer, type TestServer, temporaryFolder } from '../../testing/test-server.ts'
import { until } from '../../testing/until.ts'
import { readJob } from '../jobs/job-store.ts'
import { listParts } from '../jobs/part-store.ts'

needs('postgres', 's3', 'processes', 'time')

/** The smallest parts: of 8 KB of Parquet, or of as many rows as are read at a time. */
const TILE_PART_BYTES = 65_536
const BLOCK_ROWS = 122_880

async function writeRows(path: string, first: number, last: number): Promise<void> {
  await query(
    `COPY (SELECT n, 'place ' || n AS name, n % 13 AS number,
      (n * 137.508) % 360 - 180 AS longitude, (n * 61.803) % 160 - 80 AS latitude
      FROM range(${first}, ${last}) t(n)) TO '${path}' (FORMAT parquet)`,
  )
}

async function platformKey({ parts }: TestServer): Promise<string> {
  const wishes = { name: 'Publisher', permissions: ['read', 'write'] }
  return (await parts.keys.createPlatform(operator, wishes)).secret
}

/** Sends a file, and returns the job that publishes it with what workers have left of it. */
async function publishUpload(service: TestServer, key: string, path: string) {
  const response = await fetch(`${service.url}/v1/dataset/places?filename=places.parquet`, {
    method: 'PUT',
    body: readFileSync(path),
    headers: { 'x-api-key': key },
  })
  assert.equal(response.status, 202)
  const { id } = (await response.json()) as { id: string }
  return jobOf(service, id)
}

function jobOf({ parts }: TestServer, id: string) {
  const { db } = parts.database
  return {
    id,
    row: async () => (await readJob(db, id))!,
    parts: () => listParts(db, { table: 'places', name: id }),
    async stage(): Promise<string[]> {
      const names: string[] = []
      for await (const { key } of parts.blobs.objects.list(`stages/${id}/`)) names.push(key)
      return names
    },
    ended: () =>
      until('the end of the job', async () => {
        const job = await parts.jobs.find(id)
        return job.state !== 'waiting' && job.state !== 'running' && job
      }),
  }
}

/** The files that one process makes of the same source. */
async function filesOf({ parts }: TestServer, path: string) {
  await parts.publishing.publish({ table: 'alone', path, file: 'places', description: {} }, operator)
  return (await parts.catalog.find('alone')).manifest.files
}

async function assertSame(service: TestServer, path: string): Promise<void> {
  const { manifest } = await service.parts.catalog.find('places')
  assert.deepEqual(manifest.files, await filesOf(service, path))
}

async function assertNothingLeft(job: ReturnType<typeof jobOf>): Promise<void> {
  await until('the end of the parts', async () => (await job.parts()).length === 0)
  await until('the end of the stage', async () => (await job.stage()).length === 0)
}

test('workers share a large upload: whichever of them is killed, the snapshot is that of one worker', async (t) => {
  const bucket = newBucketSettings()
  const settings = { ...bucket, tilePartBytes: TILE_PART_BYTES, role: 'api' as const }
  const api = await openTestServer(t, { database: 'postgres', settings })
  const startWorker = () =>
    startServerProcess(t, temporaryFolder(t), {
      WAYLEAVE_DATABASE_URL: api.config.databaseUrl!,
      WAYLEAVE_STORAGE_URL: bucket.storageUrl!,
      WAYLEAVE_S3_ENDPOINT: bucket.s3Endpoint!,
      WAYLEAVE_ROLE: 'worker',
      WAYLEAVE_THREADS: '1',
      WAYLEAVE_TILE_PART_BYTES: String(TILE_PART_BYTES),
      WAYLEAVE_LOG_LEVEL: 'error',
    })
  const workers = await Promise.all([startWorker(), startWorker()])
  const path = join(temporaryFolder(t), 'places.parquet')
  await writeRows(path, 0, 4 * BLOCK_ROWS + 5)
  const job = await publishUpload(api, await platformKey(api), path)
  await until('parts on both workers', async () => {
    const running = (await job.parts()).filter(({ state }) => state === 'running')
    return new Set(running.map(({ node_id: node }) => node)).size === 2
  })
  const shown = await until('the progress', async () => (await api.parts.jobs.find(job.id)).progress)
  assert.partialDeepStrictEqual(shown, { phase: 'reading', parts: { total: 4 } })
  const third = await startWorker()
  // One of the two made the plan, and waits for the parts.
  await workers[0]!.kill()
  const killedAt = (await job.stage()).length
  await until('a part that was finished since', async () => (await job.stage()).length > killedAt)
  await workers[1]!.kill()
  const { state, report } = await job.ended()
  assert.deepEqual([state, report?.rows], ['done', 4 * BLOCK_ROWS + 5])
  await assertNothingLeft(job)
  await third.kill()
  await assertSame(api, path)
})

test('workers share the files of a prefix, and each fetches those of its parts', async (t) => {
  const bucket = newBucketSettings()
  const objects = await openTestBucket(t, bucket)
  const folder = temporaryFolder(t)
  for (let i = 0; i < 6; i++) {
    const local = join(folder, `part-${i}.parquet`)
    await writeRows(local, i * 4000, (i + 1) * 4000)
    await objects.write(`export/part-${i}.parquet`, readFileSync(local))
  }
  const settings = { ...bucket, tilePartBytes: TILE_PART_BYTES }
  const first = await openTestServer(t, { database: 'postgres', settings })
  const databaseUrl = first.config.databaseUrl!
  const staged: number[] = []
  const second = await openTestServer(t, {
    databaseUrl,
    settings: { ...settings, publishJobs: 0, role: 'worker' },
    work: {
      stagePart: async (options, part, ...more) => {
        staged.push(part)
        return sameProcessWork.stagePart(options, part, ...more)
      },
    },
  })
  assert.equal(second.config.role, 'worker')
  const key = await platformKey(first)
  const prefix = new URL(bucket.storageUrl!).pathname.slice(1)
  const body = { address: `s3://wayleave/${prefix}/export/` }
  assert.equal((await first.request('PUT', '/v1/dataset/places/source', { key, body })).status, 200)
  const started = await first.request('POST', '/v1/dataset/places/source/run', { key })
  const job = jobOf(first, started.body.id)
  const { state, report } = await job.ended()
  assert.deepEqual([state, report?.rows], ['done', 24_000])
  assert.ok(staged.length > 0, 'the other worker has taken a part')
  await assertNothingLeft(job)
  await assertSame(first, folder)
})

test('a worker alone shares nothing, and reads a source itself of which a part fails', async (t) => {
  const settings = { tilePartBytes: TILE_PART_BYTES }
  let staged = 0
  const work = {
    stagePart: async () => {
      staged++
      throw new Error('a part that no worker can stage')
    },
  }
  const first = await openTestServer(t, { database: 'postgres', settings, work })
  const key = await platformKey(first)
  const path = join(temporaryFolder(t), 'places.parquet')
  await writeRows(path, 0, BLOCK_ROWS + 10)
  assert.equal((await (await publishUpload(first, key, path)).ended()).state, 'done')
  assert.equal(staged, 0)
  const { databaseUrl, dataDir } = first.config
  await openTestServer(t, { databaseUrl: databaseUrl!, dataDir, settings, work })
  const job = await publishUpload(first, key, path)
  const { state, report } = await job.ended()
  assert.deepEqual([state, report?.version], ['done', 2])
  assert.ok(staged > 0)
  await assertNothingLeft(job)
  await assertSame(first, path)
})

test('what a job has left that was cancelled without a worker is removed later', async (t) => {
  const settings = { tilePartBytes: TILE_PART_BYTES, publishJobs: 0 }
  const service = await openTestServer(t, { database: 'postgres', settings })
  const path = join(temporaryFolder(t), 'places.parquet')
  await writeRows(path, 0, 10)
  const job = await publishUpload(service, await platformKey(service), path)
  await service.parts.blobs.objects.write(`stages/${job.id}/key/plan-0123456789abcdef`, Buffer.from('{}'))
  await service.parts.jobs.sweep()
  assert.equal((await job.stage()).length, 1, 'that of an open job stays')
  await service.parts.jobs.cancel(operator, job.id)
  await service.parts.jobs.sweep()
  assert.deepEqual(await job.stage(), [])
})
