import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { lacks, needs } from '../../../../scripts/test-run/needs.ts'
import { newBucketSettings } from '../../testing/bucket.ts'
import { getBytes } from '../../testing/get-bytes.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { databaseKinds, openTestServer, type TestServer } from '../../testing/test-server.ts'
import { type OgcService, openOgc, point } from '../testing/open-ogc.ts'

needs('time')

const TILES = '/v1/ogc/collections/places/tiles/WebMercatorQuad'
const OLD_ZOOM = 4
const NEW_ZOOM = 2

const places = Array.from({ length: 300 }, (_, i) =>
  point(((i * 137.5) % 360) - 180, ((i * 61.8) % 160) - 80, { name: `place ${i}` }, i + 1),
)

async function openPlaces(
  t: TestContext,
  options: Parameters<typeof openOgc>[1] = {},
  features = places,
): Promise<OgcService> {
  const service = await openOgc(t, { ...options, settings: { tileMaxZoom: OLD_ZOOM, ...options.settings } })
  await service.publish('places', features)
  await service.parts.tileBuilds.build(await service.parts.catalog.find('places'))
  return service
}

/** The deepest zoom according to everything that a server says about tiles. */
async function zoomsOf(server: TestServer, key: string) {
  const dataset = await server.request('GET', '/v1/dataset/places')
  const tileJson = await server.request('GET', `${TILES}?f=tilejson`, { key })
  const deep = await getBytes(server, `${TILES}/${OLD_ZOOM}/0/0`, key)
  const filtered = await getBytes(
    server,
    `${TILES}/${OLD_ZOOM}/0/0?filter=${encodeURIComponent("name <> ''")}`,
    key,
  )
  const archive = await getBytes(server, '/v1/dataset/places/files/pmtiles', key)
  const size = dataset.body.formats.find(({ format }: { format: string }) => format === 'pmtiles').bytes
  assert.ok(
    size === null || size === archive.bytes.length,
    `the archive has ${archive.bytes.length} bytes, not ${size}`,
  )
  const head = await getBytes(server, '/v1/dataset/places/files/pmtiles', key, {}, 'HEAD')
  assert.equal(head.headers.get('etag'), archive.headers.get('etag'))
  return {
    dataset: dataset.body.tiles.maxZoom,
    tileJson: tileJson.body.maxzoom,
    hasDeep: [deep.status, filtered.status].map((status) => status !== 404),
    // The byte 101 of a PMTiles header is the deepest zoom.
    download: archive.bytes[101],
  }
}

function expectedZooms(zoom: number) {
  return { dataset: zoom, tileJson: zoom, hasDeep: [zoom >= OLD_ZOOM, zoom >= OLD_ZOOM], download: zoom }
}

async function rebuild({ config }: TestServer, tileMaxZoom = NEW_ZOOM): Promise<void> {
  const { code, stderr } = await runCommand({ ...config, tileMaxZoom }, 'tiles', 'places', '--rebuild')
  assert.equal(code, 0, stderr)
}

async function tileFiles({ parts }: TestServer): Promise<string[]> {
  const { snapshot } = await parts.catalog.find('places')
  const names = readdirSync(join(await parts.blobs.localFolder(snapshot), 'tiles'))
  return names.filter((name) => !name.startsWith('lock')).sort()
}

const WHOLE = ['tiles.pmtiles', 'tiles.pmtiles.meta.json']
const damageLines = ({ logLines }: TestServer) => logLines.filter((line) => line.includes('damaged'))

for (const database of databaseKinds) {
  test(`a running server uses tiles that a command built again, from the next request on (${database})`, async (t) => {
    const service = await openPlaces(t, { database })
    assert.deepEqual(await zoomsOf(service, service.key), expectedZooms(OLD_ZOOM))
    const early = await service.request('GET', '/v1/dataset/places/preview')
    await rebuild(service)
    assert.deepEqual(await zoomsOf(service, service.key), expectedZooms(NEW_ZOOM))
    assert.deepEqual(await tileFiles(service), WHOLE)
    assert.deepEqual(damageLines(service), [])
    const preview = await service.request('GET', '/v1/dataset/places/preview')
    assert.notEqual(preview.headers.get('etag'), early.headers.get('etag'))
    await rebuild(service, OLD_ZOOM)
    assert.deepEqual(await zoomsOf(service, service.key), expectedZooms(OLD_ZOOM))
  })
}

test('tiles that were built again reach every node that shares the folder', {
  skip: lacks('postgres'),
}, async (t) => {
  const first = await openPlaces(t, { database: 'postgres' })
  const { databaseUrl, dataDir } = first.config
  const second = await openTestServer(t, { databaseUrl: databaseUrl!, dataDir })
  const nodes = [first, second]
  for (const node of nodes) assert.deepEqual(await zoomsOf(node, first.key), expectedZooms(OLD_ZOOM))
  await rebuild(first)
  for (const node of nodes) assert.deepEqual(await zoomsOf(node, first.key), expectedZooms(NEW_ZOOM))
  assert.deepEqual(nodes.flatMap(damageLines), [])
})

