import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { needs } from '../../../scripts/test-run/needs.ts'
import { point } from '../ogc/testing/open-ogc.ts'
import { openAccount } from '../testing/account.ts'
import { publishText } from '../testing/publish.ts'
import { openTestServer } from '../testing/test-server.ts'

needs('gdal', 'python')

const run = promisify(execFile)

/** Reads with the documented settings: GDAL for one source, and pyogrio for all of them. */
const PYOGRIO = `
import json, sys
import pyogrio
import geopandas
url = sys.argv[1]
items = f"{url}/v1/ogc/collections/places/items"
oapif = pyogrio.read_info(f"OAPIF:{url}/v1/ogc", layer="places")
page = pyogrio.read_dataframe(f"{items}?limit=10000&bbox=0,0,60,60")
frame = geopandas.read_file(f"OAPIF:{url}/v1/ogc", layer="places")
in_place = {}
for name, source in json.loads(sys.argv[2]).items():
    in_place[name] = len(pyogrio.read_dataframe(source))
geo = geopandas.read_file(f"/vsicurl_streaming/{items}?limit=10000")
print(json.dumps({
    "types": dict(zip(oapif["fields"].tolist(), [str(one) for one in oapif["dtypes"]])),
    "page": len(page), "frame": len(frame), "geo": len(geo), "late": float(frame["late"].sum()),
    "big": sorted(int(value) for value in frame["big"])[-1], "in_place": in_place,
    "gdal": list(pyogrio.__gdal_version__),
}))
`

test('GDAL and pyogrio read collections and downloads in place, with types, and pay once', async (t) => {
  const python = process.env['WAYLEAVE_TEST_PYTHON']
  if (!python) throw new Error('WAYLEAVE_TEST_PYTHON is not set: run the tests with npm test.')
  const service = await openTestServer(t)
  // All at one place, so that they are returned in this order: `late` is null in the first features.
  const features = Array.from({ length: 300 }, (_, i) =>
    point(5, 52, {
      late: i < 250 ? null : i,
      big: 3_000_000_000 + i,
      day: i < 250 ? null : '2020-01-01',
      at: i < 250 ? null : '2020-01-01T00:00:00Z',
      share: i < 250 ? null : 0.5,
      name: i < 250 ? null : 'x',
      // Makes a page larger than what GDAL reads at once.
      long: 'x'.repeat(1000),
    }),
  )
  const text = JSON.stringify({ type: 'FeatureCollection', features })
  await publishText(service, 'places', 'places.geojson', text, { description: { credits: 2 } })
  const addOns = ['API_ACCESS', 'GIS_ACCESS'] as const
  const account = await openAccount(service, 'ada@example.org', { addOns: [...addOns], credits: 100 })
  const env = {
    ...process.env,
    GDAL_HTTP_USERPWD: `${account.key}:`,
    GDAL_DISABLE_READDIR_ON_OPEN: 'EMPTY_DIR',
    // A cache of an earlier request would hide what the server does.
    VSI_CACHE: 'FALSE',
  }
  const files = `${service.url}/v1/dataset/places/files`
  const sources: Record<string, string> = {
    csv: `CSV:/vsicurl/${files}/csv`,
    'csv by name': `/vsicurl/${files}/csv/places.csv`,
    shp: `/vsizip/{/vsicurl/${files}/shp}`,
    'shp by name': `/vsizip//vsicurl/${files}/shp/places.shp.zip`,
    gpkg: `/vsicurl/${files}/gpkg`,
    fgb: `/vsicurl/${files}/fgb`,
    geojson: `/vsicurl/${files}/geojson`,
  }
  for (const [name, source] of Object.entries(sources)) {
    const { stdout } = await run('ogrinfo', ['-ro', '-so', '-al', source], { env })
    assert.match(stdout, /Feature Count: 300/, `${name} by ogrinfo`)
  }
  const collection = await run('ogrinfo', ['-ro', '-so', `OAPIF:${service.url}/v1/ogc`, 'places'], { env })
  assert.match(collection.stdout, /Feature Count: 300/)
  const { stdout } = await run(python, ['-c', PYOGRIO, service.url, JSON.stringify(sources)], { env })
  const found = JSON.parse(stdout)
  assert.deepEqual([found.page, found.frame, found.geo], [300, 300, 300])
  assert.match(found.types.late, /^int/, 'an integer column stays one')
  assert.match(found.types.share, /^float/)
  assert.match(found.types.day, /^datetime/)
  assert.match(found.types.at, /^datetime/)
  assert.equal(found.types.name, 'object')
  assert.equal(
    found.late,
    features.reduce((sum, _, i) => sum + (i < 250 ? 0 : i), 0),
  )
  assert.equal(found.big, 3_000_000_299, 'integers beyond 32 bits are not cut off')
  assert.ok(found.gdal[1] >= 10, 'this is a current GDAL')
  for (const name of Object.keys(sources)) assert.equal(found.in_place[name], 300, `${name} by pyogrio`)

  // Parts of a page, which GDAL reads, are those of the page.
  const pageUrl = `${service.url}/v1/ogc/collections/places/items?limit=300`
  const part = async (range: string) => {
    const response = await fetch(pageUrl, { headers: { 'x-api-key': account.key, range } })
    return {
      status: response.status,
      range: response.headers.get('content-range'),
      text: await response.text(),
    }
  }
  const untimed = (page: string) => page.replace(/"timeStamp":"[^"]*"/, '')
  const whole = await (await fetch(pageUrl, { headers: { 'x-api-key': account.key } })).text()
  const [first, rest] = [await part('bytes=0-99999'), await part('bytes=100000-')]
  assert.deepEqual([first.status, rest.status], [206, 206])
  assert.equal(first.range, `bytes 0-99999/${whole.length}`)
  assert.equal(untimed(first.text + rest.text), untimed(whole))
  // GDAL learns the length by HEAD, possibly with a header that accepts compression, and then asks for parts.
  const headers = { 'x-api-key': account.key, 'accept-encoding': 'gzip' }
  const pageHead = await fetch(pageUrl, { method: 'HEAD', headers })
  assert.equal(pageHead.headers.get('content-length'), String(whole.length))
  assert.equal(pageHead.headers.get('content-encoding'), null)
  const beyond = await part(`bytes=${whole.length}-`)
  assert.deepEqual([beyond.status, beyond.range], [416, `bytes */${whole.length}`])

  // GeoParquet as a file: this GDAL has no driver for it, so its bytes are read through /vsicurl/ by name.
  const parquet = `${files}/geoparquet/places.parquet`
  const head = await fetch(parquet, { method: 'HEAD', headers: { 'x-api-key': account.key } })
  const bytes = Number(head.headers.get('content-length'))
  const range = { 'x-api-key': account.key, range: `bytes=${bytes - 4}-` }
  assert.equal(await (await fetch(parquet, { headers: range })).text(), 'PAR1')
  const { body } = await service.request('GET', '/v1/organization/me', { token: account.token })
  // csv, shp, gpkg, fgb, geojson and geoparquet, each once.
  assert.equal(body.credits.balance, 100 - 6 * 2)
  for (const path of ['csv/other.csv', 'csv/places.json', 'none/places.csv']) {
    const missing = await fetch(`${files}/${path}`, { headers: { 'x-api-key': account.key } })
    assert.equal(missing.status, 404, path)
  }
})
