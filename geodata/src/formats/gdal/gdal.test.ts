import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { SourceError } from '../../source-error.ts'
import { openSource, type SourceOptions } from '../index.ts'
import { ogr2ogr, readAll, scratch, written } from '../reading.test-kit.ts'

needs('gdal')

const read = (path: string, options: SourceOptions = {}) => readAll(openSource(path, options))
const refused = (path: string, message: RegExp, options: SourceOptions = {}) =>
  assert.rejects(
    read(path, options),
    (error: Error) => error instanceof SourceError && message.test(error.message),
  )

/** A file that GDAL writes from points with a name, and its folder. */
function points(t: TestContext, driver: string, file: string, ...options: string[]) {
  const folder = scratch(t)
  const feature = (name: string, x: number) =>
    `{"type":"Feature","id":${x},"properties":{"name":"${name}"},"geometry":{"type":"Point","coordinates":[${x},50]}}`
  const source = join(folder, 'source.geojson')
  writeFileSync(
    source,
    `{"type":"FeatureCollection","features":[${feature('a', 1)},${feature('b', 2)},${feature('c', 3)}]}`,
  )
  const path = join(folder, file)
  ogr2ogr('-f', driver, path, source, '-nln', 'pois', ...options)
  return { folder, path }
}

test('ids of a geodatabase are kept, also with columns named fid and geom', async (t) => {
  const sql = "SELECT name, name AS geom, 7 AS fid FROM source WHERE name <> 'b'"
  const { path } = points(t, 'OpenFileGDB', 'pois.gdb', '-preserve_fid', '-sql', sql)
  const { rows, features } = await read(path)
  assert.deepEqual(rows, [
    { name: 'a', geom: 'a', fid: 7 },
    { name: 'c', geom: 'c', fid: 7 },
  ])
  assert.deepEqual(
    features.map(({ id }) => id),
    [1, 3],
  )
})

test('a layer whose name looks like an option is none, and an unknown one lists those that there are', async (t) => {
  const { path } = points(t, 'OpenFileGDB', 'pois.gdb')
  for (const layer of ['--version', '-append', '-sql', 'rivers'])
    await refused(path, new RegExp(`^pois\\.gdb has no layer ${layer}; it has pois\\.$`), { layer })
  assert.equal((await read(path, { layer: 'POIS' })).rows.length, 3)
})

const feature = (content: string) => `<gml:featureMember><ogr:x>${content}</ogr:x></gml:featureMember>`
const point = (x: number, y: number) =>
  `<gml:Point srsName="urn:ogc:def:crs:EPSG::25832"><gml:pos>${x} ${y}</gml:pos></gml:Point>`
const collection = (...features: string[]) =>
  `<?xml version="1.0"?><ogr:FeatureCollection xmlns:ogr="http://ogr.maptools.org/" xmlns:gml="http://www.opengis.net/gml">${features.map(feature).join('')}</ogr:FeatureCollection>`
const SCHEMA = `<xs:schema targetNamespace="http://ogr.maptools.org/" xmlns:ogr="http://ogr.maptools.org/" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:gml="http://www.opengis.net/gml" elementFormDefault="qualified">
  <xs:element name="FeatureCollection" type="ogr:FeatureCollectionType" substitutionGroup="gml:_FeatureCollection"/>
  <xs:complexType name="FeatureCollectionType"><xs:complexContent><xs:extension base="gml:AbstractFeatureCollectionType"/></xs:complexContent></xs:complexType>
  <xs:element name="x" type="ogr:x_Type" substitutionGroup="gml:_Feature"/>
  <xs:complexType name="x_Type"><xs:complexContent><xs:extension base="gml:AbstractFeatureType"><xs:sequence>
    <xs:element name="at" type="gml:PointPropertyType" minOccurs="0"/><xs:element name="n" type="xs:integer" minOccurs="0"/>
  </xs:sequence></xs:extension></xs:complexContent></xs:complexType></xs:schema>`

test('a GML is read without the schema beside it, and nothing is written there', async (t) => {
  const folder = scratch(t)
  const path = join(folder, 'x.gml')
  writeFileSync(
    path,
    collection(
      `<ogr:at>${point(500000, 5000000)}</ogr:at><ogr:n>12345678901</ogr:n><ogr:fid>7</ogr:fid><ogr:geom>g</ogr:geom>`,
    ),
  )
  const expected = [{ n: '12345678901', fid: '7', geom: 'g' }]
  const columns = ({ rows }: Awaited<ReturnType<typeof read>>) =>
    rows.map(({ n, fid, geom }) => ({ n: n ?? null, fid: fid ?? null, geom: geom ?? null }))
  assert.deepEqual(columns(await read(path)), expected)
  assert.deepEqual(readdirSync(folder), ['x.gml'])
  writeFileSync(join(folder, 'x.xsd'), SCHEMA)
  const withSchema = await read(path)
  assert.deepEqual(columns(withSchema), expected)
  assert.equal(withSchema.stream.crs, 'EPSG:25832')
  assert.deepEqual(readdirSync(folder).sort(), ['x.gml', 'x.xsd'])
})

