import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { zstdCompressSync } from 'node:zlib'
import { lacks } from '../../../scripts/test-run/needs.ts'
import { SourceError } from '../source-error.ts'
import { openSource, type SourceOptions } from './index.ts'
import {
  assertSameGeometries,
  gdalFeatures,
  ogr2ogr,
  readAll,
  scratch,
  written,
  zipped,
} from './reading.test-kit.ts'

const NC = '/usr/lib/R/site-library/sf/shape/nc.shp'
const ROWS =
  'name,n,price,day,at,ok\nÄpfel,1,2.5,2020-12-31,2020-12-31T12:30:00Z,true\nBirnen,2,0.25,2021-01-01,2021-01-02T00:00:00Z,false\n'

const read = (path: string, options: SourceOptions = {}) => readAll(openSource(path, options))
const refused = (path: string, message: RegExp, options: SourceOptions = {}) =>
  assert.rejects(
    read(path, options),
    (error: Error) => error instanceof SourceError && message.test(error.message),
  )

test('sheets written by GDAL as XLSX and ODS are read with their types', {
  skip: lacks('gdal'),
}, async (t) => {
  const folder = scratch(t)
  writeFileSync(join(folder, 'a.csv'), ROWS)
  for (const [driver, file] of [
    ['XLSX', 'a.xlsx'],
    ['ODS', 'a.ods'],
  ] as const) {
    ogr2ogr('-f', driver, join(folder, file), join(folder, 'a.csv'), '-oo', 'AUTODETECT_TYPE=YES')
    const { stream, rows } = await read(join(folder, file))
    assert.equal((stream as { format?: string }).format, file.slice(2))
    assert.deepEqual(
      [rows[0]!['name'], rows[0]!['n'], rows[0]!['price'], rows[0]!['day']],
      ['Äpfel', 1, 2.5, '2020-12-31'],
      file,
    )
    assert.equal(new Date(String(rows[1]!['at'])).toISOString(), '2021-01-02T00:00:00.000Z', file)
    assert.equal(rows.length, 2)
  }
})

const SHEET = (rows: string) => `<worksheet><sheetData>${rows}</sheetData></worksheet>`
const WORKBOOK = {
  'xl/workbook.xml':
    '<workbook><sheets><sheet name="Data" r:id="r1"/><sheet name="Empty" r:id="r2"/><sheet name="Secret" state="hidden" r:id="r1"/></sheets></workbook>',
  'xl/_rels/workbook.xml.rels':
    '<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Target="/xl/worksheets/sheet2.xml"/></Relationships>',
  'xl/styles.xml':
    '<styleSheet><numFmts><numFmt numFmtId="164" formatCode="dd/mm/yyyy\\ hh:mm"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/></cellXfs></styleSheet>',
  'xl/sharedStrings.xml':
    '<sst><si><t>lon</t></si><si><r><t>la</t></r><r><t>t</t></r></si><si><t>a&amp;b</t></si></sst>',
  'xl/worksheets/sheet2.xml': SHEET(''),
}

