import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { needs } from '../../../scripts/test-run/needs.ts'
import { SourceError } from '../source-error.ts'
import { openSource } from './index.ts'
import { ogr2ogr, readAll, scratch, written } from './reading.test-kit.ts'

needs('gdal', 'python')

const REPLACED = 'U+FFFD itself: \ufffd'
const point = (name: string) => ({
  type: 'Feature',
  properties: { n: 1, name },
  geometry: { type: 'Point', coordinates: [1, 2] },
})
const COLLECTION = JSON.stringify({
  type: 'FeatureCollection',
  features: ['Köln', 'ZQrich', REPLACED].map(point),
})

/** Makes the text of the second row invalid. */
function damage(path: string): string {
  const bytes = readFileSync(path).toString('latin1')
  assert.match(bytes, /ZQrich/)
  writeFileSync(path, Buffer.from(bytes.replaceAll('ZQrich', 'Z\xfcrich'), 'latin1'))
  return path
}

async function assertSecondRowInvalid(path: string, column = 'name'): Promise<void> {
  const { rows, unreadable } = await readAll(openSource(path))
  assert.deepEqual(unreadable, [{ row: 2, problem: `the text of column ${column} is not valid utf-8` }], path)
  assert.deepEqual(
    rows.map((row) => row[column]),
    ['Köln', REPLACED],
    path,
  )
}

function made(t: TestContext, driver: string, file: string, ...options: string[]): string {
  const path = join(scratch(t), file)
  ogr2ogr('-f', driver, path, written(t, 'source.geojson', COLLECTION), ...options)
  return path
}

test('a text that is not UTF-8 is a problem of its row', async (t) => {
  await assertSecondRowInvalid(damage(made(t, 'FlatGeobuf', 'a.fgb', '-lco', 'SPATIAL_INDEX=NO')))
  await assertSecondRowInvalid(damage(made(t, 'GPKG', 'a.gpkg')))
  const indexed = made(t, 'GPKG', 'indexed.gpkg')
  // Without the table's key and geometry, SQLite would read the texts from the index, in another order.
  const database = new DatabaseSync(indexed)
  database.exec('ALTER TABLE source DROP COLUMN n; CREATE INDEX names ON source (name)')
  database.close()
  await assertSecondRowInvalid(damage(indexed))
})

test('a text with U+FFFD in a GeoPackage of UTF-16 is valid', async (t) => {
  const path = join(scratch(t), 'a.gpkg')
  const database = new DatabaseSync(path)
  database.exec(`PRAGMA encoding = 'UTF-16le'; CREATE TABLE gpkg_contents (table_name TEXT, data_type TEXT);
    INSERT INTO gpkg_contents VALUES ('t', 'attributes'); CREATE TABLE t (name TEXT);
    INSERT INTO t VALUES ('${REPLACED}')`)
  database.close()
  const { rows, unreadable } = await readAll(openSource(path))
  assert.deepEqual([rows, unreadable], [[{ name: REPLACED }], []])
})

test('texts of Arrow that are not UTF-8 are problems of their rows, whatever their type', async (t) => {
  const folder = scratch(t)
  const script = `
import sys, pyarrow as pa, pyarrow.feather as feather
texts = ["K\\u00f6ln", "ZQrich, by the lake", "U+FFFD itself: \\ufffd"]
for name, type in (("small", pa.string()), ("large", pa.large_string()), ("view", pa.string_view())):
  feather.write_feather(pa.table({"name": pa.array(texts, type)}), f"{sys.argv[1]}/{name}.arrow", compression="uncompressed")
texts[2] = "M\\u00fcnchen"
for name, array in (("dictionary", pa.array(texts).dictionary_encode()), ("list", pa.array([[text] for text in texts], pa.large_list(pa.string()))), ("struct", pa.array([{"a": text} for text in texts]))):
  feather.write_feather(pa.table({"name": array}), f"{sys.argv[1]}/{name}.arrow", compression="uncompressed")
`
  execFileSync(process.env['WAYLEAVE_TEST_PYTHON'] ?? 'python3', ['-c', script, folder])
  for (const name of ['small', 'large', 'view'])
    await assertSecondRowInvalid(damage(join(folder, `${name}.arrow`)))
  const others = {
    dictionary: (text: string) => text,
    list: (text: string) => [text],
    struct: (a: string) => ({ a }),
  }
  for (const [name, nested] of Object.entries(others)) {
    const { rows, unreadable } = await readAll(openSource(damage(join(folder, `${name}.arrow`))))
    assert.deepEqual(unreadable, [{ row: 2, problem: 'the text of column name is not valid utf-8' }], name)
    assert.deepEqual(rows, [{ name: nested('Köln') }, { name: nested('München') }], name)
  }
})