test('repeated elements of GML are arrays, unless a value in them has a comma', async (t) => {
  const tags = (...values: string[]) => values.map((value) => `<ogr:tag>${value}</ogr:tag>`).join('')
  const lists = written(t, 'a.gml', collection(tags('x', 'y'), tags('z,z'), tags(), tags('(', ')')))
  const { rows, stream } = await read(lists)
  assert.deepEqual(
    rows.map(({ tag }) => tag),
    [['x', 'y'], ['z,z'], null, ['(', ')']],
  )
  assert.deepEqual(stream.notes, ['The file was read with GDAL, as GML.'])
  const ambiguous = await read(written(t, 'b.gml', collection(tags('x', 'y'), tags('x', 'y,z'))))
  assert.deepEqual(
    ambiguous.rows.map(({ tag }) => tag),
    [['x', 'y'], '(2:x,y,z)'],
  )
  assert.match(ambiguous.stream.notes.at(-1)!, /^1 list of repeated values is published as GDAL writes it/)
})

test('lists of GML whose names differ only in digits are all arrays', async (t) => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, i) => `<ogr:v${i}>6.${i}</ogr:v${i}><ogr:v${i}>7.1</ogr:v${i}>`).join(
      '',
    )
  for (const count of [2, 250]) {
    const { rows } = await read(written(t, 'a.gml', collection(many(count))))
    for (let i = 0; i < count; i++) assert.deepEqual(rows[0]![`v${i}`], [`6.${i}`, '7.1'], `v${i}`)
  }
})

const pointIn = (srsName: string, pos: string) =>
  `<ogr:at><gml:Point srsName="${srsName}"><gml:pos>${pos}</gml:pos></gml:Point></ogr:at>`
const positionsOf = ({ features }: Awaited<ReturnType<typeof read>>) =>
  features.map(({ geometry }) => (geometry as { coordinates: number[] }).coordinates)

test('a GML in several CRSs is refused, unless these are names of one', async (t) => {
  const urn = (code: number) => `urn:ogc:def:crs:EPSG::${code}`
  const utm = pointIn(urn(25832), '500000 5500000')
  await refused(
    written(t, 'a.gml', collection(utm, pointIn(urn(4326), '49 9'))),
    /^a\.gml has geometries in several CRSs \(urn:ogc:def:crs:EPSG::25832, urn:ogc:def:crs:EPSG::4326\), and a dataset has one\./,
  )
  const same = written(t, 'b.gml', collection(pointIn(urn(4326), '49 9'), pointIn('EPSG:4326', '9 49')))
  const names = await read(same)
  assert.equal(names.stream.crs, 'EPSG:4326')
  assert.deepEqual(positionsOf(names), [[9, 49], [9, 49]]) // biome-ignore format: two positions
  const unknown = await read(written(t, 'c.gml', collection(pointIn('http://example.org/crs/1', '1 2'))))
  assert.equal(unknown.stream.crs, 'http://example.org/crs/1')
})

test('a GML in a compound CRS is read in the order of its horizontal part', async (t) => {
  const at = async (srsName: string, pos: string) =>
    positionsOf(await read(written(t, 'a.gml', collection(pointIn(srsName, pos)))))[0]!.slice(0, 2)
  const compound = 'http://www.opengis.net/def/crs-compound?1=http://www.opengis.net/def/crs/EPSG/0'
  for (const srsName of [
    'urn:ogc:def:crs:EPSG::5845',
    'urn:ogc:def:crs,crs:EPSG::3006,crs:EPSG::5613',
    `${compound}/3006&amp;2=http://www.opengis.net/def/crs/EPSG/0/5613`,
  ])
    assert.deepEqual(await at(srsName, '6500000 500000 7'), [500000, 6500000], srsName)
  assert.deepEqual(await at('urn:ogc:def:crs:EPSG::9528', '-41 174 7'), [174, -41])
  assert.deepEqual(await at('urn:ogc:def:crs:EPSG::7415', '120000 480000 7'), [120000, 480000])
  assert.deepEqual(await at('EPSG:5845', '500000 6500000'), [500000, 6500000])
})

test('the report says that geometries of GML are left out', async (t) => {
  const [one, two] = [`<ogr:at>${point(1, 2)}</ogr:at>`, `<ogr:label>${point(3, 4)}</ogr:label>`]
  for (const both of [one + two, two + one]) {
    const { stream, features } = await read(written(t, 'a.gml', collection(`<ogr:n>1</ogr:n>${both}`, one)))
    assert.match(stream.notes.at(-1)!, /^Features have geometries in different elements/)
    assert.equal(features.length, 2)
  }
  const { stream } = await read(written(t, 'b.gml', collection(one, one, '<ogr:n>1</ogr:n>')))
  assert.deepEqual(stream.notes, ['The file was read with GDAL, as GML.'])
  const table = await read(written(t, 'c.gml', collection('<ogr:n>1</ogr:n>')))
  assert.deepEqual(table.stream.notes, ['The file was read with GDAL, as GML.'])
})

