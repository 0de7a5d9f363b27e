import assert from 'node:assert/strict'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { operator } from '../../base/events/events.ts'
import type { Config } from '../../base/settings/config.ts'
import { openAccount, readAccountLedger } from '../../testing/account.ts'
import { newBucketSettings, openTestBucket } from '../../testing/bucket.ts'
import { getBytes as get } from '../../testing/get-bytes.ts'
import { points, publishText } from '../../testing/publish.ts'
import { S3Proxy } from '../../testing/s3-proxy.ts'
import { openTestServer, type TestServer } from '../../testing/test-server.ts'
import { SNAPSHOTS, snapshotKey } from './object-keys.ts'

needs('s3', 'postgres')

const ADD_ONS = ['API_ACCESS', 'GIS_ACCESS'] as const

/** A second node with an empty cache on the same database and bucket. */
function secondNode(t: TestContext, first: TestServer, settings: Partial<Config> = {}): Promise<TestServer> {
  const { storageUrl, s3Endpoint, s3PathStyle, s3Region } = first.config
  return openTestServer(t, {
    databaseUrl: first.config.databaseUrl!,
    settings: { storageUrl, s3Endpoint, s3PathStyle, s3Region, ...settings },
  })
}

/** All names below a folder. */
const filesIn = (folder: string) => readdirSync(folder, { recursive: true, encoding: 'utf8' })

const itemsPath = (query = '') => `/v1/ogc/collections/places/items?limit=1000${query}`

test('a node with an empty cache serves what another one published to the bucket, and tiles in parts', async (t) => {
  const settings = newBucketSettings()
  const first = await openTestServer(t, { database: 'postgres', settings })
  await publishText(first, 'places', 'places.geojson', points(3000))
  const { key } = await openAccount(first, 'ada@example.org', { addOns: [...ADD_ONS], credits: 100 })
  const second = await secondNode(t, first)
  assert.deepEqual(filesIn(join(second.config.dataDir, 'cache', 'snapshots')), [])
  const paths = [
    itemsPath(),
    itemsPath('&bbox=-10,-10,10,10'),
    itemsPath(`&filter=${encodeURIComponent("name LIKE 'Point 1%' AND half > 20")}`),
    itemsPath(`&filter=${encodeURIComponent("CASEI(name) = CASEI('POINT 17')")}&f=csv`),
    itemsPath('&f=fgb'),
    itemsPath('&sortby=-number'),
    '/v1/ogc/collections/places/items/17',
    '/v1/dataset/places/sample/json',
    '/v1/dataset/places/files/geojson',
    '/v1/dataset/places/files/geoparquet',
    '/v1/dataset/places/files/csv',
    '/v1/dataset/places/files/shp',
  ]
  const byFirst = []
  const strip = (bytes: Buffer) =>
    bytes.toString('latin1').replaceAll(/"timeStamp":"[^"]*"|127\.0\.0\.1:\d+/g, '')
  for (const path of paths) {
    const [one, two] = [await get(first, path, key), await get(second, path, key)]
    assert.deepEqual([one.status, two.status], [200, 200], path)
    assert.ok(strip(one.bytes) === strip(two.bytes), path)
    byFirst.push(one)
  }
  // One of the nodes has built the export, and the other one reads it from the bucket.
  const builders = [first, second].filter(({ config }) =>
    filesIn(join(config.dataDir, 'cache', 'snapshots')).some((name) => name.endsWith('places.csv')),
  )
  assert.equal(builders.length, 1)
  const part = await get(second, '/v1/dataset/places/files/csv', key, { range: 'bytes=10-19' })
  assert.deepEqual([part.status, part.bytes.toString()], [206, byFirst[10]!.bytes.toString().slice(10, 20)])
  const head = await get(second, '/v1/dataset/places/files/csv', key, {}, 'HEAD')
  assert.equal(Number(head.headers.get('content-length')), byFirst[10]!.bytes.length)

  // Tiles are built by one of them, and read in parts by a third one, which has fetched nothing before.
  const archive = await get(first, '/v1/dataset/places/files/pmtiles', key)
  assert.equal(archive.status, 200)
  const third = await secondNode(t, first)
  const tile = '/v1/ogc/collections/places/tiles/WebMercatorQuad/0/0/0'
  const [one, two] = [await get(first, tile, key), await get(third, tile, key)]
  assert.deepEqual([one.status, two.status], [200, 200])
  assert.ok(one.bytes.equals(two.bytes))
  const filtered = `${tile}?filter=${encodeURIComponent('number < 100')}`
  assert.ok((await get(first, filtered, key)).bytes.equals((await get(third, filtered, key)).bytes))
  // The pack was read by blocks.
  const cached = filesIn(join(third.config.dataDir, 'cache', 'snapshots'))
  assert.ok(!cached.some((name) => /^[^/]+\/features\.pack$/.test(name)), cached.join())
  assert.ok(
    cached.some((name) => name.includes('/blocks/features.pack/')),
    cached.join(),
  )
  const again = await get(third, '/v1/dataset/places/files/pmtiles', key)
  assert.ok(again.bytes.equals(archive.bytes))
})

