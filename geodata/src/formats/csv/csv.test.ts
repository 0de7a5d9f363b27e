import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import type { Value } from '../../feature.ts'
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
  written,
} from '../reading.test-kit.ts'
import { openCsv } from './csv.ts'

const read = (content: string | Uint8Array, options = {}, pieceBytes?: number) =>
  readAll(openCsv(inPieces(content, 'a.csv', pieceBytes), options))

const refusal = (content: string | Uint8Array, message: RegExp, options = {}) =>
  assert.rejects(
    read(content, options),
    (error: Error) => error instanceof SourceError && message.test(error.message),
    String(message),
  )

test('any table written by RFC 4180 reads back the same, whatever the pieces it arrives in', async () => {
  const value = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('"', '""', 'a\nb', 'a\r\nb', ',', ';', 'é', '𝄞'),
  )
  const usable = value.map((text) => text.replaceAll('\0', ''))
  const table = fc.array(fc.tuple(usable, usable, usable), { minLength: 1, maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(
      table,
      fc.constantFrom(',', ';', '\t', '|'),
      fc.constantFrom('\n', '\r\n'),
      fc.integer({ min: 1, max: 99 }),
      async (rows, delimiter, end, size) => {
        const quote = (text: string) => `"${text.replaceAll('"', '""')}"`
        const lines = [['first', 'second', 'third'], ...rows].map((row) => row.map(quote).join(delimiter))
        const { features, unreadable } = await read(lines.join(end) + end, {}, size)
        assert.deepEqual(unreadable, [])
        assert.deepEqual(
          features.map(({ values }) => values.map((v) => v ?? '')),
          rows,
        )
      },
    ),
    { numRuns: 100 },
  )
})

test('delimiter, header and line ends are recognised', async () => {
  const cases: [string, string[], Value[]][] = [
    ['a,b\n1,2\n', ['a', 'b'], ['1', '2']],
    ['a;b\r\n1,5;2\r\n', ['a', 'b'], ['1,5', '2']],
    ['a\tb\r1\t2', ['a', 'b'], ['1', '2']],
    ['a|b\n1|2', ['a', 'b'], ['1', '2']],
    ['name\nx\n', ['name'], ['x']],
    ['country,2010,2011\nX,1,2', ['country', '2010', '2011'], ['X', '1', '2']],
    ['1,2\n3,4\n', ['column_1', 'column_2'], ['1', '2']],
    ['a,,c\n1,2,3', ['a', 'column_2', 'c'], ['1', '2', '3']],
    ['a,b\n\n\n1,2\n\n', ['a', 'b'], ['1', '2']],
    ['a,b,\n1,2,\n', ['a', 'b', 'column_3'], ['1', '2', null]],
    ['a,b\n1,2,,\n', ['a', 'b'], ['1', '2']],
    ['a,b\n007,""\n', ['a', 'b'], ['007', null]],
  ]
  for (const [text, names, values] of cases) {
    const { stream, features } = await read(text)
    assert.deepEqual(
      stream.columns.map(({ name }) => name),
      names,
      text,
    )
    assert.deepEqual(features[0]!.values, values, text)
    assert.equal(stream.spatial, false)
  }
})

test('UTF-8 with and without mark, UTF-16 of both orders and windows-1252 are read', async () => {
  const text = 'name,n\nŽluťoučký 𝄞,1\n'
  const big = Buffer.from(`\ufeff${text}`, 'utf16le').swap16()
  for (const bytes of [
    Buffer.from(text),
    Buffer.from(`\ufeff${text}`),
    Buffer.from(`\ufeff${text}`, 'utf16le'),
    big,
  ]) {
    const { stream, rows } = await read(bytes, {}, 7)
    assert.deepEqual(rows, [{ name: 'Žluťoučký 𝄞', n: '1' }])
    assert.deepEqual(stream.notes, [])
  }
  const western = await read(Buffer.from('name\nCaf\xe9 \x80\n', 'latin1'))
  assert.deepEqual(western.rows, [{ name: 'Café €' }])
  assert.deepEqual(western.stream.notes, [
    'The text is not UTF-8 and was read as windows-1252, which was detected. If that is wrong, name the encoding with --encoding.',
  ])
})

