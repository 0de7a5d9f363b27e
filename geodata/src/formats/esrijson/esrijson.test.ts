import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { openSource } from '../index.ts'
import { assertSameGeometries, gdalFeatures, readAll, written } from '../reading.test-kit.ts'

const geometries = [
  { paths: [[[1, 2, 3], [4, 5, 6]]] }, // biome-ignore format: one geometry
  { rings: [[[0, 0, 1], [0, 9, 1], [9, 9, 1], [0, 0, 1]]] }, // biome-ignore format: one geometry
  { points: [[1, 2, 3]] },
]

function path(t: TestContext, head: object, geometry: object): string {
  const features = [{ attributes: { a: 1 }, geometry }]
  const geometryType = 'paths' in geometry ? 'Polyline' : 'rings' in geometry ? 'Polygon' : 'Multipoint'
  const set = {
    geometryType: `esriGeometry${geometryType}`,
    spatialReference: { wkid: 4326 },
    fields: [{ name: 'a', type: 'esriFieldTypeInteger' }],
  }
  return written(t, 'a.json', JSON.stringify({ ...set, ...head, features }))
}

const heights = (geometry: unknown) =>
  JSON.stringify(geometry).match(/\[[\d.]+,[\d.]+,[\d.]+\]/g)?.length ?? 0

test('heights of Esri JSON are kept, and the report says if the file does not name them', {
  skip: lacks('gdal'),
}, async (t) => {
  for (const geometry of geometries) {
    const stated = await readAll(openSource(path(t, { hasZ: true }, geometry)))
    assert.ok(heights(stated.features[0]!.geometry) > 0)
    assert.deepEqual(stated.stream.notes, [])
    const inGeometry = await readAll(openSource(path(t, {}, { hasZ: true, ...geometry })))
    assert.deepEqual(inGeometry.features, stated.features)
    assert.deepEqual(inGeometry.stream.notes, [])
    const file = path(t, {}, geometry)
    const unstated = await readAll(openSource(file))
    assert.deepEqual(unstated.features, stated.features)
    assertSameGeometries(unstated.features, gdalFeatures(file))
    assert.match(
      unstated.stream.notes.join(),
      /^The positions of 1 feature have a third number.*as the height\.$/,
    )
  }
})

test('measures of Esri JSON are left out, and the report says so', async (t) => {
  for (const geometry of geometries) {
    const { features, stream } = await readAll(openSource(path(t, { hasM: true }, geometry)))
    assert.equal(heights(features[0]!.geometry), 0)
    assert.match(stream.notes.join(), /^The measures \("hasM"\) in the positions of 1 feature were left out/)
  }
})
