import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { feature as topojsonFeature } from 'topojson-client'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { SourceError } from '../../source-error.ts'
import { realCities } from '../../testing/real-data.ts'
import { fileSource } from '../reading/byte-source.ts'
import { DEFAULT_LIMITS } from '../reading/source-limits.ts'
import {
  assertSameGeometries,
  gdalFeatures,
  inPieces,
  ogr2ogr,
  readAll,
  scratch,
} from '../reading.test-kit.ts'
import { openKml } from './kml.ts'

const require = createRequire(import.meta.url)
const kml = (inner: string) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<kml xmlns="http://www.opengis.net/kml/2.2" xmlns:gx="http://www.google.com/kml/ext/2.2"><Document>${inner}</Document></kml>`
const read = (content: string | Uint8Array, options = {}, pieceBytes?: number) =>
  readAll(openKml(inPieces(content, 'a.kml', pieceBytes), options))
const refusal = (content: string | Uint8Array, message: RegExp, options = {}) =>
  assert.rejects(
    read(content, options),
    (error: Error) => error instanceof SourceError && message.test(error.message),
    String(message),
  )

test('KML that GDAL writes of countries and places says the same as GDAL reads from it', {
  skip: lacks('gdal'),
}, async (t) => {
  const folder = scratch(t)
  const topology = JSON.parse(readFileSync(require.resolve('world-atlas/countries-110m.json'), 'utf8'))
  const countries = topojsonFeature(topology, topology.objects.countries)
  const places = {
    type: 'FeatureCollection',
    features: realCities(500).map(({ lng, lat, name, country }) => ({
      type: 'Feature',
      properties: { name, country },
      geometry: { type: 'Point', coordinates: [Number(lng), Number(lat)] },
    })),
  }
  for (const [name, collection] of Object.entries({ countries, places })) {
    const source = join(folder, `${name}.geojson`)
    writeFileSync(source, JSON.stringify(collection))
    for (const driver of ['KML', 'LIBKML']) {
      const path = join(folder, `${name}-${driver}.kml`)
      ogr2ogr('-f', driver, path, source, '-dsco', 'NameField=name')
      const { features, rows, stream, unreadable } = await readAll(openKml(await fileSource(path, 'a.kml')))
      const theirs = gdalFeatures(path)
      assert.deepEqual(unreadable, [])
      assertSameGeometries(features, theirs)
      assert.deepEqual(
        rows.map((row) => row['name']),
        theirs.map(({ properties }) => properties['Name'] ?? properties['name']),
      )
      if (name === 'places')
        assert.deepEqual(
          rows.map((row) => row['country']),
          theirs.map(({ properties }) => properties['country']),
        )
      assert.deepEqual([stream.crs, stream.bytesRead], ['OGC:CRS84', stream.totalBytes])
    }
  }
})

test('every geometry is read: tracks, rings, holes, heights, multiples and mixtures', async () => {
  const point = '<Point><coordinates>1,2,3</coordinates></Point>'
  const line = '<LineString><coordinates> 1,2\n3,4 </coordinates></LineString>'
  const ring = (text: string) => `<LinearRing><coordinates>${text}</coordinates></LinearRing>`
  const outer = ring('0,0 9,0 9,9 0,0')
  const hole = ring('2,1 3,1 3,2 2,1')
  const polygon = `<Polygon><outerBoundaryIs>${outer}</outerBoundaryIs><innerBoundaryIs>${hole}</innerBoundaryIs></Polygon>`
  const track =
    '<gx:Track><when>2020-01-01</when><gx:coord>1 2 3</gx:coord><gx:coord>4 5 6</gx:coord></gx:Track>'
  const cases: [string, object | null][] = [
    [point, { type: 'Point', coordinates: [1, 2, 3] }],
    [
      line,
      {
        type: 'LineString',
        coordinates: [
          [1, 2],
          [3, 4],
        ],
      },
    ],
    [
      '<LineString><coordinates>1, 2, 3  4, 5, 6</coordinates></LineString>',
      {
        type: 'LineString',
        coordinates: [
          [1, 2, 3],
          [4, 5, 6],
        ],
      },
    ],
    [
      ring('1,2 3,4 5,6 1,2'),
      {
        type: 'LineString',
        coordinates: [
          [1, 2],
          [3, 4],
          [5, 6],
          [1, 2],
        ],
      },
    ],
    [
      polygon,
      {
        type: 'Polygon',
        coordinates: [
          [
            [0, 0],
            [9, 0],
            [9, 9],
            [0, 0],
          ],
          [
            [2, 1],
            [3, 1],
            [3, 2],
            [2, 1],
          ],
        ],
      },
    ],
    [
      track,
      {
        type: 'LineString',
        coordinates: [
          [1, 2, 3],
          [4, 5, 6],
        ],
      },
    ],
    [
      `<gx:MultiTrack>${track}${track}</gx:MultiTrack>`,
      {
        type: 'MultiLineString',
        coordinates: [
          [
            [1, 2, 3],
            [4, 5, 6],
          ],
          [
            [1, 2, 3],
            [4, 5, 6],
          ],
        ],
      },
    ],
    [
      `<MultiGeometry>${point}${point}</MultiGeometry>`,
      {
        type: 'MultiPoint',
        coordinates: [
          [1, 2, 3],
          [1, 2, 3],
        ],
      },
    ],
    [
      `<MultiGeometry>${polygon}</MultiGeometry>`,
      {
        type: 'MultiPolygon',
        coordinates: [
          [
            [
              [0, 0],
              [9, 0],
              [9, 9],
              [0, 0],
            ],
            [
              [2, 1],
              [3, 1],
              [3, 2],
              [2, 1],
            ],
          ],
        ],
      },
    ],
    [
      `<MultiGeometry>${point}<MultiGeometry>${line}</MultiGeometry></MultiGeometry>`,
      {
        type: 'GeometryCollection',
        geometries: [
          { type: 'Point', coordinates: [1, 2, 3] },
          {
            type: 'MultiLineString',
            coordinates: [
              [
                [1, 2],
                [3, 4],
              ],
            ],
          },
        ],
      },
    ],
    ['<MultiGeometry/>', { type: 'GeometryCollection', geometries: [] }],
    ['<Point><coordinates/></Point>', { type: 'Point', coordinates: [] }],
    ['', null],
  ]
  const { features } = await read(
    kml(cases.map(([inner]) => `<Placemark>${inner}</Placemark>`).join('')),
    {},
    13,
  )
  assert.deepEqual(
    features.map(({ geometry }) => geometry),
    cases.map(([, geometry]) => geometry),
  )
})

test('names, times, data and schema data of placemarks at any depth become columns', async () => {
  const { stream, rows, features } = await read(
    kml(`
    <Schema id="s"><SimpleField name="code" type="string"/><SimpleField name="size" type="int"/><SimpleField name="open" type="bool"/></Schema>
    <Folder><Folder><Placemark id="p1"><name>A &amp; B&nbsp;&#233;</name><description><![CDATA[<b>bold</b>]]></description>
      <TimeStamp><when>2020-02-29</when></TimeStamp>
      <ExtendedData><Data name="x"><displayName>X</displayName><value>1</value></Data>
        <SchemaData schemaUrl="#s"><SimpleData name="code">007</SimpleData><SimpleData name="size">5</SimpleData><SimpleData name="open">1</SimpleData></SchemaData>
        <z:own xmlns:z="urn:z">own</z:own></ExtendedData></Placemark></Folder></Folder>
    <Placemark><TimeSpan><begin>2019</begin><end>2020-01-01T00:00:00Z</end></TimeSpan></Placemark>`),
  )
  assert.deepEqual(rows[0], {
    name: 'A & B\u00a0é',
    description: '<b>bold</b>',
    timestamp: '2020-02-29',
    x: '1',
    code: '007',
    size: '5',
    open: 'true',
    own: 'own',
    begin: null,
    end: null,
  })
  assert.deepEqual([rows[1]!['begin'], rows[1]!['end']], ['2019', '2020-01-01T00:00:00Z'])
  const types = Object.fromEntries(stream.columns.map(({ name, type }) => [name, type]))
  assert.deepEqual(
    [types['name'], types['code'], types['size'], types['x']],
    ['text', 'text', 'infer-text', 'infer-text'],
  )
  assert.deepEqual(
    features.map(({ id }) => id),
    ['p1', null],
  )
})

test('markup in texts is kept, whether or not it is in CDATA', async () => {
  const { rows } = await read(
    kml(`<Placemark><description>Open <b class="x">1 &lt; 2</b><br/>daily &amp; <i><u>nightly</u></i>.</description>
      <ExtendedData><Data name="note"><value>a <b>c</b></value></Data></ExtendedData></Placemark>
      <Placemark><description><![CDATA[Open <b>now</b>]]></description></Placemark>
      <Placemark><description>1 &lt; 2</description></Placemark>`),
  )
  assert.deepEqual(
    rows.map(({ description }) => description),
    ['Open <b class="x">1 &lt; 2</b><br>daily &amp; <i><u>nightly</u></i>.', 'Open <b>now</b>', '1 < 2'],
  )
  assert.equal(rows[0]!['note'], 'a <b>c</b>')
})

test('the names of the folders around a placemark become a column', async () => {
  const { rows, stream } = await read(
    kml(`<name>whole</name><Folder><name>Roads</name><Placemark><name>a</name></Placemark>
      <Folder><name> Main &amp; old </name><Placemark><name>b</name></Placemark></Folder>
      <Folder><Placemark><name>c</name></Placemark></Folder></Folder><Placemark><name>d</name></Placemark>`),
  )
  assert.deepEqual(
    rows.map(({ folder }) => folder),
    ['Roads', 'Roads/Main & old', 'Roads', null],
  )
  assert.deepEqual(stream.columns, [
    { name: 'name', type: 'text' },
    { name: 'folder', type: 'text' },
  ])
  const without = await read(kml('<Folder><Placemark><name>a</name></Placemark></Folder>'))
  assert.deepEqual(without.rows, [{ name: 'a' }])
})

test('multiple geometries under names that KML does not have are read, and unknown ones reported', async () => {
  const point = (x: number) => `<Point><coordinates>${x},0</coordinates></Point>`
  const square = `<Polygon><outerBoundaryIs><LinearRing><coordinates>0,0 1,0 1,1 0,0</coordinates></LinearRing></outerBoundaryIs></Polygon>`
  const line = '<LineString><coordinates>0,0 1,1</coordinates></LineString>'
  const { features, unreadable } = await read(
    kml(
      [
        `<MultiPolygon>${square}${square}</MultiPolygon>`,
        `<MultiPolygon><polygonMember>${square}</polygonMember></MultiPolygon>`,
        `<MultiLineString>${line}${line}</MultiLineString>`,
        `<MultiPoint>${point(1)}${point(2)}</MultiPoint>`,
        '<MultiPoint><coordinates>1,0 2,0</coordinates></MultiPoint>',
        `${point(1)}${line}`,
        '<MultiSurface><surface><coordinates>1,0 2,0</coordinates></surface></MultiSurface>',
        '<MultiPolygon><outerBoundaryIs><coordinates>1,0 2,0</coordinates></outerBoundaryIs></MultiPolygon>',
        '<LookAt><longitude>1</longitude></LookAt>',
      ]
        .map((shape) => `<Placemark>${shape}</Placemark>`)
        .join(''),
    ),
  )
  assert.deepEqual(
    features.map(({ geometry }) => geometry?.type),
    [
      'MultiPolygon',
      'MultiPolygon',
      'MultiLineString',
      'MultiPoint',
      'MultiPoint',
      'GeometryCollection',
      undefined,
    ],
  )
  assert.deepEqual(features[3]!.geometry, features[4]!.geometry)
  assert.deepEqual(unreadable, [
    { row: 7, problem: 'the geometry is a MultiSurface, which is not known' },
    { row: 8, problem: 'the geometry is a MultiPolygon with outerBoundaryIs inside, which is not known' },
  ])
})

test('prefixed names and the encodings that the document declares are read', async () => {
  const prefixed =
    '<k:kml xmlns:k="http://www.opengis.net/kml/2.2"><k:Placemark><k:name>é</k:name></k:Placemark></k:kml>'
  assert.deepEqual((await read(prefixed)).rows, [{ name: 'é' }])
  const latin = Buffer.from(`<?xml version="1.0" encoding="ISO-8859-1"?>${prefixed}`, 'latin1')
  assert.deepEqual((await read(latin)).rows, [{ name: 'é' }])
  assert.deepEqual((await read(Buffer.from(`\ufeff${prefixed}`, 'utf16le'), {}, 5)).rows, [{ name: 'é' }])
})

test('a geometry that cannot be read is a problem of its placemark', async () => {
  const { unreadable, features } = await read(
    kml(`
    <Placemark><Point><coordinates>east,2</coordinates></Point></Placemark>
    <Placemark><Model/></Placemark><Placemark><Point><coordinates>1</coordinates></Point></Placemark><Placemark/>`),
  )
  assert.deepEqual(unreadable, [
    { row: 1, problem: 'the coordinates have "east,2", which is not a position' },
    { row: 2, problem: 'the geometry is a Model, which GeoJSON cannot express' },
    { row: 3, problem: 'the coordinates have "1", which is not a position' },
  ])
  assert.equal(features.length, 1)
})

test('broken, cut, empty and hostile documents are refused with a sentence', async () => {
  const whole = kml('<Placemark><name>a</name></Placemark><Placemark><name>b</name></Placemark>')
  await refusal(whole.slice(0, -30), /^a\.kml ends too early: after placemark 1, unclosed tag: name\.$/)
  await refusal(whole.replace('</name>', '</nome>'), /^a\.kml is not valid XML in line 2, column \d+: /)
  await refusal(kml(''), /^a\.kml has no placemarks\.$/)
  await refusal(
    kml('<NetworkLink><Link><href>http://127.0.0.1/</href></Link></NetworkLink>'),
    /only links to other files, which are not followed/,
  )
  await refusal(
    Buffer.concat([Buffer.from(whole.slice(0, 200)), Buffer.from([0xff, 0xfe, 0xff])]),
    /^a\.kml is not utf-8/,
  )
  const bomb =
    '<!DOCTYPE k [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY x SYSTEM "file:///etc/passwd">]>'
  await refusal(`${bomb}<kml><Placemark><name>&b;</name></Placemark></kml>`, /undefined entity/)
  await refusal(`${bomb}<kml><Placemark><name>&x;</name></Placemark></kml>`, /undefined entity/)
  await refusal(kml('<Folder>'.repeat(200)), /nested more than 100 deep/)
  const limits = { ...DEFAULT_LIMITS, rowBytes: 1 << 20, columns: 3 }
  await refusal(
    kml(`<Placemark><name>${'x'.repeat(4 << 20)}</name></Placemark>`),
    /placemark 1 is larger than 1 MB/,
    { limits },
  )
  await refusal(
    kml(`<Placemark>${'<name>x</name>'.repeat(1 << 18)}</Placemark>`),
    /placemark 1 is larger than 1 MB/,
    { limits },
  )
  const data = ['a', 'b', 'c', 'd'].map((name) => `<Data name="${name}"><value>1</value></Data>`).join('')
  await refusal(kml(`<Placemark><ExtendedData>${data}</ExtendedData></Placemark>`), /more than 3 columns/, {
    limits,
  })
})
