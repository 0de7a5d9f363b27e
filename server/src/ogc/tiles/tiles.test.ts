import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type DecodedFeature, decodeTile } from '@wayleave/geodata/testing'
import { lacks, needs } from '../../../../scripts/test-run/needs.ts'
import { openAccount } from '../../testing/account.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { type OgcService, openOgc } from '../testing/open-ogc.ts'
import { openPlaces, places, waitForTiles } from '../testing/open-places.ts'

needs('time')

const TILES = '/collections/places/tiles/WebMercatorQuad'

function total(features: readonly DecodedFeature[]): number {
  return features.reduce((sum, { properties }) => sum + Number(properties.point_count ?? 1), 0)
}

async function tileAt(service: OgcService, z: number, y: number, x: number, query = '') {
  const response = await service.fetch(`${TILES}/${z}/${y}/${x}${query}`)
  const bytes = new Uint8Array(await response.arrayBuffer())
  return { response, features: response.status === 200 ? decodeTile(bytes, z, x, y) : [] }
}

async function countAt(service: OgcService, z: number, query = ''): Promise<number> {
  let sum = 0
  for (let y = 0; y < 2 ** z; y++)
    for (let x = 0; x < 2 ** z; x++) sum += total((await tileAt(service, z, y, x, query)).features)
  return sum
}

test('tiles are built on demand, served with exact tags, and end at the deepest zoom', async (t) => {
  const service = await openPlaces(t)
  assert.equal((await service.request('GET', '/v1/dataset/places')).body.tiles.state, 'pending')
  const early = await service.get(`${TILES}/0/0/0`)
  assert.equal(early.status, 503)
  assert.equal(early.body.code, 'tiles-not-ready')
  assert.equal(early.headers.get('retry-after'), '5')
  assert.equal((await service.get(`${TILES}?f=tilejson`)).status, 503)
  // What a client is told to wait for is not an error of the service.
  assert.deepEqual(
    service.logLines.filter((line) => JSON.parse(line).level >= 50),
    [],
  )
  assert.deepEqual(await waitForTiles(service), {
    state: 'ready',
    progress: null,
    maxZoom: 5,
    reason: null,
  })

  const { body: tilejson } = await service.get(`${TILES}?f=tilejson`)
  assert.equal(tilejson.tilejson, '3.0.0')
  assert.equal(tilejson.maxzoom, 5)
  assert.equal(tilejson.vector_layers[0].id, 'places')
  assert.equal(tilejson.contents[0].features + tilejson.contents[0].counted, 3400)
  const root = tilejson.tiles[0].replace('{z}', '0').replace('{y}', '0').replace('{x}', '0')
  const first = await fetch(root, { headers: { 'x-api-key': service.key } })
  assert.equal(first.status, 200)
  assert.equal(first.headers.get('content-type'), 'application/vnd.mapbox-vector-tile')
  assert.equal(first.headers.get('content-encoding'), 'gzip')
  assert.match(first.headers.get('cache-control')!, /immutable/)
  assert.equal(total(decodeTile(new Uint8Array(await first.arrayBuffer()), 0, 0, 0)), 3400)
  const etag = first.headers.get('etag')!
  const again = await fetch(root, { headers: { 'x-api-key': service.key, 'if-none-match': etag } })
  assert.equal(again.status, 304)
  const plain = await fetch(root, { headers: { 'x-api-key': service.key, 'accept-encoding': 'identity' } })
  assert.equal(plain.headers.get('content-encoding'), null)
  assert.notEqual(plain.headers.get('etag'), etag)
  assert.equal(total(decodeTile(new Uint8Array(await plain.arrayBuffer()), 0, 0, 0)), 3400)
  assert.equal((await tileAt(service, 0, 0, 0)).response.headers.get('cache-control'), 'private, no-cache')

  for (const z of [1, 2, 3]) assert.equal(await countAt(service, z), 3400)
  let empty = 0
  for (let x = 0; x < 32; x++) if ((await tileAt(service, 5, 0, x)).response.status === 204) empty++
  assert.ok(empty > 0)

  for (const path of ['6/0/0', '0/1/0', '5/32/0', 'a/0/0', '00/0/0', '1/-1/0', '25/0/0'])
    assert.equal((await service.get(`${TILES}/${path}`)).status, 404, path)
  for (const [path, status] of [
    ['/0/0/0?f=mvt', 200],
    ['/0/0/0?f=png', 400],
    ['/0/0/0?limit=1', 400],
    ['/0/0/0?version=0', 400],
    ['/0/0/0?version=2', 404],
    ['?f=html', 400],
    ['?version=one', 400],
    ['?version=2', 404],
  ] as const)
    assert.equal((await service.get(`${TILES}${path}`)).status, status, path)
  assert.equal((await service.get('/collections/places/tiles/Other')).status, 404)
  assert.equal((await service.get('/collections/places/style?version=one')).status, 400)
  assert.equal((await service.get('/collections/nowhere/tiles')).status, 404)
})