test('arcs that GDAL reads become segments of a degree, and are counted', async (t) => {
  const arc = `<gml:Curve srsName="urn:ogc:def:crs:EPSG::25832"><gml:segments><gml:Arc><gml:posList>1000 0 0 1000 -1000 0</gml:posList></gml:Arc></gml:segments></gml:Curve>`
  const { features } = await read(written(t, 'arc.gml', collection(`<ogr:at>${arc}</ogr:at>`)))
  const { geometry } = features[0]!
  assert.ok(geometry?.type === 'LineString')
  assert.equal(geometry.coordinates.length, 181)
  assert.equal(geometry.converted, 'curves')
})

const MIF = (charset: string, ...columns: string[]) =>
  `Version 300\nCharset "${charset}"\nDelimiter ","\nCoordSys Earth Projection 1, 104\nColumns ${columns.length}\n${columns.map((column) => `  ${column}\n`).join('')}Data\n\nPoint 10 50\nPoint 11 51\n`
const CYRILLIC = Buffer.from([0xcf, 0xf0, 0xe8])

/** A MapInfo table in its text format, with a value in Cyrillic. */
function mif(t: TestContext, charset: string): string {
  const folder = scratch(t)
  writeFileSync(
    join(folder, 'a.mif'),
    MIF(charset, 'fid Integer', 'name Char(20)', 'geom Char(5)', 'charset Char(5)'),
  )
  writeFileSync(
    join(folder, 'a.MID'),
    Buffer.concat([Buffer.from('7,"'), CYRILLIC, Buffer.from('","g","x"\n7,"b","h","y"\n')]),
  )
  return join(folder, 'a.mif')
}

const MIF_ROWS = [
  { fid: 7, name: 'При', geom: 'g', charset: 'x' },
  { fid: 7, name: 'b', geom: 'h', charset: 'y' },
]

test('columns named fid and geom of MapInfo are kept, also if their values repeat', async (t) => {
  const path = mif(t, 'WindowsCyrillic')
  const { rows, features } = await read(path)
  assert.deepEqual(rows, MIF_ROWS)
  assert.equal(features[0]!.id, null)
})

test('text of MapInfo in an unknown character set is refused, and --encoding reads it', async (t) => {
  for (const charset of ['Neutral', 'WindowsThai']) {
    const path = mif(t, charset)
    await refused(
      path,
      /^a\.mif has text that cannot be decoded: .*'name' is not a valid UTF-8 string\. Name its encoding with --encoding/,
    )
    assert.deepEqual((await read(path, { encoding: 'windows-1251' })).rows, MIF_ROWS)
    await refused(path, /has no character set for the encoding utf-16le\.$/, { encoding: 'utf-16' })
  }
})

test('--encoding reads the table of MapInfo in its binary format too', async (t) => {
  const folder = scratch(t)
  ogr2ogr('-f', 'MapInfo File', join(folder, 'a.tab'), mif(t, 'Neutral'))
  assert.deepEqual((await read(join(folder, 'a.tab'), { encoding: 'windows-1251' })).rows, MIF_ROWS)
  await refused(join(folder, 'a.tab'), /^a\.tab has text that cannot be decoded/)
})

test('names of columns of MapInfo that cannot be decoded are refused', async (t) => {
  const folder = scratch(t)
  const [before, after] = MIF('Neutral', '@ Char(5)').split('@') as [string, string]
  writeFileSync(join(folder, 'a.mif'), Buffer.concat([Buffer.from(before), CYRILLIC, Buffer.from(after)]))
  writeFileSync(join(folder, 'a.mid'), '"a"\n"b"\n')
  await refused(
    join(folder, 'a.mif'),
    /^a\.mif has names of columns that cannot be decoded\. Name its encoding/,
  )
  assert.deepEqual((await read(join(folder, 'a.mif'), { encoding: 'cp1251' })).rows, [
    { При: 'a' },
    { При: 'b' },
  ])
})

test('a .mif without its .mid is refused, unless it has no columns', async (t) => {
  const path = mif(t, 'Neutral')
  const alone = join(scratch(t), 'a.mif')
  copyFileSync(path, alone)
  await refused(
    alone,
    /^a\.mif has 4 columns, but their values are in a \.mid file, which is missing\. Put it beside/,
  )
  const received = join(scratch(t), 'upload')
  copyFileSync(path, received)
  await refused(received, /which is missing\. Send a zip of both files\.$/, { originalName: 'a.mif' })
  writeFileSync(received, MIF('Neutral'))
  assert.equal((await read(received, { originalName: 'a.mif' })).features.length, 2)
})

test('other files beside a MapInfo table are not part of it', async (t) => {
  const path = mif(t, 'WindowsCyrillic')
  mkdirSync(join(path, '../a.folder'))
  writeFileSync(join(path, '../a.txt'), 'x')
  assert.deepEqual((await read(path, { encoding: 'windows-1251' })).rows, MIF_ROWS)
})
