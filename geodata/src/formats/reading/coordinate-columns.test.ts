import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SourceError } from '../../source-error.ts'
import { openSource, type SourceOptions } from '../index.ts'
import { readAll, written } from '../reading.test-kit.ts'

const POINT = { type: 'Point', coordinates: [13.4, 52.5] }

test('coordinates are found under many names, and the report says which columns became them', async (t) => {
  const pairs = [
    ['Lon.', 'Lat.'],
    ['Longitude (deg)', 'Latitude (deg)'],
    ['Längengrad', 'Breitengrad'],
    ['stop_lon', 'stop_lat'],
    ['долгота', 'широта'],
    ['経度', '緯度'],
    ['Longitud', 'Latitud'],
    ['Longitude', 'Latitude'],
    ['longitudine', 'latitudine'],
    ['lengtegraad', 'breedtegraad'],
    ['długość geograficzna', 'szerokość geograficzna'],
    ['Geographische Länge', 'Geographische Breite'],
    ['geo_laenge', 'geo_breite'],
    ['Länge (WGS84)', 'Breite (WGS84)'],
    ['Coordonnées GPS longitude', 'Coordonnées GPS latitude'],
    ['coordenada_longitud', 'coordenada_latitud'],
    ['خط الطول', 'خط العرض'],
    ['देशांतर', 'अक्षांश'],
  ]
  const files = pairs.map(([x, y]) => `name,${x},${y}\na,13.4,52.5\n`)
  files.push('name,geo_point_2d\na,"52.5, 13.4"\n', 'name,where\na,POINT (13.4 52.5)\n')
  for (const text of files) {
    const { stream, features } = await readAll(openSource(written(t, 'a.csv', text)))
    assert.deepEqual(features[0]!.geometry, POINT, text)
    assert.deepEqual(
      stream.columns.map(({ name }) => name),
      ['name'],
    )
    assert.match(stream.notes.join(), /became the (coordinates|geometry)/, text)
  }
})

test('x and y are places only if the publisher says so, or if GDAL wrote them', async (t) => {
  const anscombe = 'Series,X,Y\nI,10,8.04\nI,8,6.95\nII,13,8.74\n'
  const kept = await readAll(openSource(written(t, 'anscombe.csv', anscombe)))
  assert.equal(kept.stream.spatial, false)
  assert.deepEqual(kept.rows[0], { Series: 'I', X: '10', Y: '8.04' })
  assert.match(kept.stream.notes.join(), /kept as columns\. If they are degrees, publish with --longitude X/)
  const cases: [string, SourceOptions][] = [
    ['name,x,y\na,13.4,52.5\n', { longitude: 'x', latitude: 'y' }],
    ['name,x,y\na,13.4,52.5\n', { crs: 'EPSG:4326' }],
    ['X,Y,name\n13.40000,52.50000,a\n', {}],
    ['name,a,b\na,13.4,52.5\n', { longitude: 'A', latitude: 'B' }],
    ['name,place\na,"52.5,13.4"\n', { geometryColumn: 'place' }],
  ]
  for (const [text, options] of cases) {
    const { features } = await readAll(openSource(written(t, 'a.csv', text), options))
    assert.deepEqual(features[0]!.geometry, POINT, text)
  }
})

test('no geometry is made if the publisher wants a table', async (t) => {
  const csv = await readAll(openSource(written(t, 'a.csv', 'lon,lat\n1,2\n'), { geometry: false }))
  assert.deepEqual([csv.stream.spatial, csv.rows], [false, [{ lon: '1', lat: '2' }]])
  const kml = '<kml><Placemark><name>a</name><Point><coordinates>1,2</coordinates></Point></Placemark></kml>'
  const other = await readAll(openSource(written(t, 'a.kml', kml), { geometry: false }))
  assert.deepEqual([other.stream.spatial, other.features[0]!.geometry, other.stream.crs], [false, null, null])
  assert.match(other.stream.notes.join(), /geometries of 1 rows were left out/)
})

test('a wrong choice of coordinates is refused with a sentence', async (t) => {
  const cases: [string, SourceOptions, RegExp][] = [
    [
      'lon,lat\n52,113\n53,112\n',
      {},
      /seem to be swapped; if so, publish with --longitude lat --latitude lon\.$/,
    ],
    ['a,b\n1,2\n', { longitude: 'a' }, /^--longitude and --latitude are given together/],
    ['a,b\n1,2\n', { longitude: 'a', latitude: 'c' }, /has no column "c"\. It has a, b\.$/],
    ['a,b\n1,2\n', { geometryColumn: 'a' }, /holds neither WKT, WKB, GeoJSON nor points\.$/],
    ['<kml><Placemark/></kml>', { longitude: 'a', latitude: 'b' }, /has a geometry of its own/],
  ]
  for (const [text, options, message] of cases)
    await assert.rejects(
      readAll(openSource(written(t, 'a.csv', text), options)),
      (error: Error) => error instanceof SourceError && message.test(error.message),
      String(message),
    )
})

test('names that mean length and width too are coordinates if their values look like degrees', async (t) => {
  const pairs = ['Länge,Breite', 'laenge,breite', 'lengte,breedte', 'délka,šířka', 'længde,bredde']
  for (const names of pairs) {
    const degrees = await readAll(openSource(written(t, 'a.csv', `${names}\n13.40495,52.52001\n`)))
    assert.deepEqual(
      degrees.features[0]!.geometry,
      { type: 'Point', coordinates: [13.40495, 52.52001] },
      names,
    )
    const short = await readAll(openSource(written(t, 'a.csv', `${names}\n13.4,52.5\n`)))
    const [x, y] = names.split(',')
    assert.equal(short.stream.spatial, false)
    assert.match(short.stream.notes.join(), new RegExp(`publish with --longitude ${x} --latitude ${y}\\.$`))
    const sizes = await readAll(openSource(written(t, 'a.csv', `${names}\n340,12\n`)))
    assert.deepEqual([sizes.stream.spatial, sizes.stream.notes], [false, []])
  }
})