test('the other formats refuse such a text too, by its row or with the file', async (t) => {
  const shapefile = made(t, 'ESRI Shapefile', 'a.shp', '-lco', 'ENCODING=UTF-8')
  damage(shapefile.replace('.shp', '.dbf'))
  const rows = ['Köln', 'ZQrich'].map((name) => JSON.stringify({ name }))
  const features = rows.map((row) => `{"attributes":${row},"geometry":{"x":1,"y":2}}`)
  const esri = `{"fields":[{"name":"name","type":"esriFieldTypeString"}],"geometryType":"esriGeometryPoint","features":[${features}]}`
  const inRow: [path: string, problem: RegExp][] = [
    [shapefile, /^the text of column name is not valid utf-8/],
    [damage(written(t, 'a.geojson', COLLECTION)), /^the text is not UTF-8/],
    [damage(written(t, 'rows.json', `[${rows}]`)), /^the text is not UTF-8/],
    [damage(written(t, 'esri.json', esri)), /^the text is not UTF-8/],
    [damage(written(t, 'a.csv', 'a,b\nKöln,Düsseldorf\nZQrich,ä\n')), /UTF-8/],
  ]
  for (const [path, problem] of inRow) {
    const { unreadable } = await readAll(openSource(path))
    assert.equal(unreadable.length, 1, path)
    assert.equal(unreadable[0]!.row, 2, path)
    assert.match(unreadable[0]!.problem, problem, path)
  }
  const parquet = join(scratch(t), 'a.parquet')
  const script = `
import sys, pyarrow as pa, pyarrow.parquet
pyarrow.parquet.write_table(pa.table({"name": ["ZQrich"]}), sys.argv[1], compression=None, use_dictionary=False)
`
  execFileSync(process.env['WAYLEAVE_TEST_PYTHON'] ?? 'python3', ['-c', script, parquet])
  const topology = (names: string[]) => {
    const points = names.map((name) => `{"type":"Point","coordinates":[1,2],"properties":{"name":"${name}"}}`)
    return `{"type":"Topology","arcs":[],"objects":{"a":{"type":"GeometryCollection","geometries":[${points}]}}}`
  }
  const utf16 = Buffer.from('a,b\n1,\ud800x\n', 'utf16le')
  const refused: [path: string, message: RegExp][] = [
    [damage(parquet), /^a\.parquet cannot be read: Invalid string encoding/],
    [
      damage(written(t, 'a.topojson', topology(['Köln', 'Düsseldorf', 'ZQrich']))),
      /^a\.topojson has text that is not UTF-8/,
    ],
    [
      damage(written(t, 'a.kml', '<kml><Placemark><name>ZQrich</name></Placemark></kml>')),
      /^a\.kml is not utf-8/,
    ],
    [
      damage(written(t, 'a.gpx', '<gpx><wpt lat="1" lon="2"><name>ZQrich</name></wpt></gpx>')),
      /^a\.gpx is not utf-8/,
    ],
    [written(t, 'b.csv', Buffer.concat([Buffer.from([0xff, 0xfe]), utf16])), /^b\.csv is not utf-16le/],
  ]
  for (const [path, message] of refused)
    await assert.rejects(
      readAll(openSource(path)),
      (error: Error) => error instanceof SourceError && message.test(error.message),
      path,
    )
  const western = await readAll(openSource(damage(written(t, 'b.topojson', topology(['ZQrich'])))))
  assert.deepEqual(western.rows, [{ name: 'Zürich' }])
  assert.match(western.stream.notes.join(), /was read as windows-1252, which was detected/)
})