test('a cold first page of a large dataset fetches the index and a few blocks', async (t) => {
  const proxy = await S3Proxy.open(t)
  const first = await openTestServer(t, { database: 'postgres', settings: newBucketSettings(proxy.url) })
  const name = 'x'.repeat(600)
  await publishText(first, 'places', 'places.geojson', points(10_000, name))
  const { key } = await openAccount(first, 'ada@example.org', { addOns: [...ADD_ONS] })
  const second = await secondNode(t, first)
  const { snapshot, manifest } = await second.parts.catalog.find('places')
  proxy.requests.length = 0
  proxy.delayMs = 50
  const page = await second.request('GET', '/v1/ogc/collections/places/items?limit=10', { key })
  proxy.delayMs = 0
  assert.equal(page.body.features.length, 10)
  // The bucket is listed in the background meanwhile.
  const fetches = proxy.requests.filter((request) => request.includes(`${snapshot}/`))
  const files = fetches.map((request) => request.split(`${snapshot}/`)[1]!.split(' ')[0])
  assert.deepEqual(files.slice(0, 2).sort(), ['checksums.json', 'features.index'])
  assert.deepEqual(files.slice(2), ['features.pack'])
  const areTogether = proxy.waiting.some((paths) =>
    ['checksums.json', 'features.index'].every((file) => paths.some((path) => path.includes(file))),
  )
  assert.ok(areTogether, 'the checksums and the index are fetched at the same time')
  const packBytes = manifest.files['features.pack']!.bytes
  const [from, to] = fetches[2]!.split('bytes=')[1]!.split('-').map(Number) as [number, number]
  assert.ok(to - from < packBytes / 10, `${to - from} of ${packBytes} bytes`)
  proxy.requests.length = 0
  const answers = await Promise.all(
    Array.from({ length: 8 }, () =>
      second.request('GET', '/v1/ogc/collections/places/items?limit=10&offset=5000', { key }),
    ),
  )
  assert.ok(answers.every(({ status }) => status === 200))
  const shared = proxy.requests.filter((request) => request.includes('features.pack'))
  assert.ok(shared.length <= 1, `one fetch for all readers: ${shared.join()}`)
})

test('a damaged or emptied cache is filled again, and wrong bytes are never served', async (t) => {
  const proxy = await S3Proxy.open(t)
  const first = await openTestServer(t, { database: 'postgres', settings: newBucketSettings(proxy.url) })
  await publishText(first, 'places', 'places.geojson', points(2000))
  const { key } = await openAccount(first, 'ada@example.org', { addOns: [...ADD_ONS] })
  const whole = (await first.request('GET', itemsPath(), { key })).body.features
  const second = await secondNode(t, first)
  // Damaged on the way: fetched once more.
  proxy.flips = 1
  assert.deepEqual((await second.request('GET', itemsPath(), { key })).body.features, whole)
  assert.equal(proxy.flips, 0)
  await second.stop()
  const cache = join(second.config.dataDir, 'cache', 'snapshots')
  for (const file of filesIn(cache)) {
    const path = join(cache, file)
    try {
      writeFileSync(path, 'damaged')
    } catch {
      // A folder.
    }
  }
  const third = await openTestServer(t, {
    ...second.config,
    databaseUrl: first.config.databaseUrl!,
    settings: second.config,
  })
  assert.deepEqual((await third.request('GET', itemsPath(), { key })).body.features, whole)
  rmSync(cache, { recursive: true })
  const filter = `&filter=${encodeURIComponent('number < 7')}`
  assert.equal((await third.request('GET', itemsPath(filter), { key })).body.features.length, 7)
})