test('the documents of OGC API - Tiles lead to the tiles', async (t) => {
  const service = await openPlaces(t)
  await service.publish('table', [{ type: 'Feature', geometry: null, properties: { n: 1 } }])
  await service.parts.tileBuilds.build(await current(service))
  const { body: landing } = await service.get('')
  const schemes = linkOf(landing, 'http://www.opengis.net/def/rel/ogc/1.0/tiling-schemes')
  const { body: sets } = await service.request('GET', schemes.slice(service.url.length))
  const { body: set } = await service.request(
    'GET',
    sets.tileMatrixSets[0].links[0].href.slice(service.url.length),
  )
  assert.equal(set.id, 'WebMercatorQuad')
  assert.equal(set.tileMatrices[0].matrixWidth, 1)
  assert.ok(Math.abs(set.tileMatrices[0].scaleDenominator - 559082264.028717) < 1e-3)
  const { body: collection } = await service.get('/collections/places')
  const list = linkOf(collection, 'http://www.opengis.net/def/rel/ogc/1.0/tilesets-vector')
  const { body: tilesets } = await service.request('GET', list.slice(service.url.length), {
    key: service.key,
  })
  const [tileset] = tilesets.tilesets
  assert.equal(tileset.dataType, 'vector')
  const { body: metadata } = await service.request('GET', linkOf(tileset, 'self').slice(service.url.length), {
    key: service.key,
  })
  assert.equal(metadata.tileMatrixSetURI, set.uri)
  assert.deepEqual(metadata.tileMatrixSetLimits[1], {
    tileMatrix: '1',
    minTileRow: 0,
    maxTileRow: 1,
    minTileCol: 0,
    maxTileCol: 1,
  })
  const template = linkOf(metadata, 'item')
  const url = template.replace('{tileMatrix}', '1').replace('{tileRow}', '0').replace('{tileCol}', '1')
  assert.equal((await fetch(url, { headers: { 'x-api-key': service.key } })).status, 200)
  const { body: conformance } = await service.get('/conformance')
  assert.ok(conformance.conformsTo.includes('http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/mvt'))
  const { body: style } = await service.get('/collections/places/style')
  assert.equal(style.version, 8)
  assert.deepEqual(style.sources.places.tiles, [`${service.url}/v1/ogc${TILES}/{z}/{y}/{x}?version=1`])

  const { body: styled } = await service.get(
    `/collections/places/style?color=n&size=n&theme=dark&filter=${encodeURIComponent("kind = 'a'")}`,
  )
  const [template2] = styled.sources.places.tiles
  assert.match(template2, /&filter=kind%20%3D%20'a'&by=%5B%22n%22%5D$/)
  assert.equal(
    (
      await service.request('GET', template2.replace(service.url, '').replace('{z}/{y}/{x}', '0/0/0'), {
        key: service.key,
      })
    ).status,
    200,
  )
  const legend = styled.metadata['wayleave:legend']
  assert.deepEqual([legend.column, legend.min, legend.max, legend.classes.length], ['n', 0, 3399, 6])
  const colorsOf = async (filter: string) => {
    const query = new URLSearchParams({ color: 'kind', ...(filter && { filter }) })
    const { body } = await service.get(`/collections/places/style?${query}`)
    const { classes } = body.metadata['wayleave:legend'] as { classes: { label: string; color: string }[] }
    return new Map(classes.map(({ label, color }) => [label, color]))
  }
  const [all, some] = [await colorsOf(''), await colorsOf("kind <> 'a'")]
  assert.ok(!some.has('a') && some.size > 0)
  for (const [value, color] of some) assert.equal(color, all.get(value), `${value} keeps its color`)
  assert.equal(styled.sources.coarse.data, `${service.url}/v1/basemap/coarse.json`)
  assert.equal(styled.sources.places.attribution, 'Data: Places')
  const { body: cells } = await service.get('/collections/places/style?draw=hexagons&color=n&background=none')
  assert.deepEqual(Object.keys(cells.sources), ['places'])
  const { body: areas } = await service.request('GET', cells.sources.places.data.slice(service.url.length), {
    key: service.key,
  })
  assert.ok(areas.features.length > 10)
  assert.ok('mean("n")' in areas.features[0].properties, 'the property that gives the colors')
  for (const query of [
    'color=nothing',
    'size=kind',
    'draw=x',
    'classing=3,2',
    'ramp=x',
    'opacity=2',
    'theme=x',
  ])
    assert.equal((await service.get(`/collections/places/style?${query}`)).status, 400, query)

  const table = await service.get('/collections/table')
  assert.ok(!JSON.stringify(table.body).includes('/tiles'))
  assert.equal((await service.request('GET', '/v1/dataset/table')).body.tiles, null)
  for (const path of ['tiles', 'tiles/WebMercatorQuad', 'tiles/WebMercatorQuad/0/0/0', 'style'])
    assert.equal((await service.get(`/collections/table/${path}`)).status, 404, path)
})

