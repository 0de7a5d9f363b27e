import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { DuckDBInstance } from '@duckdb/node-api'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { openOgc, point } from '../testing/open-ogc.ts'
import { type Place, randomPlaces } from '../testing/random-places.ts'

const isLarge = ({ properties: { size } }: Place) => size !== null && size > 2
const LARGE = `filter=${encodeURIComponent('size > 2')}`

test('a file has all rows that match in each format, like pages and downloads', {
  skip: lacks('time'),
}, async (t) => {
  const service = await openOgc(t)
  const { publish, fetch, get, config, readAll, request, key } = service
  const places = randomPlaces(7000, 5)
  await publish('places', places)
  const expected = places.filter(isLarge)
  assert.ok(expected.length > 2500, 'more than one chunk')

  const geojson = await fetch(`/collections/places/extract?f=geojson&${LARGE}`)
  assert.equal(geojson.headers.get('content-type'), 'application/geo+json')
  assert.equal(geojson.headers.get('content-disposition'), 'attachment; filename="places.geojson"')
  assert.equal(geojson.headers.get('ogc-numberreturned'), String(expected.length))
  const { type, features } = JSON.parse(await geojson.text())
  assert.equal(type, 'FeatureCollection')
  assert.deepEqual(features, await readAll(`/collections/places/items?${LARGE}`))
  assert.deepEqual(
    features.map(({ properties }: Place) => properties.i).sort((a: number, b: number) => a - b),
    expected.map(({ properties }) => properties.i),
  )

  const csv = await fetch(`/collections/places/extract?${LARGE}&sortby=-i`)
  assert.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8')
  const page = await fetch(`/collections/places/items?f=csv&limit=10000&${LARGE}&sortby=-i`)
  assert.equal(await csv.text(), await page.text())

  const parquet = await fetch(`/collections/places/extract?f=parquet&${LARGE}`)
  const path = join(config.dataDir, 'extract.parquet')
  writeFileSync(path, Buffer.from(await parquet.arrayBuffer()))
  const whole = join(config.dataDir, 'whole.parquet')
  const download = await globalThis.fetch(`${service.url}/v1/dataset/places/files/geoparquet`, {
    headers: { 'x-api-key': key },
  })
  writeFileSync(whole, Buffer.from(await download.arrayBuffer()))
  const database = await (await DuckDBInstance.create()).connect()
  const rows = async (from: string, where = '') =>
    (
      await database.runAndReadAll(
        `SELECT COLUMNS(c -> c NOT IN ('id', 'geometry'))::VARCHAR, ST_AsText(geometry) FROM '${from}' ${where}`,
      )
    ).getRows()
  assert.deepEqual(await rows(path), await rows(whole, 'WHERE size > 2'))
  const kinds = async (from: string) =>
    (await database.runAndReadAll(`DESCRIBE SELECT * FROM '${from}'`)).getRows().map((row) => row.slice(0, 2))
  // The download has no row numbers; they are the ids of features.
  assert.deepEqual(await kinds(path), [['id', 'BIGINT'], ...(await kinds(whole))])
  const ids = (await database.runAndReadAll(`SELECT id FROM '${path}'`)).getRows()
  assert.deepEqual(
    ids.map(([id]) => Number(id)),
    features.map(({ id }: { id: number }) => id),
  )

  // Nothing stays behind, and the service still responds.
  assert.ok(!readdirSync(join(config.dataDir, 'snapshots')).includes('.staging'))
  assert.equal((await get('/collections/places/items?limit=1')).status, 200)
  assert.equal((await request('GET', '/v1/ogc/collections/places/extract')).status, 401)
})

test('a file without rows, of a table without geometry and compressed is complete', async (t) => {
  const { publish, fetch } = await openOgc(t)
  await publish('places', randomPlaces(50, 5))
  const none = `filter=${encodeURIComponent('size > 1000')}`
  const empty = await (await fetch(`/collections/places/extract?f=geojson&${none}`)).json()
  assert.deepEqual(empty, { type: 'FeatureCollection', features: [] })
  const head = await (await fetch(`/collections/places/extract?${none}`)).text()
  assert.match(head, /^i,name,.*longitude,latitude[^\r\n]*\r\n$/)
  assert.equal((await fetch(`/collections/places/extract?f=parquet&${none}`)).status, 200)
  const packed = await fetch('/collections/places/extract?f=geojson', {
    headers: { 'accept-encoding': 'gzip' },
  })
  assert.equal(packed.headers.get('content-encoding'), 'gzip')
  assert.equal(JSON.parse(await packed.text()).features.length, 50)

  const rows = [{ properties: { a: 1 } }, { properties: { a: 2 } }].map(({ properties }) => {
    return { type: 'Feature', geometry: null, properties }
  })
  await publish('codes', rows, { geometry: false })
  assert.equal(await (await fetch('/collections/codes/extract?a=2')).text(), 'a\r\n2\r\n')
})

