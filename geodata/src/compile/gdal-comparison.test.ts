import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { needs } from '../../../scripts/test-run/needs.ts'
import type { Geometry, Position } from '../feature.ts'
import type { Manifest } from '../snapshot/manifest.ts'
import { realCities } from '../testing/real-data.ts'
import { compileSnapshot } from './compile.ts'

needs('gdal')

const run = promisify(execFile)
const scratch = await mkdtemp(join(tmpdir(), 'gdal-comparison-test-'))
after(() => rm(scratch, { recursive: true, force: true }))

/** The packages belong to the demo, which must not be a dependency here: their files are read by path. */
const MODULES = join(import.meta.dirname, '..', '..', '..', 'node_modules')
const load = (path: string) => createRequire(import.meta.url)(join(MODULES, path))

interface Row {
  id?: number | string
  geometry: Geometry | null
  properties: { [name: string]: unknown }
}

/** The same file compiled by us and read by GDAL, with features in source order. */
async function bothReadings(name: string, text: string) {
  const path = join(scratch, `${name}.geojson`)
  await writeFile(path, text)
  const folder = join(scratch, name)
  const { manifest } = await compileSnapshot({ path, folder })
  const ours: Row[] = JSON.parse(`[${await readFile(join(folder, 'features.pack'), 'utf8')}]`)
  const bySource = new Map(ours.map((row) => [row.properties['source_row'], row]))
  const sequence = join(scratch, `${name}.geojsonl`)
  await run('ogr2ogr', ['-f', 'GeoJSONSeq', '-lco', 'COORDINATE_PRECISION=15', sequence, path])
  const gdal: Row[] = (await readFile(sequence, 'utf8'))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
  assert.equal(ours.length, gdal.length)
  return {
    manifest,
    pairs: gdal.map((row) => ({ gdal: row, ours: bySource.get(row.properties['source_row'])! })),
  }
}

async function assertExtent(name: string, manifest: Manifest): Promise<void> {
  const { stdout } = await run('ogrinfo', ['-ro', '-so', '-al', join(scratch, `${name}.geojson`)])
  const extent = /Extent: \(([-\d.]+), ([-\d.]+)\) - \(([-\d.]+), ([-\d.]+)\)/.exec(stdout)!
  for (const [i, number] of extent.slice(1).entries())
    assert.ok(Math.abs(Number(number) - manifest.bbox![i]!) < 1e-5, `${extent[0]} ${manifest.bbox}`)
  assert.equal(Number(/Feature Count: (\d+)/.exec(stdout)![1]), manifest.rows)
}

test('places of the world are read as GDAL reads them', async () => {
  const cities = realCities(10)
  const features = cities.map(({ lat, lng, ...rest }, i) => ({
    type: 'Feature',
    properties: { source_row: i, ...rest, half: i / 2, none: null },
    geometry: { type: 'Point', coordinates: [Number(lng), Number(lat)] },
  }))
  const { manifest, pairs } = await bothReadings(
    'cities',
    JSON.stringify({ type: 'FeatureCollection', features }),
  )
  assert.deepEqual(manifest.geometryTypes, ['Point'])
  await assertExtent('cities', manifest)
  for (const { gdal, ours } of pairs) {
    assert.deepEqual(ours.geometry, gdal.geometry)
    assert.deepEqual(ours.properties, gdal.properties)
  }
})

test('country outlines are read as GDAL reads them, with their rings wound by the standard', async () => {
  const atlas = load('world-atlas/countries-50m.json')
  const { feature } = load('topojson-client') as {
    feature(topology: object, object: object): { features: Row[] }
  }
  const features = feature(atlas, atlas.objects.countries).features.map(
    ({ id, geometry, properties }, i) => ({
      type: 'Feature',
      properties: { ...properties, code: id ?? null, source_row: i },
      geometry,
    }),
  )
  const { manifest, pairs } = await bothReadings(
    'countries',
    JSON.stringify({ type: 'FeatureCollection', features }),
  )
  assert.deepEqual(manifest.geometryTypes, ['Polygon', 'MultiPolygon'])
  await assertExtent('countries', manifest)
  for (const { gdal, ours } of pairs) {
    assert.deepEqual(ours.properties, gdal.properties)
    const [found, expected] = [ringsOf(ours.geometry!), ringsOf(gdal.geometry!)]
    assert.equal(found.length, expected.length)
    for (const [i, ring] of found.entries()) {
      assert.ok(isSame(ring, expected[i]!) || isSame(ring, expected[i]!.toReversed()))
    }
  }
})

function ringsOf(geometry: Geometry): Position[][] {
  return geometry.type === 'Polygon'
    ? geometry.coordinates
    : (geometry as { coordinates: Position[][][] }).coordinates.flat()
}

/** Compares with a tolerance, because GDAL writes at most 15 decimals. */
function isSame(a: Position[], b: Position[]): boolean {
  const isNear = (one: number, other: number) => Math.abs(one - other) < 1e-13
  return a.length === b.length && a.every(([x, y], i) => isNear(x!, b[i]![0]!) && isNear(y!, b[i]![1]!))
}
