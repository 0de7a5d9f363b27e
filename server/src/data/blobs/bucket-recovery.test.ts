import assert from 'node:assert/strict'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import type { Config } from '../../base/settings/config.ts'
import { openAccount, readAccountLedger } from '../../testing/account.ts'
import { newBucketSettings, openTestBucket } from '../../testing/bucket.ts'
import { flipBit } from '../../testing/damage-files.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { points, publishText } from '../../testing/publish.ts'
import {
  openTestServer,
  type TestServer,
  temporaryDatabase,
  temporaryFolder,
} from '../../testing/test-server.ts'
import { snapshotKey } from './object-keys.ts'

const skip = lacks('s3')
const ALL = { addOns: ['API_ACCESS', 'GIS_ACCESS', 'ARCHIVED_DATA'] as const, credits: 100 }

const openAll = (service: TestServer) =>
  openAccount(service, 'ada@example.org', { ...ALL, addOns: [...ALL.addOns] })

async function damagedVersions(service: TestServer): Promise<number> {
  const { text } = await service.request('GET', '/metrics')
  return Number(/^wayleave_damaged_versions\{table="places"\} (\d+)$/m.exec(text)?.[1] ?? 0)
}

/** A second node with an empty cache on the same database and bucket. */
function secondNode(t: TestContext, first: TestServer, settings: Partial<Config> = {}): Promise<TestServer> {
  const { storageUrl, s3Endpoint, s3PathStyle, s3Region } = first.config
  return openTestServer(t, {
    databaseUrl: first.config.databaseUrl!,
    settings: { storageUrl, s3Endpoint, s3PathStyle, s3Region, ...settings },
  })
}

test('a version published during the move to a bucket is served once the second move has copied it', {
  skip,
}, async (t) => {
  const dataDir = temporaryFolder(t)
  const databaseUrl = await temporaryDatabase(t)
  const bucket = newBucketSettings()
  const before = await openTestServer(t, { dataDir, databaseUrl })
  await publishText(before, 'places', 'places.geojson', points(30))
  const account = await openAll(before)
  const { key } = account
  const move = (from: string[] = []) =>
    runCommand(
      { dataDir, databaseUrl, ...bucket, storageUrl: null },
      'storage',
      'move',
      ...from,
      '--to',
      bucket.storageUrl!,
      '--json',
    )
  assert.equal((await move()).code, 0)
  // Published to the folder after the move, and a dataset that the bucket has nothing of.
  await publishText(before, 'places', 'places.geojson', points(40))
  await publishText(before, 'others', 'others.geojson', points(20))
  await before.stop()

  const after = await openTestServer(t, { dataDir, databaseUrl, settings: bucket })
  const get = (path: string) => after.request('GET', path, { key })
  const page = await get('/v1/ogc/collections/places/items?limit=100')
  assert.deepEqual([page.status, page.body.features?.length], [200, 30], 'the newest version that is there')
  const download = await get('/v1/dataset/places/files/geojson')
  assert.deepEqual([download.status, download.body.features.length], [200, 30])
  assert.equal((await get('/v1/dataset/places')).body.version, 1)
  assert.equal((await get('/v1/dataset/places/sample/json')).status, 200)
  const { balance } = await readAccountLedger(after, account)
  for (const path of [
    '/v1/ogc/collections/others/items',
    '/v1/dataset/others/sample/json',
    '/v1/dataset/others/files/geojson',
    '/v1/dataset/others/files/csv',
    '/v1/dataset/places/archives/2/files/geoparquet',
  ]) {
    const { status, body, headers } = await get(path)
    assert.deepEqual([status, body.code], [503, 'storage-unavailable'], path)
    assert.ok(Number(headers.get('retry-after')) > 0, path)
  }
  assert.equal((await readAccountLedger(after, account)).balance, balance, 'nothing was charged')

  const second = await move(['--from', pathToFileURL(dataDir).href])
  assert.deepEqual([second.code, second.json.copied], [0, 2])
  // The command has told the nodes: nothing waits for the next look.
  const newPage = await get('/v1/ogc/collections/places/items?limit=100')
  assert.deepEqual([newPage.status, newPage.body.features.length], [200, 40])
  assert.equal((await get('/v1/dataset/places')).body.version, 2)
  assert.equal((await get('/v1/datasets')).body.data[1].version, 2)
  assert.equal((await get('/v1/ogc/collections/others/items')).status, 200)
  assert.equal((await get('/v1/dataset/others/files/csv')).status, 200)
  assert.equal(await damagedVersions(after), 0)
})

test('a snapshot that appears in the bucket by other means is found by looking again', {
  skip,
}, async (t) => {
  const settings = newBucketSettings()
  const service = await openTestServer(t, { settings })
  const { health } = service.parts
  await publishText(service, 'places', 'places.geojson', points(30))
  await publishText(service, 'places', 'places.geojson', points(40))
  const { key } = await openAll(service)
  const { snapshot } = await service.parts.catalog.find('places')
  const bucket = await openTestBucket(t, settings)
  const objects = new Map<string, Buffer>()
  for await (const object of bucket.list(snapshotKey(snapshot, ''))) {
    objects.set(object.key, await bucket.read(object.key))
  }
  await bucket.delete([...objects.keys()])
  rmSync(join(service.config.dataDir, 'cache', 'snapshots', snapshot), { recursive: true })
  const items = () => service.request('GET', '/v1/ogc/collections/places/items?limit=100', { key })
  assert.equal((await items()).body.features.length, 30)
  assert.equal(await damagedVersions(service), 1)
  await health.lookAgain()
  assert.equal((await items()).body.features.length, 30)
  for (const [name, bytes] of objects) await bucket.write(name, bytes)
  await health.lookAgain()
  assert.equal((await items()).body.features.length, 40)
  assert.equal(await damagedVersions(service), 0)
})