test('bytes that are no UTF-8 after real UTF-8 are a problem of their row', async () => {
  const bytes = Buffer.concat([Buffer.from('name\né\n'), Buffer.from('\xe9\n', 'latin1'), Buffer.from('ü\n')])
  const { rows, unreadable } = await read(bytes, {}, 8)
  assert.deepEqual(rows, [{ name: 'é' }, { name: 'ü' }])
  assert.deepEqual(unreadable, [{ row: 2, problem: 'the text is not UTF-8' }])
})

test('longitude and latitude are found under their usual names and are not attributes', async () => {
  for (const [x, y] of [
    ['lon', 'lat'],
    ['Longitude', 'LATITUDE'],
    ['lng', 'lat'],
    ['long', 'latitude'],
    ['POINT_X', 'POINT_Y'],
    ['decimalLongitude', 'decimalLatitude'],
  ]) {
    const { stream, features } = await read(`name,${y},${x}\na,52.5,13.25\nb,,\n`)
    assert.deepEqual(features[0]!.geometry, { type: 'Point', coordinates: [13.25, 52.5] }, x)
    assert.equal(features[1]!.geometry, null)
    assert.deepEqual(
      stream.columns.map(({ name }) => name),
      ['name'],
    )
    assert.deepEqual([stream.spatial, stream.crs], [true, 'OGC:CRS84'])
  }
  const comma = await read('name;lon;lat\na;13,25;52,5\n')
  assert.deepEqual(comma.features[0]!.geometry, { type: 'Point', coordinates: [13.25, 52.5] })
})

test('coordinate columns whose values are not decimal degrees are named, not passed over', async () => {
  for (const [longitude, latitude] of [
    ["13°15'E", "52°30'N"],
    ['unknown', '52.5'],
  ]) {
    const { stream, features } = await read(`name,longitude,latitude\na,${longitude},${latitude}\n`)
    assert.equal(stream.spatial, false)
    assert.equal(features.length, 1)
    assert.deepEqual(stream.notes, [
      'Columns longitude and latitude are not taken for coordinates: too few of their values are decimal degrees.',
    ])
  }
})

test('columns that only look like coordinates stay attributes', async () => {
  for (const text of [
    'x,y\n500000,5800000\n',
    'lat,note\n1,2\n',
    'lon,lat\neast,north\nwest,south\n',
    'long,short\n1,2\n',
  ]) {
    const { stream } = await read(text)
    assert.equal(stream.spatial, false, text)
    assert.equal(stream.columns.length, 2)
  }
  const projected = await read('x,y\n500000,5800000\n')
  assert.match(projected.stream.notes[0]!, /Columns x and y hold numbers that are not degrees.*--crs/)
  const told = await read('x,y\n500000,5800000\n', { crs: 'EPSG:25832' })
  assert.deepEqual(told.features[0]!.geometry, { type: 'Point', coordinates: [500000, 5800000] })
})

test('geometry columns are read as WKT, EWKT, GeoJSON and hexadecimal WKB', async () => {
  const point = { type: 'Point', coordinates: [1, 2] }
  const cases: [string, string | null][] = [
    ['wkt\nPOINT(1 2)\n', null],
    ['the_geom\nSRID=25832;POINT(1 2)\n', 'EPSG:25832'],
    ['geojson\n"{""type"":""Point"",""coordinates"":[1,2]}"\n', 'OGC:CRS84'],
    ['geom\n0101000020E6100000000000000000F03F0000000000000040\n', 'EPSG:4326'],
  ]
  for (const [text, crs] of cases) {
    const { stream, features } = await read(text)
    assert.deepEqual(features[0]!.geometry, point, text)
    assert.equal(stream.crs, crs)
  }
})