test('a filtered tile shows what the filter selects, by the same rules', {
  skip: lacks('time'),
}, async (t) => {
  const service = await openPlaces(t)
  await service.parts.tileBuilds.build(await current(service))
  for (const query of [
    `?filter=${encodeURIComponent("kind = 'a'")}`,
    `?filter=${encodeURIComponent('S_INTERSECTS(geometry,BBOX(0,40,20,50))')}&filter-lang=cql2-text`,
    '?datetime=2005-01-01/2010-12-31',
    `?filter=${encodeURIComponent("kind = 'nothing'")}`,
  ]) {
    const matched = await service.readAll(`/collections/places/items${query}&limit=5000`)
    for (const z of [0, 2]) assert.equal(await countAt(service, z, query), matched.length, `${query} ${z}`)
    const deepest: DecodedFeature[] = []
    for (let y = 0; y < 32; y += 1)
      for (let x = 14; x < 18; x++) deepest.push(...(await tileAt(service, 5, y, x, query)).features)
    const ids = new Set(matched.map(({ id }) => id))
    assert.ok(deepest.every(({ id }) => ids.has(id)))
  }
  // Values are summed up where a point stands for several features, of all of them and of those that match.
  for (const [query, matching] of [
    ['?by=kind,n', places()],
    [`?by=n&filter=${encodeURIComponent("kind = 'a'")}`, places().filter(isOfKindA)],
  ] as const) {
    const { features } = await tileAt(service, 0, 0, 0, query)
    assert.equal(total(features), matching.length)
    const largest = features.reduce(
      (max, { properties }) => Math.max(max, Number(properties['n:max'] ?? properties.n)),
      0,
    )
    assert.equal(largest, Math.max(...matching.map(({ properties }) => properties.n)))
    const counted = features.filter(({ properties }) => 'point_count' in properties)
    assert.ok(counted.every(({ properties }) => 'kind:top' in properties === query.includes('kind,')))
  }
  for (const by of ['nothing', 'kind,name,day,n', ''])
    assert.equal((await service.get(`${TILES}/0/0/0?by=${by}`)).status, 400, by)
  const [all, none] = [await tileAt(service, 0, 0, 0), await tileAt(service, 0, 0, 0, "?filter=kind='x'")]
  assert.equal(total(all.features), 3400)
  assert.equal(none.response.status, 204)
  assert.equal((await service.get(`${TILES}/0/0/0?filter=nonsense(`)).body.code, 'invalid-filter')
})