test('a flipped bit in any cached file is fetched again, and the dataset stays in service', {
  skip,
}, async (t) => {
  const first = await openTestServer(t, { database: 'postgres', settings: newBucketSettings() })
  await publishText(first, 'places', 'places.geojson', points(2000))
  const { key } = await openAll(first)
  assert.equal((await first.request('GET', '/v1/dataset/places/files/pmtiles', { key })).status, 200)
  const paths = [
    '/v1/ogc/collections/places/items?limit=7',
    '/v1/ogc/collections/places/items/17',
    `/v1/ogc/collections/places/items?filter=${encodeURIComponent('number < half + 7')}`,
    '/v1/ogc/collections/places/tiles/WebMercatorQuad/0/0/0?filter=number%3C9',
    '/v1/dataset/places/sample/json',
    '/v1/dataset/places/files/geojson',
    '/v1/dataset/places/files/geoparquet',
    '/v1/dataset/places/archives/1/files/csv',
  ]
  const second = await secondNode(t, first)
  const { snapshot } = await second.parts.catalog.find('places')
  const cache = join(second.config.dataDir, 'cache', 'snapshots', snapshot)
  const bodies = new Map<string, string>()
  const all = async () => {
    for (const path of paths) {
      let page = await second.request('GET', path, { key })
      // A request that cannot be repeated without its client is told to come again.
      if (page.status === 503 && page.headers.get('retry-after') === '1') {
        assert.equal(page.body.code, 'storage-unavailable', path)
        page = await second.request('GET', path, { key })
      }
      assert.equal(page.status, 200, `${path} ${page.text.slice(0, 300)}`)
      const text = page.text.replace(/"timeStamp":"[^"]*"/, '')
      assert.ok(text === (bodies.get(path) ?? text), path)
      bodies.set(path, text)
    }
  }
  await all()
  const files = readdirSync(cache, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  for (const name of ['checksums.json', 'features.index', 'sample.json', 'rows.parquet'])
    assert.ok(files.includes(join(cache, name)), name)
  const [checksums, index] = ['checksums.json', 'features.index'].map((name) => join(cache, name))
  for (const flipped of [[checksums!], [index!], files]) {
    for (const path of flipped.filter((path) => existsSync(path))) flipBit(path)
    // Snapshots that are open do not read their index again.
    await second.parts.snapshots.close()
    await all()
  }
  rmSync(cache, { recursive: true })
  await second.parts.snapshots.close()
  await all()
  assert.equal(await damagedVersions(second), 0)
})

test('damage in the bucket is 503 data-damaged in every format, until a repair tells the nodes', {
  skip,
}, async (t) => {
  const settings = newBucketSettings()
  const first = await openTestServer(t, { database: 'postgres', settings })
  const account = await openAll(first)
  const { key } = account
  const bucket = await openTestBucket(t, settings)
  // The first request for a version is the one that runs into the damage, so each has a table of its own.
  const cases = [
    ['features.pack', 'files/geojson'],
    ['features.pack', 'archives/1/files/geojson'],
    ['rows.parquet', 'files/geoparquet'],
    ['checksums.json', 'files/geojson'],
    ['checksums.json', 'archives/1/files/geoparquet'],
  ] as const
  for (const [i, [file]] of cases.entries()) {
    await publishText(first, `t${i}`, 'places.geojson', points(50))
    const { snapshot } = await first.parts.catalog.find(`t${i}`)
    const object = snapshotKey(snapshot, file)
    const bytes = await bucket.read(object)
    bytes[bytes.length >> 1]! ^= 1
    await bucket.write(object, bytes)
  }
  const second = await secondNode(t, first)
  // A compressed file may be built by the first node, which has intact copies of what it published.
  const headers = { 'accept-encoding': 'identity' }
  for (const [i, [file, path]] of cases.entries()) {
    for (const method of ['GET', 'GET', 'HEAD']) {
      const { status, body } = await second.request(method, `/v1/dataset/t${i}/${path}`, { key, headers })
      assert.deepEqual([status, body?.code ?? 'data-damaged'], [503, 'data-damaged'], `${file} ${path}`)
    }
  }
  assert.equal((await readAccountLedger(first, account)).balance, 100)
  // The first node has intact copies in its cache.
  const repaired = await runCommand(first.config, 'storage', 'check', '--repair', '--json')
  assert.equal(repaired.code, 0, repaired.stderr)
  for (const [i, [, path]] of cases.entries()) {
    assert.equal(
      (await second.request('GET', `/v1/dataset/t${i}/${path}`, { key, headers })).status,
      200,
      path,
    )
  }
})

test('a client is not redirected to a file that the bucket does not have, and is not charged', {
  skip,
}, async (t) => {
  const settings = newBucketSettings()
  const service = await openTestServer(t, { settings: { ...settings, downloads: 'redirect' } })
  const account = await openAll(service)
  await publishText(service, 'places', 'places.geojson', points(50))
  const { snapshot } = await service.parts.catalog.find('places')
  const bucket = await openTestBucket(t, settings)
  await bucket.delete([snapshotKey(snapshot, 'rows.parquet')])
  const { key } = account
  const { status, body } = await service.request('GET', '/v1/dataset/places/files/geoparquet', { key })
  assert.deepEqual([status, body?.code], [503, 'data-damaged'])
  assert.equal((await readAccountLedger(service, account)).balance, 100)
})