test('a file beyond the limits is refused before anything is sent', async (t) => {
  const settings = { extractRows: 100, extractBytes: 200_000 }
  const { publish, get } = await openOgc(t, { settings })
  await publish('places', randomPlaces(300, 5))
  const codeOf = async (query: string) => (await get(`/collections/places/extract?${query}`)).body.code
  assert.equal(await codeOf(''), 'extract-too-large')
  const hundred = `filter=${encodeURIComponent('i < 100')}`
  assert.equal((await get(`/collections/places/extract?${hundred}`)).status, 200)
  assert.equal(await codeOf(`filter=${encodeURIComponent('i <= 100')}`), 'extract-too-large')
  const text = 'x'.repeat(50_000)
  await publish(
    'large',
    [1, 2, 3, 4, 5].map((i) => point(i, i, { i, text })),
  )
  const { body } = await get('/collections/large/extract')
  assert.deepEqual([body.status, body.code, body.maxBytes], [400, 'extract-too-large', 200_000])
  for (const query of ['f=shp', 'limit=5', 'cursor=x', 'crs=x', 'properties=i', 'offset=1', 'unknown=1']) {
    assert.equal((await get(`/collections/places/extract?${query}`)).status, 400, query)
  }
})

test('the rows of a file count against the daily limit, all of them or none', async (t) => {
  const { publish, get, fetch } = await openOgc(t, {
    clock: () => new Date('2026-03-01T22:00:00Z'),
    settings: { dailyFeatures: 100 },
  })
  await publish('places', randomPlaces(80, 5))
  // HEAD sends no rows.
  for (const f of ['csv', 'json', 'parquet']) {
    const head = await fetch(`/collections/places/extract?f=${f}`, { method: 'HEAD' })
    assert.deepEqual([head.status, head.headers.get('ogc-numbermatched')], [200, '80'])
  }
  assert.equal((await get('/collections/places/extract')).status, 200)
  const { status, headers, body } = await get('/collections/places/extract')
  assert.deepEqual([status, body.code], [429, 'daily-features-reached'])
  assert.equal(headers.get('retry-after'), '7200')
  // The refused file has taken nothing of the rest.
  const rest = await get('/collections/places/items?limit=50')
  assert.equal(rest.body.numberReturned, 20)
})

test('column names that contain commas are given as a JSON array', async (t) => {
  const { publish, get, request, key } = await openOgc(t)
  const rows = [3, 1, 2].map((n) => point(n, n, { 'size, in m²': n, '[x]': n * 2 }))
  await publish('places', rows)
  const list = (...names: string[]) => encodeURIComponent(JSON.stringify(names))
  const name = 'size, in m²'
  const facets = await get(`/collections/places/facets?columns=${list(name)}`)
  assert.equal(facets.body.facets[name].values.length, 3)
  const sorted = await get(
    `/collections/places/items?sortby=${list(`-${name}`)}&properties=${list(name, '[x]')}`,
  )
  assert.deepEqual(
    sorted.body.features.map(({ properties }: { properties: object }) => properties),
    [3, 2, 1].map((n) => ({ [name]: n, '[x]': n * 2 })),
  )
  const bracket = await get('/collections/places/items?properties=[x]&sortby=[x]')
  assert.deepEqual(bracket.body.features[0].properties, { '[x]': 2 })
  assert.equal((await get(`/collections/places/facets?columns=${list('unknown, too')}`)).status, 400)
  const body = { sortby: [`-${name}`], properties: [name] }
  const search = await request('POST', '/v1/ogc/collections/places/search', { key, body })
  assert.deepEqual(search.body.features[0].properties, { [name]: 3 })
})