test('an object that is damaged in the bucket is refused with 503', async (t) => {
  const settings = newBucketSettings()
  const first = await openTestServer(t, { database: 'postgres', settings })
  await publishText(first, 'places', 'places.geojson', points(2000))
  const ada = await openAccount(first, 'ada@example.org', { addOns: [...ADD_ONS], credits: 10 })
  const { key } = ada
  const { snapshot } = await first.parts.catalog.find('places')
  const bucket = await openTestBucket(t, settings)
  const packKey = snapshotKey(snapshot, 'features.pack')
  const pack = await bucket.read(packKey)
  pack[10]! ^= 1
  await bucket.write(packKey, pack)
  const second = await secondNode(t, first)
  const page = await second.request('GET', itemsPath(), { key })
  assert.deepEqual([page.status, page.body.code], [503, 'data-damaged'])
  const download = await second.request('GET', '/v1/dataset/places/files/csv', { key })
  assert.deepEqual([download.status, download.body.code], [503, 'data-damaged'])
  assert.equal((await readAccountLedger(first, ada)).balance, 10)
})

test('while the bucket is unreachable, what is cached is served and the rest is 503 with Retry-After', async (t) => {
  const proxy = await S3Proxy.open(t)
  const first = await openTestServer(t, { database: 'postgres', settings: newBucketSettings(proxy.url) })
  await publishText(first, 'places', 'places.geojson', points(2000))
  await publishText(first, 'others', 'others.geojson', points(2000))
  const { key } = await openAccount(first, 'ada@example.org', { addOns: [...ADD_ONS], credits: 10 })
  const second = await secondNode(t, first)
  assert.equal((await second.request('GET', itemsPath(), { key })).status, 200)
  proxy.isFrozen = true
  const other = '/v1/ogc/collections/others/items'
  assert.equal((await second.request('GET', itemsPath(), { key })).status, 200)
  const refused = await second.request('GET', other, { key })
  assert.deepEqual([refused.status, refused.body.code], [503, 'storage-unavailable'])
  assert.ok(Number(refused.headers.get('retry-after')) > 0)
  const download = await second.request('GET', '/v1/dataset/others/files/geojson', { key })
  assert.deepEqual([download.status, download.body.code], [503, 'storage-unavailable'])
  assert.equal((await second.request('GET', '/ready')).status, 200)
  assert.equal((await second.request('GET', itemsPath('&offset=10'), { key })).status, 200)
  proxy.isFrozen = false
  proxy.dropConnections()
  while ((await second.request('GET', other, { key })).status !== 200) await sleep(100)
  const balance = (await second.request('GET', '/v1/dataset/others/files/geojson', { key })).headers
  assert.deepEqual([balance.get('credits-charged'), balance.get('credits-remaining')], ['1', '9'])
})

test('a publication appears whole or not at all when the bucket fails', async (t) => {
  const proxy = await S3Proxy.open(t)
  const settings = newBucketSettings(proxy.url)
  const service = await openTestServer(t, { settings })
  await publishText(service, 'places', 'places.geojson', points(10))
  proxy.delayMs = 20
  proxy.slowDowns = 3
  await publishText(service, 'places', 'places.geojson', points(20))
  assert.equal((await service.request('GET', '/v1/dataset/places')).body.rows, 20)
  const bucket = await openTestBucket(t, { ...settings, s3Endpoint: newBucketSettings().s3Endpoint })
  for (const snapshot of await bucket.listFolders(SNAPSHOTS)) {
    assert.ok(await bucket.head(snapshotKey(snapshot, 'manifest.json')), snapshot)
  }
})

