import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ExportFormat } from '@wayleave/contract/export-formats'
import { geojsonParts } from './geojson.ts'
import { buildExport, EXPORT_ENTRIES } from './index.ts'
import { compileFeatures, type FixtureFeature, temporaryFolder } from './testing/compiled-fixture.ts'
import { NASTY_FEATURES } from './testing/nasty-features.ts'

test('csv tells a null from an empty text, quotes by RFC 4180 and leaves formulas alone', async (t) => {
  const csv = await exported(t, 'csv', [
    row({ a: 'plain', b: 1, c: true }),
    row({ a: '', b: null, c: null }),
    row({ a: 'x,"y"\r\nz', b: -2, c: false }),
    row({ a: '=1+1', b: 12345678901234567890n, c: null }),
  ])
  assert.equal(
    csv,
    'a,b,c\r\nplain,1,true\r\n"",,\r\n"x,""y""\r\nz",-2,false\r\n=1+1,12345678901234567890,\r\n',
  )
})

test('csv of points ends in longitude and latitude, of other shapes in WKT too', async (t) => {
  const point: FixtureFeature = {
    geometry: { type: 'Point', coordinates: [1.5, -2, 7] },
    properties: { a: 'x' },
  }
  const nowhere: FixtureFeature = { geometry: null, properties: { a: 'y' } }
  assert.equal(await exported(t, 'csv', [point, nowhere]), 'a,longitude,latitude\r\nx,1.5,-2\r\ny,,\r\n')
  const line: FixtureFeature = {
    geometry: {
      type: 'LineString',
      coordinates: [
        [0, 0],
        [2, 0],
        [4, 0],
      ],
    },
    properties: { a: 'z' },
  }
  assert.equal(
    await exported(t, 'csv', [line, nowhere]),
    'a,longitude,latitude,geometry\r\nz,2,0,"LINESTRING (0 0, 2 0, 4 0)"\r\ny,,,\r\n',
  )
})

test('json rows write nulls, and integers of any size as numbers', async (t) => {
  const json = await exported(t, 'json', [
    {
      geometry: { type: 'Point', coordinates: [1, 2] },
      properties: { n: 123456789012345678901234567890n, t: null },
    },
    { geometry: null, properties: { n: null, t: '"' } },
  ])
  assert.equal(
    json,
    '[\n{"n":123456789012345678901234567890,"t":null,"longitude":1,"latitude":2},\n' +
      '{"n":null,"t":"\\"","longitude":null,"latitude":null}\n]\n',
  )
})

test('a dataset without rows or without columns is a whole file in every format', async (t) => {
  const bare: FixtureFeature[] = [{ geometry: { type: 'Point', coordinates: [1, 2] }, properties: {} }]
  for (const { format } of EXPORT_ENTRIES.filter(({ writer }) => writer)) {
    await exported(t, format, bare)
    await exported(t, format, [])
  }
  assert.deepEqual(JSON.parse(await exported(t, 'json', bare)), [{ longitude: 1, latitude: 2 }])
  assert.deepEqual(JSON.parse(await exported(t, 'json', [])), [])
  assert.equal(await exported(t, 'csv', bare), 'longitude,latitude\r\n1,2\r\n')
})

test('the GeoJSON export is the head, the pack and the tail', async (t) => {
  const root = await temporaryFolder((remove) => t.after(remove))
  const { folder, manifest } = await compileFeatures(join(root, 'snapshot'), NASTY_FEATURES)
  await buildExport(folder, 'geojson', join(root, 'out'), { table: 'nasty' })
  const { head, tail } = geojsonParts(manifest)
  const whole = await readFile(join(root, 'out'))
  assert.ok(whole.equals(Buffer.concat([head, await readFile(join(folder, 'features.pack')), tail])))
  const { type, bbox, features } = JSON.parse(whole.toString())
  assert.equal(type, 'FeatureCollection')
  assert.equal(features.length, NASTY_FEATURES.length)
  const [west, south, east, north] = manifest.bbox!
  assert.ok(bbox[0] <= west && bbox[1] <= south && bbox[2] >= east && bbox[3] >= north)
})

function row(properties: FixtureFeature['properties']): FixtureFeature {
  return { properties }
}

interface Test {
  after(remove: () => Promise<void>): void
}

async function exported(t: Test, format: ExportFormat, features: FixtureFeature[]): Promise<string> {
  const root = await temporaryFolder((remove) => t.after(remove))
  const { folder } = await compileFeatures(join(root, 'snapshot'), features)
  await buildExport(folder, format, join(root, 'out'), { table: 'rows' })
  return readFile(join(root, 'out'), 'utf8')
}