test('tiles that were built again reach every node of a bucket', { skip: lacks('s3') }, async (t) => {
  const settings = newBucketSettings()
  const first = await openPlaces(t, { database: 'postgres', settings })
  const { databaseUrl } = first.config
  const second = await openTestServer(t, { databaseUrl: databaseUrl!, settings })
  const nodes = [first, second]
  for (const node of nodes) assert.deepEqual(await zoomsOf(node, first.key), expectedZooms(OLD_ZOOM))
  await rebuild(first)
  for (const node of nodes) assert.deepEqual(await zoomsOf(node, first.key), expectedZooms(NEW_ZOOM))
  assert.deepEqual(nodes.flatMap(damageLines), [])
})

test('requests at the moment of a rebuild get tiles of one of the two archives', async (t) => {
  const service = await openPlaces(t)
  let isRebuilt = false
  const rebuilding = rebuild(service).finally(() => {
    isRebuilt = true
  })
  const statuses = new Set<number>()
  while (!isRebuilt) {
    const requests = Array.from({ length: 4 }, (_, i) =>
      getBytes(service, `${TILES}/1/${i >> 1}/${i & 1}`, service.key),
    )
    for (const { status } of await Promise.all(requests)) statuses.add(status)
  }
  await rebuilding
  assert.deepEqual([...statuses], [200])
})

test('damage that was found in replaced tiles does not remove those that replaced them', async (t) => {
  const service = await openPlaces(t)
  const dataset = await service.parts.catalog.find('places')
  const old = await service.parts.tileStates.find(dataset)
  await rebuild(service)
  await service.parts.tileStates.discardDamaged(dataset, old!)
  assert.deepEqual(await tileFiles(service), WHOLE)
  assert.deepEqual(await zoomsOf(service, service.key), expectedZooms(NEW_ZOOM))
})

test('damage that the metadata of a dataset finds is logged, and the tiles are built again', async (t) => {
  const service = await openPlaces(t)
  const dataset = await service.parts.catalog.find('places')
  const archive = join(await service.parts.blobs.localFolder(dataset.snapshot), 'tiles', 'tiles.pmtiles')
  const bytes = readFileSync(archive)
  const damaged = Buffer.from(bytes)
  damaged[damaged.length - 5]! ^= 1
  writeFileSync(archive, damaged)
  assert.equal((await service.request('GET', '/v1/dataset/places')).body.tiles.state, 'pending')
  assert.equal(damageLines(service).length, 1)
  await service.parts.tileBuilds.build(dataset)
  assert.deepEqual(readFileSync(archive), bytes)
})

/** Points that are counted in a tile, unless its zoom is the deepest. */
const densePlaces = Array.from({ length: 3000 }, (_, i) =>
  point(10 + (i % 60) / 100, 50 + Math.floor(i / 60) / 100, { name: `place ${i}` }, i + 1),
)

test('the tags and URLs of tiles change with the build, and those of the build before still work', async (t) => {
  const service = await openPlaces(t, {}, densePlaces)
  const { key } = service
  const templateOf = async () => {
    const { body } = await service.request('GET', `${TILES}?f=tilejson`, { key })
    const { body: style } = await service.request('GET', '/v1/ogc/collections/places/style', { key })
    assert.deepEqual(style.sources.places.tiles, body.tiles)
    const address = `/${NEW_ZOOM}/1/2?`
    return body.tiles[0].slice(service.url.length).replace('/{z}/{y}/{x}?', address) as string
  }
  const stored = await templateOf()
  const filtered = `${stored}&filter=${encodeURIComponent("name <> ''")}`
  const before = new Map<string, Awaited<ReturnType<typeof getBytes>>>()
  for (const url of [stored, filtered]) {
    before.set(url, await getBytes(service, url, key))
    assert.match(before.get(url)!.headers.get('cache-control')!, /immutable/)
  }
  await rebuild(service)
  for (const [url, old] of before) {
    const tag = old.headers.get('etag')!
    const now = await getBytes(service, url, key, { 'if-none-match': tag })
    assert.equal(now.status, 200, url)
    assert.ok(!now.bytes.equals(old.bytes), url)
    assert.equal(now.headers.get('cache-control'), 'private, no-cache', url)
  }
  const renamed = await templateOf()
  assert.notEqual(renamed, stored)
  for (const url of [renamed, renamed + filtered.slice(stored.length)])
    assert.match((await getBytes(service, url, key)).headers.get('cache-control')!, /immutable/)
})
