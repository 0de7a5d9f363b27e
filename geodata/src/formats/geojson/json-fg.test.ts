import assert from 'node:assert/strict'
import { test } from 'node:test'
import { collection, compileText } from '../../compile/compile-fixture.ts'

const fg = (members: object) => ({ type: 'Feature', geometry: null, properties: {}, ...members })
const utm = 'http://www.opengis.net/def/crs/EPSG/0/25832'

test('a place is read in its own CRS, with the order of axes of the authority', async () => {
  const place = { type: 'Point', coordinates: [500000, 5400000] }
  const plane = await compileText(
    `{"type":"FeatureCollection","coordRefSys":"${utm}","features":[${JSON.stringify(fg({ place }))}]}`,
  )
  const [x, y] = (plane.features[0]!.geometry as { coordinates: number[] }).coordinates
  assert.equal(plane.report.crs, 'EPSG:25832')
  assert.ok(Math.abs(x! - 9) < 1e-8 && y! > 48.7 && y! < 48.8, `${x} ${y}`)
  const square = [[50, 9], [50, 10], [51, 10], [50, 9]] // biome-ignore format: one ring
  const degrees = await compileText(
    collection([fg({ place: { type: 'Polygon', coordinates: [square] }, coordRefSys: '[EPSG:4326]' })]),
  )
  assert.deepEqual(degrees.manifest.bbox, [9, 50, 10, 51])
})

test('a place in a compound CRS has the order of axes of its horizontal part', async () => {
  const place = { type: 'Point', coordinates: [-41, 174, 100] }
  const epsg = 'http://www.opengis.net/def/crs/EPSG/0'
  for (const coordRefSys of [
    `${epsg}/9528`,
    [`${epsg}/4167`, `${epsg}/7839`],
    `http://www.opengis.net/def/crs-compound?1=${epsg}/4167&2=${epsg}/7839`,
  ]) {
    const { manifest } = await compileText(collection([fg({ place, coordRefSys })]))
    assert.deepEqual(manifest.bbox, [174, -41, 174, -41], `${coordRefSys}`)
  }
})

test('a geometry is preferred to a place, and the two are not mixed', async () => {
  const geometry = { type: 'Point', coordinates: [9, 50] }
  const place = { type: 'Point', coordinates: [500000, 5400000] }
  const both = await compileText(collection([fg({ geometry, place, coordRefSys: utm })]))
  assert.deepEqual(both.features[0]!.geometry, geometry)
  await assert.rejects(
    compileText(collection([fg({ geometry }), fg({ place, coordRefSys: utm })])),
    /Row 2: the feature has a "place" and no "geometry", unlike the first feature/,
  )
  await assert.rejects(
    compileText(collection([fg({ place, coordRefSys: utm }), fg({ geometry })])),
    /Row 2: the feature has a "geometry" and no "place", unlike the first feature/,
  )
})

test('curves and polyhedra of places become lines and polygons', async () => {
  const arc = { type: 'CircularString', coordinates: [[0, 0], [1, 1], [2, 0]] } // biome-ignore format: one arc
  const face = [[0, 0, 0], [0, 1, 0], [1, 1, 1], [0, 0, 0]] // biome-ignore format: one face
  const line = { type: 'LineString', coordinates: [[2, 0], [0, 0]] } // biome-ignore format: one line
  const { features, report } = await compileText(
    collection([
      fg({
        place: { type: 'CurvePolygon', geometries: [{ type: 'CompoundCurve', geometries: [arc, line] }] },
      }),
      fg({ place: { type: 'Polyhedron', coordinates: [[[face], [face]]] } }),
    ]),
  )
  const types = features.map(({ geometry }) => geometry?.type).sort()
  assert.deepEqual(types, ['MultiPolygon', 'Polygon'])
  assert.match(report.notes.join(), /1 feature has curves.*1 feature has surfaces/s)
  await assert.rejects(
    compileText(collection([fg({ place: { type: 'Prism', base: {} } })])),
    /Row 1: the geometry has the unknown type "Prism"/,
  )
  await assert.rejects(
    compileText(collection([fg({ place: { type: 'CurvePolygon' } })])),
    /Row 1: the place has no list of coordinates or geometries/,
  )
})

test('times become columns beside properties of the same name', async () => {
  const { features, manifest } = await compileText(
    collection([
      fg({ time: { date: '2020-02-29' }, properties: { time: 'noon' } }),
      fg({ time: { interval: ['2020-01-01', '..'] } }),
    ]),
  )
  assert.deepEqual(
    features.map(({ properties }) => properties),
    [
      { time: 'noon', time_1: '2020-02-29', time_start: null },
      { time: null, time_1: null, time_start: '2020-01-01' },
    ],
  )
  assert.deepEqual(
    manifest.columns.map(({ type }) => type),
    ['text', 'date', 'date'],
  )
})

test('a file that is one geometry of JSON-FG is one feature, in the CRS that it names', async () => {
  const arc = { type: 'CircularString', coordinates: [[0, 0], [1, 1], [2, 0]] } // biome-ignore format: one arc
  const line = { type: 'LineString', coordinates: [[2, 0], [0, 0]] } // biome-ignore format: one line
  const closed = { type: 'CompoundCurve', geometries: [arc, line] }
  const cases: [geometry: object, type: string][] = [
    [arc, 'LineString'],
    [{ type: 'CompoundCurve', geometries: [line, { ...arc, coordinates: [[0, 0], [1, -1], [2, 0]] }] }, 'LineString'], // biome-ignore format: one curve
    [{ type: 'CurvePolygon', geometries: [closed] }, 'Polygon'],
    [{ type: 'MultiCurve', geometries: [arc, line] }, 'MultiLineString'],
    [{ type: 'MultiSurface', geometries: [{ type: 'CurvePolygon', geometries: [closed] }] }, 'MultiPolygon'],
  ]
  for (const [geometry, type] of cases) {
    const { features, manifest, report } = await compileText(JSON.stringify(geometry))
    assert.deepEqual([features.length, features[0]!.geometry?.type], [1, type], JSON.stringify(geometry))
    assert.deepEqual(manifest.columns, [])
    assert.match(report.notes.join(), /1 feature has curves/)
  }
  const named = await compileText(
    JSON.stringify({ type: 'Point', coordRefSys: '[EPSG:4326]', coordinates: [50, 9] }),
  )
  assert.deepEqual(named.manifest.bbox, [9, 50, 9, 50])
  await assert.rejects(
    compileText('{"type":"MultiPrism","prisms":[{"type":"Prism","base":{}}]}'),
    /Row 1: a Feature is expected, but "type" is "MultiPrism"/,
  )
})
