import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { buildTiles } from '@wayleave/geodata/tiles'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { operator } from '../../base/events/events.ts'
import { RetryLaterError } from '../../data/jobs/job-errors.ts'
import { insertJob, readJob, waitingJob } from '../../data/jobs/job-store.ts'
import { listParts } from '../../data/jobs/part-store.ts'
import { newBucketSettings } from '../../testing/bucket.ts'
import { startServerProcess } from '../../testing/processes/server-process.ts'
import { publishText } from '../../testing/publish.ts'
import { openTestServer, type TestServer, temporaryFolder } from '../../testing/test-server.ts'
import { until } from '../../testing/until.ts'

needs('postgres', 's3', 'processes')

const PART_BYTES = 100_000
const TILES = { tiles: true, tileMaxZoom: 6, tilePartBytes: PART_BYTES }

function places(count: number): string {
  const features = Array.from({ length: count }, (_, i) => ({
    type: 'Feature',
    properties: { name: `place ${i}`, number: i % 13 },
    geometry: { type: 'Point', coordinates: [((i * 137.508) % 360) - 180, ((i * 61.803) % 160) - 80] },
  }))
  return JSON.stringify({ type: 'FeatureCollection', features })
}

/** The version that was published, and the jobs and objects of the build of its tiles. */
async function buildOf({ parts }: TestServer) {
  const version = await parts.catalog.find('places')
  const { table, snapshot } = version
  const stagePrefix = `snapshots/${snapshot}/tiles/.parts-`
  return {
    version,
    parts: () => listParts(parts.database.db, { table, name: snapshot }),
    tilesJob: async () =>
      (await parts.database.db.selectFrom('jobs').selectAll().where('kind', '=', 'tiles').execute())[0],
    built: () => parts.tileStates.findAgain(version),
    async stage(): Promise<string[]> {
      const names: string[] = []
      for await (const { key } of parts.blobs.objects.list(stagePrefix)) names.push(key)
      return names
    },
    /** The checksum of the archive that one process makes of it. */
    async expected(t: TestContext): Promise<string> {
      const folder = await parts.blobs.localFolder(snapshot)
      const { title, description, attribution } = version
      const options = { table, title, description, attribution, maxZoom: TILES.tileMaxZoom, threads: 1 }
      return (await buildTiles(folder, join(temporaryFolder(t), 'tiles.pmtiles'), options)).sha256
    },
  }
}

test('workers share the tiles of a large version: whichever of them is killed, the archive is the same', async (t) => {
  const bucket = newBucketSettings()
  const api = await openTestServer(t, {
    database: 'postgres',
    settings: { ...bucket, ...TILES, role: 'api' },
  })
  await publishText(api, 'places', 'places.geojson', places(9000))
  const build = await buildOf(api)
  await until('the job', () => build.tilesJob())
  const folders: string[] = []
  const startWorker = () => {
    const dataDir = temporaryFolder(t)
    folders.push(dataDir)
    return startServerProcess(t, dataDir, {
      WAYLEAVE_DATABASE_URL: api.config.databaseUrl!,
      WAYLEAVE_STORAGE_URL: bucket.storageUrl!,
      WAYLEAVE_S3_ENDPOINT: bucket.s3Endpoint!,
      WAYLEAVE_ROLE: 'worker',
      WAYLEAVE_THREADS: '1',
      WAYLEAVE_TILES: 'true',
      WAYLEAVE_TILE_MAX_ZOOM: String(TILES.tileMaxZoom),
      WAYLEAVE_TILE_PART_BYTES: String(PART_BYTES),
      WAYLEAVE_LOG_LEVEL: 'error',
    })
  }
  const [first, second] = await Promise.all([startWorker(), startWorker()])
  await until('parts on both workers', async () => {
    const running = (await build.parts()).filter(({ state }) => state === 'running')
    return new Set(running.map(({ node_id: node }) => node)).size === 2
  })
  const third = await startWorker()
  // One of the two also made the plan and waits for the parts.
  await first.kill()
  const killedAt = (await build.stage()).length
  await until('a part that was finished since', async () => (await build.stage()).length > killedAt)
  await second.kill()
  await until('the tiles', () => build.built())
  await until('the end of the job', async () => (await build.tilesJob())?.state === 'done')
  assert.equal((await build.built())!.sha256, await build.expected(t))
  await until('the end of the parts', async () => (await build.parts()).length === 0)
  assert.deepEqual(await build.stage(), [])
  await third.kill()
  for (const folder of folders) {
    const files = readdirSync(join(folder, 'cache'), { recursive: true, encoding: 'utf8' })
    // Blocks are in a folder with the name of their file.
    const hasWhole = files.some((name) => /^[^/]+\/[^/]+\/features\.pack$/.test(name))
    assert.ok(!hasWhole, 'no worker has fetched the whole pack')
  }
})