test('HEAD without a body states no length', async (t) => {
  const service = await openPlaces(t)
  const { key, url } = service
  const head = (path: string, headers: Record<string, string> = {}) =>
    fetch(url + path, { method: 'HEAD', headers: { 'x-api-key': key, ...headers } })
  const preview = '/v1/dataset/places/preview'
  await service.parts.tileBuilds.build(await current(service))
  const root = `/v1/ogc${TILES}/0/0/0`
  const items = '/v1/ogc/collections/places/items?limit=1'
  for (const path of [`${root}?filter=kind='x'`, `/v1/ogc${TILES}/5/0/0?filter=kind='x'`]) {
    const empty = await head(path)
    assert.deepEqual([empty.status, empty.headers.get('content-length')], [204, null], path)
  }
  for (const path of [root, `${root}?filter=kind='a'`, items, preview, '/v1/dataset/places', '/v1/ogc']) {
    const whole = await head(path)
    assert.equal(whole.status, 200, path)
    assert.ok(Number(whole.headers.get('content-length')) > 0, path)
    const etag = whole.headers.get('etag')
    if (etag === null) continue
    const unchanged = await head(path, { 'if-none-match': etag })
    assert.deepEqual([unchanged.status, unchanged.headers.get('content-length')], [304, null], path)
  }
  const statuses = new Map<number, string | null>()
  for (let x = 0; x < 32; x++) {
    const { status, headers } = await head(`/v1/ogc${TILES}/5/0/${x}`)
    statuses.set(status, headers.get('content-length'))
  }
  assert.equal(statuses.get(204), null)
  assert.ok(Number(statuses.get(200)) > 0)
})

test('tiles need a key with GIS_ACCESS, count as calls, and have a rate limit of their own', async (t) => {
  const service = await openPlaces(t, { tileRate: 3 })
  await service.parts.tileBuilds.build(await current(service))
  assert.equal((await service.request('GET', `/v1/ogc${TILES}/0/0/0`)).status, 401)
  const { key } = await openAccount(service, 'none@example.org', { addOns: [] })
  assert.equal((await service.request('GET', `/v1/ogc${TILES}/0/0/0`, { key })).status, 403)
  const account = await openAccount(service, 'map@example.org', { addOns: ['GIS_ACCESS'] })
  const statuses: number[] = []
  for (let i = 0; i < 4; i++)
    statuses.push((await service.request('GET', `/v1/ogc${TILES}/0/0/0`, { key: account.key })).status)
  assert.deepEqual(statuses, [200, 200, 200, 429])
  const items = '/v1/ogc/collections/places/items?limit=1'
  assert.equal((await service.request('GET', items, { key: account.key })).status, 200)
})

test('a build that was cut off leaves nothing behind and is begun again; damage is noticed', {
  skip: lacks('time'),
}, async (t) => {
  const service = await openPlaces(t)
  const dataset = await current(service)
  const folder = await service.parts.blobs.localFolder(dataset.snapshot)
  await service.parts.tileBuilds.build(dataset)
  const names = () => readdirSync(join(folder, 'tiles')).filter((name) => !name.startsWith('lock'))
  assert.deepEqual(names().sort(), ['tiles.pmtiles', 'tiles.pmtiles.meta.json'])
  const archive = join(folder, 'tiles', 'tiles.pmtiles')
  const bytes = readFileSync(archive)
  bytes[bytes.length - 5]! ^= 1
  writeFileSync(archive, bytes)
  writeFileSync(`${archive}.partial-999999`, 'half')
  assert.equal((await service.get(`${TILES}/0/0/0`)).status, 503)
  await waitForTiles(service)
  assert.equal((await tileAt(service, 0, 0, 0)).response.status, 200)
  assert.deepEqual(names().sort(), ['tiles.pmtiles', 'tiles.pmtiles.meta.json'])
  assert.ok(existsSync(archive))
})

