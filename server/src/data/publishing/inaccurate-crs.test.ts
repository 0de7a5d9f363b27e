import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { operator } from '../../base/events/events.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { openTestServer, temporaryFolder } from '../../testing/test-server.ts'

function point(coordinates: number[]): string {
  return JSON.stringify({ type: 'Feature', properties: { a: 1 }, geometry: { type: 'Point', coordinates } })
}

test('an inaccurate CRS is refused over HTTP unless allowInaccurateCrs is true', async (t) => {
  const service = await openTestServer(t)
  const publisher = { name: 'Publisher', permissions: ['read', 'write'] }
  const key = (await service.parts.keys.createPlatform(operator, publisher)).secret
  const publish = async (options: string) => {
    const address = `${service.url}/v1/dataset/places?filename=places.geojson&crs=EPSG:4610${options}`
    const response = await fetch(address, {
      method: 'PUT',
      body: point([113, 35]),
      headers: { 'x-api-key': key },
    })
    const { id } = (await response.json()) as { id: string }
    for (;;) {
      const { body } = await service.request('GET', `/v1/jobs/${id}`, { key })
      if (body.state === 'done' || body.state === 'failed') return body
      await sleep(20)
    }
  }
  const refused = await publish('')
  assert.equal(refused.state, 'failed')
  assert.match(refused.problem.detail, /No transformation from the datum of EPSG:4610 to WGS84 is known/)
  const accepted = await publish('&allowInaccurateCrs=true')
  assert.equal(accepted.state, 'done', JSON.stringify(accepted))
  assert.equal(accepted.report.crs, 'EPSG:4610')
  assert.equal(accepted.report.crsTransformation.accuracy, null)
})

test('the command line tells the transformation and its accuracy, and takes --allow-inaccurate-crs', async (t) => {
  const service = await openTestServer(t)
  const file = join(temporaryFolder(t), 'places.geojson')
  const publish = (...options: string[]) =>
    runCommand(service.config, 'publish', file, '--table', 'places', ...options)
  writeFileSync(file, point([150000, 170000]))
  const belgian = await publish('--crs', 'EPSG:31370')
  assert.equal(belgian.code, 0, belgian.stderr)
  assert.match(belgian.stdout, /CRS +EPSG:31370, to WGS84 by .*to WGS 84 \(\d\) \(accurate to [\d.]+ m\)/)
  writeFileSync(file, point([10, 34]))
  const tunisian = await publish('--crs', 'EPSG:4230')
  assert.equal(tunisian.code, 1)
  assert.match(tunisian.stderr, /within 44 m only, and 20 m is the limit.*--allow-inaccurate-crs/)
  assert.equal((await publish('--crs', 'EPSG:4230', '--allow-inaccurate-crs')).code, 0)
})

test('a dataset in a CRS that only ESRI numbers is offered in it under its authority', async (t) => {
  const service = await openTestServer(t)
  const file = join(temporaryFolder(t), 'places.geojson')
  writeFileSync(file, point([900000, 5000000]))
  const published = await runCommand(
    service.config,
    'publish',
    file,
    '--table',
    'places',
    '--crs',
    'ESRI:54030',
  )
  assert.equal(published.code, 0, published.stderr)
  const publisher = { name: 'Reader', permissions: ['read'] }
  const key = (await service.parts.keys.createPlatform(operator, publisher)).secret
  const collection = (await service.request('GET', '/v1/ogc/collections/places', { key })).body
  const uri = 'http://www.opengis.net/def/crs/ESRI/0/54030'
  assert.ok(collection.crs.includes(uri), JSON.stringify(collection.crs))
  const items = await service.request(
    'GET',
    `/v1/ogc/collections/places/items?crs=${encodeURIComponent(uri)}`,
    { key },
  )
  const [x, y] = items.body.features[0].geometry.coordinates
  assert.ok(Math.hypot(x - 900000, y - 5000000) < 0.01, `${x} ${y}`)
})