test('a damaged part is made again, on a folder that workers share', async (t) => {
  const api = await openTestServer(t, { database: 'postgres', settings: { ...TILES, role: 'api' } })
  await publishText(api, 'places', 'places.geojson', places(4000))
  const build = await buildOf(api)
  const { databaseUrl, dataDir } = api.config
  const worker = await openTestServer(t, {
    databaseUrl: databaseUrl!,
    dataDir,
    settings: { ...TILES, role: 'worker' },
  })
  const { objects } = worker.parts.blobs
  let isDamaged = false
  const write = objects.write.bind(objects)
  t.mock.method(objects, 'write', async (key: string, content: { path: string; bytes: number }) => {
    if (isDamaged || !/\/2-[0-9a-f]{16}$/.test(key)) return write(key, content)
    isDamaged = true
    await write(key, Buffer.from('damaged'))
  })
  await until('the tiles', () => build.built())
  assert.ok(isDamaged)
  assert.equal((await build.built())!.sha256, await build.expected(t))
  await until('the end of the parts', async () => (await build.parts()).length === 0)
  assert.deepEqual(await build.stage(), [])
})

test('a build that is cancelled ends its parts and leaves nothing', async (t) => {
  const bucket = newBucketSettings()
  const api = await openTestServer(t, {
    database: 'postgres',
    settings: { ...bucket, ...TILES, role: 'api' },
  })
  await publishText(api, 'places', 'places.geojson', places(6000))
  const build = await buildOf(api)
  const settings = { ...bucket, ...TILES, role: 'worker' as const }
  const worker = await openTestServer(t, { databaseUrl: api.config.databaseUrl!, settings })
  const job = await until('a finished part', async () => (await build.stage()).length > 1 && build.tilesJob())
  await worker.parts.jobs.cancel(operator, job.id)
  await until('the end of the stage', async () => (await build.stage()).length === 0)
  await until('the end of the parts', async () =>
    (await build.parts()).every(({ state }) => state !== 'waiting' && state !== 'running'),
  )
  assert.deepEqual(await build.stage(), [])
  assert.equal(await build.built(), undefined)
})

test('attempts of a job that has kept a part of its result are counted anew', async (t) => {
  const { parts } = await openTestServer(t)
  const { runner, database } = parts
  runner.handle('tiles', {
    run: async (job) => {
      assert.equal(job.row.attempts, 3)
      await job.resetAttempts()
      throw new RetryLaterError('the process was killed', { countsAsAttempt: true })
    },
    problemOf: String as never,
    tooManyAttempts: () => new Error('too many'),
  })
  const [id, at] = ['job_1', new Date(0).toISOString()]
  const job = {
    id,
    kind: 'tiles',
    table_name: 'none',
    queue: 'none',
    actor: 'system',
    node_id: 'none',
  } as const
  await insertJob(database.db, { ...waitingJob({ ...job, request: null, at }), attempts: 2 })
  runner.wake()
  const retried = await until('the end of the attempt', async () => {
    const row = await readJob(database.db, id)
    return row?.retries === 1 && row
  })
  assert.equal(retried.attempts, 1)
})