test('a download is redirected to a signed address after it is charged, and resumed for free', async (t) => {
  const service = await openTestServer(t, { settings: { ...newBucketSettings(), downloads: 'redirect' } })
  await publishText(service, 'places', 'places.geojson', points(500))
  const { key } = await openAccount(service, 'ada@example.org', { addOns: [...ADD_ONS], credits: 10 })
  const path = '/v1/dataset/places/files/csv'
  const redirect = await service.request('GET', path, { key })
  const location = redirect.headers.get('location')!
  assert.deepEqual([redirect.status, redirect.headers.get('credits-charged')], [307, '1'])
  assert.equal(redirect.headers.get('cache-control'), 'private, no-store')
  assert.ok(!location.includes(key))
  const file = await fetch(location)
  const bytes = Buffer.from(await file.arrayBuffer())
  assert.deepEqual([file.status, file.headers.get('content-type')], [200, 'text/csv; charset=utf-8'])
  assert.equal(file.headers.get('content-disposition'), 'attachment; filename="places.csv"')
  assert.ok(bytes.toString().startsWith('number,name,half,longitude,latitude'))
  // Resumed through the service: a new address, no second charge.
  const resumed = await service.request('GET', path, { key, headers: { range: 'bytes=100-199' } })
  assert.deepEqual([resumed.status, resumed.headers.get('credits-charged')], [307, '0'])
  const rest = await fetch(resumed.headers.get('location')!, { headers: { range: 'bytes=100-199' } })
  // The store of the tests sends every part with the status 200; its Content-Range and bytes are right.
  assert.equal(rest.headers.get('content-range'), `bytes 100-199/${bytes.length}`)
  assert.equal(await rest.text(), bytes.subarray(100, 200).toString())
  // HEAD and a resumption by the service's own tag are handled by the service.
  const head = await get(service, path, key, {}, 'HEAD')
  assert.deepEqual([head.status, Number(head.headers.get('content-length'))], [200, bytes.length])
  const own = await get(service, path, key, { range: 'bytes=0-9', 'if-range': head.headers.get('etag')! })
  assert.deepEqual([own.status, own.bytes.toString()], [206, bytes.subarray(0, 10).toString()])
  const outside = await service.request('GET', path, { key, headers: { range: 'bytes=99999999-' } })
  assert.equal(outside.status, 416)
  // A changed address is refused by the store.
  assert.equal((await fetch(location.replace('places.csv', 'places.kml'))).status, 403)
  // GeoJSON has a head and a tail around the pack, so it is sent by the service.
  assert.equal((await get(service, '/v1/dataset/places/files/geojson', key)).status, 200)
})

test('an upload to one node is published by a worker on another', async (t) => {
  const settings = newBucketSettings()
  const api = await openTestServer(t, { database: 'postgres', settings: { ...settings, role: 'api' } })
  const publisher = await api.parts.keys.createPlatform(operator, {
    name: 'up',
    permissions: ['read', 'write'],
  })
  const accepted = await api.request('PUT', '/v1/dataset/places?filename=places.geojson', {
    key: publisher.secret,
    body: points(50),
    headers: { 'content-type': 'application/geo+json' },
  })
  assert.equal(accepted.status, 202)
  const bucket = await openTestBucket(t, settings)
  assert.ok(await bucket.head(`uploads/${accepted.body.id}`))
  const worker = await secondNode(t, api, { role: 'worker' })
  const job = async () =>
    (await api.request('GET', `/v1/jobs/${accepted.body.id}`, { key: publisher.secret })).body
  while (!['done', 'failed'].includes((await job()).state)) await sleep(50)
  assert.equal((await job()).state, 'done', JSON.stringify(await job()))
  assert.equal((await api.request('GET', '/v1/dataset/places')).body.rows, 50)
  const page = await api.request('GET', itemsPath(), { key: publisher.secret })
  assert.equal(page.body.features.length, 50)
  while (await bucket.head(`uploads/${accepted.body.id}`)) await sleep(20)
  assert.equal(worker.config.role, 'worker')
})