test('the archive is a download, priced and resumable', async (t) => {
  const service = await openPlaces(t)
  const { key } = await openAccount(service, 'down@example.org', { addOns: ['API_ACCESS'], credits: 5 })
  const path = '/v1/dataset/places/files/pmtiles'
  const whole = await fetch(service.url + path, { headers: { 'x-api-key': key } })
  assert.equal(whole.status, 200)
  assert.equal(whole.headers.get('credits-charged'), '1')
  assert.equal(whole.headers.get('content-type'), 'application/vnd.pmtiles')
  const bytes = Buffer.from(await whole.arrayBuffer())
  assert.equal(bytes.toString('latin1', 0, 7), 'PMTiles')
  const part = await fetch(service.url + path, { headers: { 'x-api-key': key, range: 'bytes=100-199' } })
  assert.equal(part.status, 206)
  assert.equal(part.headers.get('credits-charged'), '0')
  assert.ok(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(100, 200)))
  const { body } = await service.request('GET', '/v1/dataset/places')
  assert.ok(body.formats.some(({ format }: { format: string }) => format === 'pmtiles'))
})

test('a server builds the tiles of a new version by itself, and keeps serving the one before', async (t) => {
  const service = await openOgc(t, { settings: { tiles: true, tileMaxZoom: 2 } })
  await service.publish('places', places().slice(0, 50))
  assert.equal((await waitForTiles(service)).state, 'ready')
  assert.equal(await countAt(service, 1), 50)
  await service.publish('places', places().slice(0, 20))
  assert.equal(await countAt(service, 1, '?version=1'), 50)
  assert.equal((await waitForTiles(service)).state, 'ready')
  assert.equal(await countAt(service, 1), 20)
  await service.publish('places', places().slice(0, 10), { tiles: false })
  assert.equal((await service.request('GET', '/v1/dataset/places')).body.tiles, null)
})

test('a dataset that was published without tiles gets none, neither by a download nor by a command', async (t) => {
  const service = await openOgc(t, { settings: { tileMaxZoom: 2 } })
  await service.publish('places', places().slice(0, 10), { tiles: false })
  const { key } = await openAccount(service, 'down@example.org', { addOns: ['API_ACCESS'], credits: 5 })
  const requireNone = async () => {
    const { body } = await service.request('GET', '/v1/dataset/places')
    assert.equal(body.tiles, null)
    assert.ok(!body.formats.some(({ format }: { format: string }) => format === 'pmtiles'))
    const download = await service.request('GET', '/v1/dataset/places/files/pmtiles', { key })
    assert.equal(download.status, 404)
    for (const path of ['tiles', 'tiles/WebMercatorQuad', 'tiles/WebMercatorQuad/0/0/0', 'style'])
      assert.equal((await service.get(`/collections/places/${path}`)).status, 404, path)
    const preview = await service.request('GET', '/v1/dataset/places/preview')
    assert.equal(preview.body.points.match(/M/g).length, 10, 'drawn from the points themselves')
  }
  await requireNone()
  const { code, stderr } = await runCommand(service.config, 'tiles', 'places')
  assert.equal(code, 1)
  assert.match(stderr, /published with --no-tiles/)
  // An archive that an earlier version of the program built on request.
  const dataset = await current(service)
  await service.parts.tileBuilds.buildNow(dataset, dataset, { rebuild: false, show: () => {} })
  await requireNone()
})

const isOfKindA = ({ properties }: { properties: { kind: string } }) => properties.kind === 'a'

function linkOf({ links }: { links: { rel: string; href: string }[] }, rel: string): string {
  const link = links.find((one) => one.rel === rel)
  assert.ok(link, `a link with the relation ${rel}`)
  return link.href
}

function current(service: OgcService) {
  return service.parts.catalog.find('places')
}