test('a workbook of Excel: shared texts, dates, errors, gaps, coordinates, one sheet with rows', async (t) => {
  const rows = `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="inlineStr"><is><t>text</t></is></c><c r="D1" t="inlineStr"><is><t>day</t></is></c><c r="E1" t="str"><v>at</v></c></row>
    <row r="3"><c r="A3"><v>13.4</v></c><c r="B3"><v>52.5</v></c><c r="C3" t="s"><v>2</v></c><c r="D3" s="1"><v>44196</v></c><c r="E3" s="2"><v>44196.5</v></c></row>
    <row r="4"><c r="A4"><v>1</v></c><c r="B4"><v>2</v></c><c r="C4" t="e"><v>#N/A</v></c><c r="G4" t="b"><v>1</v></c></row>`
  const path = await zipped(t, 'a.xlsx', { ...WORKBOOK, 'xl/worksheets/sheet1.xml': SHEET(rows) })
  const { stream, rows: read1, features } = await read(path)
  assert.deepEqual(features[0]!.geometry, { type: 'Point', coordinates: [13.4, 52.5] })
  assert.deepEqual(read1[0], {
    text: 'a&b',
    day: '2020-12-31',
    at: '2020-12-31T12:00:00.000Z',
    column_6: null,
    column_7: null,
  })
  assert.equal(read1[1]!['column_7'], true)
  assert.match(stream.notes.join(), /1 cells hold an error such as #N\/A: published as null/)
  await refused(path, /has no layer Secret; it has Data, Empty/, { layer: 'Secret' })
  const wide = await zipped(t, 'wide.xlsx', {
    ...WORKBOOK,
    'xl/worksheets/sheet1.xml': SHEET('<row><c r="ZZZ1"><v>1</v></c></row>'),
  })
  await refused(wide, /has a value in column 18278; at most 2000 are read/)
  const bomb = await zipped(t, 'bomb.xlsx', {
    ...WORKBOOK,
    'xl/worksheets/sheet1.xml': SHEET(`<row>${' '.repeat(80 << 20)}</row>`),
  })
  await refused(bomb, /refused as a decompression bomb/)
})

test('the report says what GPX loses: single points of tracks and routes, and heights of lines', async (t) => {
  const point = (n: number, height?: number) =>
    `<trkpt lat="${n}" lon="${n}">${height === undefined ? '' : `<ele>${height}</ele>`}</trkpt>`
  const track = (...segments: string[]) =>
    `<trk>${segments.map((points) => `<trkseg>${points}</trkseg>`).join('')}</trk>`
  const lost = written(
    t,
    'a.gpx',
    `<gpx>${track(point(1, 5) + point(2), point(3))}${track(point(4), point(5))}<rte><rtept lat="1" lon="1"/></rte>${track(point(6, 1) + point(7, 2), '')}</gpx>`,
  )
  const { stream, features } = await read(lost)
  assert.deepEqual(
    features.map(({ geometry }) => geometry),
    [
      {
        type: 'MultiLineString',
        coordinates: [
          [
            [1, 1],
            [2, 2],
          ],
        ],
      },
      null,
      null,
      {
        type: 'MultiLineString',
        coordinates: [
          [
            [6, 6, 1],
            [7, 7, 2],
          ],
        ],
      },
    ],
  )
  assert.deepEqual(stream.notes, [
    '4 segments of tracks or routes have a single point, which is not a line, and are left out. Publish with --layer track_points or route_points to keep every point.',
    '2 tracks or routes have no segment of two points or more and are published without geometry.',
    '1 segment of tracks or routes has points with and without <ele> and is published without heights.',
  ])
  const whole = written(t, 'b.gpx', `<gpx>${track(point(1, 5) + point(2, 6))}</gpx>`)
  assert.deepEqual((await read(whole)).stream.notes, [])
})

test('integers beyond 2^53 in a sheet keep all digits', async (t) => {
  const numbers = [
    '1234567890123456789',
    '-9007199254740993',
    '9007199254740991',
    '12345678901234567890123',
    '2.5',
  ]
  const cells = numbers.map((text) => `<row><c><v>${text}</v></c></row>`).join('')
  const head = '<row><c t="str"><v>n</v></c></row>'
  const xlsx = await zipped(t, 'a.xlsx', {
    ...WORKBOOK,
    'xl/worksheets/sheet1.xml': SHEET(`${head}${cells}<row><c s="1"><v>0000000000044196</v></c></row>`),
  })
  const exact = [1234567890123456789n, -9007199254740993n, 9007199254740991, 12345678901234567890123n, 2.5]
  assert.deepEqual(
    (await read(xlsx)).rows.map(({ n }) => n),
    [...exact, '2020-12-31'],
  )
  const row = (cell: string) => `<table:table-row>${cell}</table:table-row>`
  const ods = await zipped(t, 'a.ods', {
    mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
    'content.xml': `<office:document-content><table:table table:name="Data">${row(
      '<table:table-cell office:value-type="string"><text:p>n</text:p></table:table-cell>',
    )}${numbers.map((text) => row(`<table:table-cell office:value-type="float" office:value="${text}"/>`)).join('')}</table:table></office:document-content>`,
  })
  assert.deepEqual(
    (await read(ods)).rows.map(({ n }) => n),
    exact,
  )
})

test('TopoJSON, GPX, Esri JSON and a lone .dbf say the same as GDAL reads from them', {
  skip: lacks('gdal'),
}, async (t) => {
  const topo = join(import.meta.dirname, '../../../node_modules/world-atlas/land-110m.json')
  const land = await read(topo)
  assertSameGeometries(land.features, gdalFeatures(topo))
  const folder = scratch(t)
  const gpx = join(folder, 'a.gpx')
  writeFileSync(
    gpx,
    '<?xml version="1.0"?><gpx xmlns="http://www.topografix.com/GPX/1/1"><wpt lat="52.5" lon="13.4"><ele>34</ele><time>2020-01-01T00:00:00Z</time><name>Mast</name></wpt><trk><name>Way</name><trkseg><trkpt lat="1" lon="2"/><trkpt lat="3" lon="4"/></trkseg><trkseg><trkpt lat="5" lon="6"/><trkpt lat="7" lon="8"/></trkseg></trk></gpx>',
  )
  const all = await read(gpx)
  assert.deepEqual(
    all.rows.map(({ element, name }) => [element, name]),
    [
      ['wpt', 'Mast'],
      ['trk', 'Way'],
    ],
  )
  assert.deepEqual(all.features[0]!.geometry, { type: 'Point', coordinates: [13.4, 52.5, 34] })
  assertSameGeometries((await read(gpx, { layer: 'tracks' })).features, gdalFeatures(gpx, 'tracks'))
  const esri = written(
    t,
    'query.json',
    '{"objectIdFieldName":"OBJECTID","geometryType":"esriGeometryPolygon","spatialReference":{"wkid":102100,"latestWkid":3857},"fields":[{"name":"OBJECTID","type":"esriFieldTypeOID"},{"name":"name","type":"esriFieldTypeString"},{"name":"edited","type":"esriFieldTypeDate"}],"features":[{"attributes":{"OBJECTID":7,"name":"a","edited":1609459200000},"geometry":{"rings":[[[0,0],[0,9],[9,9],[9,0],[0,0]],[[2,2],[4,2],[4,4],[2,4],[2,2]]]}}]}',
  )
  const query = await read(esri)
  assertSameGeometries(query.features, gdalFeatures(esri))
  assert.deepEqual(
    [query.stream.crs, query.features[0]!.id, query.rows[0]],
    ['EPSG:3857', 7, { name: 'a', edited: '2021-01-01T00:00:00.000Z' }],
  )
  const dbf = await read(written(t, 'nc.dbf', readFileSync(NC.replace(/shp$/, 'dbf'))))
  assert.deepEqual([dbf.stream.spatial, dbf.rows.length, dbf.rows[0]!['NAME']], [false, 100, 'Ashe'])
})

test('Arrow files, streams and Feather with either compression are read', {
  skip: lacks('python'),
}, async (t) => {
  const folder = scratch(t)
  const script = `
import sys, datetime, decimal, pyarrow as pa, pyarrow.feather as feather, geopandas, shapely
table = pa.table({"lon": [13.4, None], "lat": [52.5, None], "big": pa.array([2**60, 2], pa.int64()), "word": pa.array(["a", "b"]).dictionary_encode(),
  "at": pa.array([datetime.datetime(2020, 1, 1, 0, 0, 0, 123456), None], pa.timestamp("us", "UTC")), "day": pa.array([datetime.date(2020, 1, 1), None]),
  "list": [[1, 2], None], "cost": pa.array([decimal.Decimal("-1.25"), None], pa.decimal128(10, 2))})
for compression in ("lz4", "zstd", "uncompressed"): feather.write_feather(table, f"{sys.argv[1]}/{compression}.feather", compression=compression)
with pa.OSFile(f"{sys.argv[1]}/stream.arrows", "wb") as sink:
  with pa.ipc.new_stream(sink, table.schema) as writer: writer.write_table(table)
geopandas.GeoDataFrame({"name": ["x"]}, geometry=[shapely.Point(13.4, 52.5)], crs="EPSG:25832").to_feather(f"{sys.argv[1]}/geo.feather")
`
  execFileSync(process.env['WAYLEAVE_TEST_PYTHON'] ?? 'python3', ['-c', script, folder])
  for (const file of ['lz4.feather', 'zstd.feather', 'uncompressed.feather', 'stream.arrows']) {
    const { features, rows } = await read(join(folder, file))
    assert.deepEqual(features[0]!.geometry, { type: 'Point', coordinates: [13.4, 52.5] }, file)
    assert.deepEqual(rows[0], {
      big: 2n ** 60n,
      word: 'a',
      at: '2020-01-01T00:00:00.123456Z',
      day: '2020-01-01',
      list: [1, 2],
      cost: -1.25,
    })
  }
  const geo = await read(join(folder, 'geo.feather'))
  assert.deepEqual(
    [geo.features[0]!.geometry, geo.rows],
    [{ type: 'Point', coordinates: [13.4, 52.5] }, [{ name: 'x' }]],
  )
  assert.match(geo.stream.crs ?? '', /25832/)
  const cut = readFileSync(join(folder, 'lz4.feather')).subarray(0, 900)
  await refused(written(t, 'cut.feather', cut), /^cut\.feather is not whole or not valid Arrow/)
})

test('times of Arrow are exact, also of the day, far from 1970 and inside of structs', {
  skip: lacks('python'),
}, async (t) => {
  const folder = scratch(t)
  const script = `
import sys, datetime, pyarrow as pa, pyarrow.feather as feather
table = pa.table({"ns": pa.array([1700000000000999600, -1000, None], pa.timestamp("ns")),
  "us": pa.array([-62135596799999999, 253402300799999999, None], pa.timestamp("us")),
  "s": pa.array([-1, 0, None], pa.timestamp("s")),
  "clock": pa.array([3723000004, 0, None], pa.time64("us")),
  "noon": pa.array([43200, 1, None], pa.time32("s")),
  "nested": pa.array([{"day": datetime.date(2020, 1, 1), "list": [datetime.time(1, 2)]}, {"day": None, "list": None}, None])})
feather.write_feather(table, f"{sys.argv[1]}/times.feather")
`
  execFileSync(process.env['WAYLEAVE_TEST_PYTHON'] ?? 'python3', ['-c', script, folder])
  const { rows } = await read(join(folder, 'times.feather'))
  assert.deepEqual(rows, [
    {
      ns: '2023-11-14T22:13:20.000999600Z',
      us: '0001-01-01T00:00:00.000001Z',
      s: '1969-12-31T23:59:59Z',
      clock: '01:02:03.000004',
      noon: '12:00:00',
      nested: { day: '2020-01-01', list: ['01:02:00'] },
    },
    {
      ns: '1969-12-31T23:59:59.999999Z',
      us: '9999-12-31T23:59:59.999999Z',
      s: '1970-01-01T00:00:00Z',
      clock: '00:00:00',
      noon: '00:00:01',
      nested: { day: null, list: null },
    },
    { ns: null, us: null, s: null, clock: null, noon: null, nested: null },
  ])
})

test('a byte order mark at the start of a text of Arrow is part of it', {
  skip: lacks('python'),
}, async (t) => {
  const folder = scratch(t)
  const script = `
import sys, pyarrow as pa, pyarrow.feather as feather
texts = ["\\ufeffx", "y\\ufeff", None, "\\ufeff", "\\ufeff\\ufeff", ""]
table = pa.table({"small": pa.array(texts, pa.string()), "large": pa.array(texts, pa.large_string())})
feather.write_feather(table, f"{sys.argv[1]}/marks.feather")
`
  execFileSync(process.env['WAYLEAVE_TEST_PYTHON'] ?? 'python3', ['-c', script, folder])
  const { rows } = await read(join(folder, 'marks.feather'))
  const texts = ['\ufeffx', 'y\ufeff', null, '\ufeff', '\ufeff\ufeff', '']
  assert.deepEqual(
    rows,
    texts.map((text) => ({ small: text, large: text })),
  )
})

test('values of GML keep leading zeros and all digits, and get types by what they are', {
  skip: lacks('gdal'),
}, async (t) => {
  const member = (zip: string, big: string, height: string) =>
    `<gml:featureMember><ogr:place xmlns:ogr="http://ogr.maptools.org/"><ogr:geometryProperty><gml:Point srsName="urn:ogc:def:crs:EPSG::4326"><gml:pos>52 13</gml:pos></gml:Point></ogr:geometryProperty><ogr:zip>${zip}</ogr:zip><ogr:big>${big}</ogr:big><ogr:height>${height}</ogr:height></ogr:place></gml:featureMember>`
  const digits = '123456789012345678901234'
  const gml = `<?xml version="1.0"?><gml:FeatureCollection xmlns:gml="http://www.opengis.net/gml">${member('01234', digits, '1.5')}${member('00077', '5', '-2')}</gml:FeatureCollection>`
  const { stream, rows } = await read(written(t, 'zip.gml', gml))
  const values = rows.map(({ zip, big, height }) => [zip, big, height])
  assert.deepEqual(values, [
    ['01234', digits, '1.5'],
    ['00077', '5', '-2'],
  ])
  assert.deepEqual(new Set(stream.columns.map(({ type }) => type)), new Set(['infer-text']))
})

test('zstd is unpacked like gzip', async (t) => {
  const { rows } = await read(written(t, 'a.csv.zst', zstdCompressSync(ROWS)))
  assert.equal(rows.length, 2)
})

test('other formats are read with GDAL, which is bounded, and a message says when it is missing', {
  skip: lacks('gdal'),
}, async (t) => {
  const folder = scratch(t)
  const scratchFolder = join(folder, 'scratch')
  mkdirSync(scratchFolder)
  const pack = async (name: string, inner: string) => {
    const files = readdirSync(join(folder, inner)).map((file) => [
      `${inner}/${file}`,
      readFileSync(join(folder, inner, file)),
    ])
    return zipped(t, name, Object.fromEntries(files))
  }
  const source = gdalFeatures(NC)
  for (const [driver, file, format] of [
    ['GML', 'a.gml', 'gml'],
    ['MapInfo File', 'tab', 'mapinfo'],
    ['OpenFileGDB', 'a.gdb', 'filegdb'],
  ] as const) {
    if (file === 'tab') mkdirSync(join(folder, 'tab'))
    const target = join(folder, file === 'tab' ? 'tab/nc.tab' : file)
    ogr2ogr('-f', driver, target, NC, '-nln', 'nc', '-select', 'NAME,FIPS', '-nlt', 'PROMOTE_TO_MULTI')
    const path =
      file === 'tab'
        ? await pack('a.zip', 'tab')
        : file === 'a.gdb'
          ? await pack('a.gdb.zip', 'a.gdb')
          : target
    const opened = await openSource(path, { scratchFolder })
    const { features, rows } = await readAll(opened)
    assert.equal(opened.format, format)
    assert.equal(features.length, source.length, format)
    assert.ok(
      rows.some((row) => Object.values(row).includes('Ashe')),
      format,
    )
    assert.match(opened.notes.join(), /read with GDAL/)
  }
  assert.deepEqual(readdirSync(scratchFolder), [])
  const gml = join(folder, 'a.gml')
  await refused(gml, /program no-such-program is not installed on the server/, {
    gdal: { program: 'no-such-program', seconds: 60, megabytes: 4096 },
  })
  await refused(gml, /its use is turned off here\. Convert the file to GeoPackage/, {
    gdal: { program: null, seconds: 60, megabytes: 4096 },
  })
  await refused(gml, /^GDAL cannot read a\.gml/, { gdal: { program: 'ogr2ogr', seconds: 60, megabytes: 16 } })
  const slow = written(t, 'slow', '#!/bin/sh\nexec sleep 100\n')
  execFileSync('chmod', ['+x', slow])
  await refused(gml, /^GDAL did not read a\.gml within 1 s\.$/, {
    gdal: { program: slow, seconds: 1, megabytes: 4096 },
  })
})
