import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { needs } from '../../../scripts/test-run/needs.ts'
import { openOgc, point } from './testing/open-ogc.ts'
import { randomPlaces } from './testing/random-places.ts'

needs('gdal', 'python')

const run = promisify(execFile)

/** Runs a GDAL program as a user would, with the key as the user name. */
async function ogr(key: string, program: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, GDAL_HTTP_USERPWD: `${key}:`, CPL_VSIL_CURL_ALLOWED_EXTENSIONS: '' }
  const { stdout } = await run(program, args, { env, maxBuffer: 1 << 26 })
  return stdout
}

test("GDAL's OAPIF driver reads collections whole, by pages, boxes and attributes", async (t) => {
  const service = await openOgc(t)
  const places = randomPlaces(250, 5, false)
  await service.publish('places', places)
  await service.publish('shapes', randomPlaces(50, 6))
  const source = `OAPIF:${service.url}/v1/ogc`
  const list = await ogr(service.key, 'ogrinfo', '-ro', source)
  assert.match(list, /places/)
  assert.match(list, /shapes/)
  const summary = await ogr(service.key, 'ogrinfo', '-ro', '-so', source, 'places')
  assert.match(summary, /Feature Count: 250/)
  assert.match(summary, /name: String/)
  const read = async (...more: string[]) => {
    const text = await ogr(service.key, 'ogr2ogr', '-f', 'GeoJSON', '/vsistdout/', source, ...more)
    return JSON.parse(text).features as { geometry: object | null; properties: { i: number } }[]
  }
  const all = await read('places', '-oo', 'PAGE_SIZE=40')
  assert.deepEqual(
    all.map(({ properties }) => properties.i).sort((a, b) => a - b),
    places.map((_, i) => i),
  )
  for (const { geometry, properties } of all) assert.deepEqual(geometry, places[properties.i]!.geometry)
  const boxed = await read('places', '-spat', '-50', '-50', '50', '50')
  const inBox = (await service.get('/collections/places/items?bbox=-50,-50,50,50')).body.features
  // GDAL drops features without a geometry, which match every box.
  assert.equal(
    boxed.length,
    inBox.filter(({ geometry }: { geometry: object | null }) => geometry !== null).length,
  )
  const named = await read('places', '-where', "name = 'Bay'")
  assert.equal(named.length, places.filter(({ properties }) => properties.name === 'Bay').length)
  assert.equal((await read('shapes')).length, 50)
})

test('GDAL keeps the fractions of a column that begins with whole numbers', async (t) => {
  const service = await openOgc(t)
  // All at the same location, so that they are returned in this order. GDAL infers column types from its
  // first page of ten.
  const sizes = Array.from({ length: 30 }, (_, i) => (i < 20 ? i : i + 0.25))
  await service.publish(
    'sizes',
    sizes.map((size) => point(5, 52, { size })),
  )
  const source = `OAPIF:${service.url}/v1/ogc`
  const text = await ogr(service.key, 'ogr2ogr', '-f', 'GeoJSON', '/vsistdout/', source, 'sizes')
  const read = JSON.parse(text).features as { properties: { size: number } }[]
  assert.deepEqual(
    read.map(({ properties }) => properties.size),
    sizes,
  )
})

const GEOPANDAS = `
import json, sys, geopandas
def values(table):
    frame = geopandas.read_file('OAPIF:' + sys.argv[1], layer=table)
    return {name: frame[name].tolist() for name in frame.columns if name != 'geometry'}
print(json.dumps({table: values(table) for table in sys.argv[2:]}))
`

test('the GDAL of geopandas reads a column that is named id, wherever it is, and finds features by text ids', async (t) => {
  const python = process.env['WAYLEAVE_TEST_PYTHON']
  if (!python) throw new Error('WAYLEAVE_TEST_PYTHON is not set: run the tests with npm test.')
  const service = await openOgc(t)
  const columns = { first: ['id', 'size'], last: ['size', 'id'], only: ['id'] }
  const kinds = { texts: (n: number) => `T${n}`, integers: (n: number) => n + 10 }
  const expected: Record<string, object> = {}
  for (const [place, names] of Object.entries(columns)) {
    for (const [kind, idOf] of Object.entries(kinds)) {
      const valueAt = (name: string, n: number) => (name === 'id' ? idOf(n) : n / 2)
      const rows = [1, 2, 3].map((n) =>
        point(n, n, Object.fromEntries(names.map((name) => [name, valueAt(name, n)]))),
      )
      const values = names.map((name) => [name, [1, 2, 3].map((n) => valueAt(name, n))])
      for (const isId of [true, false]) {
        const table = `${place}_${kind}_${isId ? 'ids' : 'rows'}`
        await service.publish(table, rows, isId ? { idColumn: 'id' } : {})
        expected[table] = Object.fromEntries(values)
      }
    }
  }
  const env = { ...process.env, GDAL_HTTP_USERPWD: `${service.key}:` }
  const args = ['-c', GEOPANDAS, `${service.url}/v1/ogc`, ...Object.keys(expected)]
  assert.deepEqual(JSON.parse((await run(python, args, { env })).stdout), expected)
  const source = `OAPIF:${service.url}/v1/ogc`
  const found = await ogr(service.key, 'ogrinfo', '-ro', '-q', source, 'first_texts_ids', '-where', "id='T2'")
  assert.match(found, /id \(String\) = T2/)
  assert.doesNotMatch(found, /T1|T3/)
})

const OWSLIB = `
import json, sys
from owslib.ogcapi.features import Features
url, key = sys.argv[1:]
api = Features(url, headers={'X-API-Key': key})
read, page = [], api.collection_items('places', limit=60)
while True:
    read += [feature['properties']['i'] for feature in page['features']]
    following = [link['href'] for link in page['links'] if link['rel'] == 'next']
    if not following:
        break
    cursor = following[0].split('cursor=')[1]
    page = api.collection_items('places', limit=60, cursor=cursor)
print(json.dumps({
    'collections': [one['id'] for one in api.collections()['collections']],
    'features': api.feature_collections(),
    'title': api.collection('places')['title'],
    'queryables': sorted(api.collection_queryables('places')['properties']),
    'conformance': len(api.conformance()['conformsTo']),
    'openapi': api.api()['openapi'],
    'item': api.collection_item('places', 7)['id'],
    'boxed': api.collection_items('places', bbox=[-50, -50, 50, 50], limit=1)['numberMatched'],
    'filtered': api.collection_items('places', filter='i < 10')['numberReturned'],
    'read': read,
}))
`

test('OWSLib reads a collection whole', async (t) => {
  const python = process.env['WAYLEAVE_TEST_PYTHON']
  if (!python) throw new Error('WAYLEAVE_TEST_PYTHON is not set: run the tests with npm test.')
  const service = await openOgc(t)
  const places = randomPlaces(150, 9, false)
  await service.publish('places', places)
  const { stdout } = await run(python, ['-c', OWSLIB, `${service.url}/v1/ogc`, service.key])
  const found = JSON.parse(stdout)
  assert.deepEqual(found.collections, ['places'])
  assert.deepEqual(found.features, ['places'])
  assert.equal(found.title, 'Places')
  assert.deepEqual(found.queryables, ['at', 'big', 'day', 'geometry', 'i', 'id', 'name', 'open', 'size'])
  assert.ok(found.conformance > 10)
  assert.match(found.openapi, /^3\.0/)
  assert.equal(found.item, 7)
  assert.equal(found.filtered, 10)
  assert.deepEqual(
    found.read.sort((a: number, b: number) => a - b),
    places.map((_, i) => i),
  )
})