test('a row that cannot be read is named with its reason and the others are read', async () => {
  const text = 'id,lon,lat\n1,1,2\n2,1\n3,1,2,3\n4,east,2\n5,,2\n"6"x,1,2\n7,1,2\n'
  const { features, unreadable } = await read(text)
  assert.deepEqual(
    features.map(({ row }) => row),
    [1, 7],
  )
  assert.deepEqual(unreadable, [
    { row: 2, problem: 'the row has 2 values where 3 are expected' },
    { row: 3, problem: 'the row has 4 values where 3 are expected' },
    { row: 4, problem: 'lon is "east", which is not a number' },
    { row: 5, problem: 'lon is empty, which is not a number' },
    { row: 6, problem: 'a quoted value is followed by "x"' },
  ])
  const wkt = await read('wkt\nPOINT(1 2)\nPOINT(1\nSRID=3857;POINT(1 2)\n')
  assert.deepEqual(wkt.unreadable, [{ row: 2, problem: 'the WKT ends where a number is expected' }])
  const mixed = await read('wkt\nSRID=4326;POINT(1 2)\nSRID=3857;POINT(1 2)\n')
  assert.equal(mixed.unreadable[0]!.problem, 'the geometry is in EPSG:3857, the rows before it in EPSG:4326')
})

test('a file that is not a table, or is too large, is refused with a sentence', async () => {
  await refusal('', /^a\.csv is empty\.$/)
  await refusal(' \n\n', /^a\.csv is empty\.$/)
  await refusal('name,size\n', /^a\.csv has a header but no rows\.$/)
  await refusal('a,b\n1,\0\n', /^a\.csv contains a NUL character \(byte 7\)/)
  await refusal(`a,b\n${'1,2\n'.repeat(200000)}\0`, /^a\.csv contains a NUL character \(byte 800005\)/)
  await refusal('a,b\n1,"2\n3,4\n5,6\n', /^a\.csv ends inside a quoted value that begins in row 1\.$/)
  const limits = { ...DEFAULT_LIMITS, rowBytes: 1 << 20 }
  await refusal(
    `a,b\n1,"2\n${'3,4\n'.repeat(1 << 20)}`,
    /row 1 is larger than 1 MB, the limit of WAYLEAVE_MAX_FEATURE_BYTES\. A quote in it is opened and not closed/,
    { limits },
  )
  await refusal('x'.repeat(10 << 20), /has a line that is larger than 1 MB/, { limits })
  const names = Array.from({ length: 1_000_000 }, (_, i) => `c${i}`).join(',')
  await refusal(`${names}\n`, /^a\.csv has 1000000 columns; at most 2000 are read\.$/)
})

test('a table of 171,075 places says the same as GDAL reads from it', { skip: lacks('gdal') }, async (t) => {
  const folder = scratch(t)
  const some = realCities(20)
  const geojson = join(folder, 'cities.geojson')
  writeFileSync(
    geojson,
    JSON.stringify({
      type: 'FeatureCollection',
      features: some.map(({ lng, lat, ...properties }) => ({
        type: 'Feature',
        properties,
        geometry: { type: 'Point', coordinates: [Number(lng), Number(lat)] },
      })),
    }),
  )
  const file = join(folder, 'cities.csv')
  ogr2ogr('-f', 'CSV', file, geojson, '-lco', 'GEOMETRY=AS_XY', '-lco', 'STRING_QUOTING=IF_NEEDED')
  const { features, rows, stream } = await readAll(openCsv(await fileSource(file, 'cities.csv')))
  const theirs = gdalFeatures(
    file,
    '-oo',
    'X_POSSIBLE_NAMES=X',
    '-oo',
    'Y_POSSIBLE_NAMES=Y',
    '-oo',
    'KEEP_GEOM_COLUMNS=NO',
  )
  assert.equal(stream.spatial, true)
  assert.equal(features.length, some.length)
  assertSameGeometries(features, theirs)
  const text = (row: { [name: string]: Value }) =>
    Object.fromEntries(Object.entries(row).map(([k, v]) => [k, v ?? '']))
  assert.deepEqual(
    rows.map(text),
    theirs.map(({ properties }) => text(properties)),
  )
})

test('a file on disk reports how much of it was read', async (t) => {
  const file = written(t, 'a.csv', `a,b\n${'1,2\n'.repeat(300000)}`)
  const { stream } = await readAll(openCsv(await fileSource(file, 'a.csv')))
  assert.equal(stream.bytesRead, stream.totalBytes)
})
