import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { lacks, needs } from '../../../scripts/test-run/needs.ts'
import { compileSnapshot } from './compile.ts'
import { scratch } from './compile-fixture.ts'
import type { CompileOptions, CompileReport } from './compile-options.ts'
import type { InvalidSourceError } from './invalid-source-error.ts'

needs('time')

/** A point near Hanover in EPSG:25832, and its longitude and latitude. */
const UTM = [550000, 5800000]
const PLACE = [9.73403713, 52.3480135]

let serial = 0

async function compile(
  path: string,
  options: Partial<CompileOptions> = {},
): Promise<{ report: CompileReport; place: number[] }> {
  const folder = join(scratch, `crs-${++serial}`)
  const { report } = await compileSnapshot({ path, folder, threads: 1, ...options })
  const text = await readFile(join(folder, 'features.pack'), 'utf8')
  return { report, place: JSON.parse(text).geometry.coordinates }
}

async function isAtPlace(path: string, options: Partial<CompileOptions> = {}, place = PLACE): Promise<void> {
  const compiled = await compile(path, options)
  for (const axis of [0, 1]) {
    const difference = Math.abs(compiled.place[axis]! - place[axis]!)
    assert.ok(difference < 1e-4, `${path}: ${compiled.place} instead of ${place}`)
  }
}

function pointText(coordinates: number[]): string {
  return `{"type":"Feature","properties":{"text":"a],\\"b\\":[","crs":"no"},"geometry":{"type":"Point","coordinates":${JSON.stringify(coordinates)}}}`
}

async function written(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(scratch, `${++serial}-${name}`)
  await writeFile(path, content)
  return path
}

/** The point converted to another format, with the given CRS or none. */
async function converted(name: string, crs: string | null): Promise<string> {
  const source = await written(
    'source.geojson',
    `{"type":"FeatureCollection","features":[${pointText(UTM)}]}`,
  )
  const path = join(scratch, `${++serial}-${name}`)
  execFileSync('ogr2ogr', ['-a_srs', crs ?? 'None', path, source])
  return path
}

const GEOSERVER = `{"type":"FeatureCollection","features":[${pointText(UTM)}],"totalFeatures":1,"numberMatched":1,"numberReturned":1,"timeStamp":"2026-11-15T12:00:00.000Z","crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::25832"}},"bbox":[550000,5800000,550000,5800000]}`

test('GeoJSON that names its CRS after its features is published in it', async () => {
  await isAtPlace(await written('geoserver.json', GEOSERVER))
  await isAtPlace(await written('geoserver.json', `${GEOSERVER}\n\n`))
  // The end of a compressed file cannot be read up front, so the error message must name the fix.
  const compressed = await written('geoserver.json.gz', gzipSync(GEOSERVER))
  await assert.rejects(compile(compressed), ({ problems }: InvalidSourceError) =>
    problems.some(({ message }) => message.includes('Name it with --crs urn:ogc:def:crs:EPSG::25832')),
  )
  await isAtPlace(compressed, { crs: 'urn:ogc:def:crs:EPSG::25832' })
  await isAtPlace(await written('geoserver.json', GEOSERVER), { crs: 'EPSG:25832' })
})

test('a URN with one colon names a CRS', async () => {
  for (const name of [
    'urn:ogc:def:crs:EPSG:25832',
    'urn:x-ogc:def:crs:EPSG:25832',
    'urn:ogc:def:crs:EPSG:6.9:25832',
  ]) {
    const text = GEOSERVER.replace('urn:ogc:def:crs:EPSG::25832', name)
    await isAtPlace(await written('urn.json', text))
  }
})

test('a .prj with a byte order mark is read', { skip: lacks('gdal') }, async () => {
  const shp = await converted('marked.shp', 'EPSG:25832')
  const prj = shp.replace(/shp$/, 'prj')
  await writeFile(prj, Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), await readFile(prj)]))
  await isAtPlace(shp)
})

test('a GeoPackage of an undefined CRS needs one that is named', { skip: lacks('gdal') }, async () => {
  const path = await converted('undefined.gpkg', 'EPSG:25832')
  const setSrs = (srs: number) => {
    const database = new DatabaseSync(path)
    database.exec(`PRAGMA foreign_keys = off; UPDATE gpkg_geometry_columns SET srs_id = ${srs}`)
    database.close()
  }
  setSrs(-1)
  await assert.rejects(compile(path), /has plane coordinates in an undefined CRS\. Name it with --crs/)
  await isAtPlace(path, { crs: 'EPSG:25832' })
  setSrs(0)
  await assert.rejects(compile(path), /Then name their CRS with --crs/)
  await isAtPlace(path, { crs: 'EPSG:25832' })
  // What current versions of GDAL write for a layer without a CRS.
  const database = new DatabaseSync(path)
  database.exec(`INSERT INTO gpkg_spatial_ref_sys VALUES ('Undefined SRS', 99999, 'GDAL', 99999,
    'LOCAL_CS["Undefined SRS",LOCAL_DATUM["unknown",32767],UNIT["unknown",0],AXIS["Easting",EAST],AXIS["Northing",NORTH]]',
    NULL)`)
  database.close()
  setSrs(99999)
  await assert.rejects(compile(path), /Then name their CRS with --crs/)
  await isAtPlace(path, { crs: 'EPSG:25832' })
})

const PARQUET = `
import json, struct, sys, pyarrow as pa, pyarrow.parquet as pq
from pyproj import CRS

class Wkb(pa.ExtensionType):
    def __init__(self, metadata):
        self.metadata = metadata
        super().__init__(pa.binary(), 'geoarrow.wkb')
    def __arrow_ext_serialize__(self):
        return self.metadata.encode()
    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type, serialized):
        return cls(serialized.decode())

pa.register_extension_type(Wkb('{}'))
folder, x, y = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
wkb = pa.array([struct.pack('<BIdd', 1, 1, x, y)], pa.binary())
utm = CRS('EPSG:25832')

def native(name, crs, **metadata):
    column = pa.ExtensionArray.from_storage(Wkb(json.dumps({} if crs is None else {'crs': crs})), wkb)
    table = pa.table({'a': [1], 'geom': column})
    writer = pq.ParquetWriter(f'{folder}/{name}.parquet', table.schema, store_schema=False)
    writer.write_table(table)
    writer.add_key_value_metadata(metadata)
    writer.close()

native('srid', 'srid:25832')
native('projjson', 'projjson:my_crs', my_crs=utm.to_json())
native('code', 'EPSG:25832')
native('missing', 'projjson:my_crs')
geo = {'version': '0.3.0', 'primary_column': 'geometry', 'columns': {'geometry': {'encoding': 'WKB', 'crs': utm.to_wkt('WKT2_2019')}}}
table = pa.table({'a': [1], 'geometry': wkb}).replace_schema_metadata({'geo': json.dumps(geo)})
pq.write_table(table, f'{folder}/wkt2.parquet')
`

test("Parquet's own CRSs and the WKT of early GeoParquet are read", { skip: lacks('python') }, async () => {
  const python = process.env['WAYLEAVE_TEST_PYTHON']
  assert.ok(python, 'WAYLEAVE_TEST_PYTHON must name a Python with pyarrow and pyproj; npm test sets it.')
  execFileSync(python, ['-c', PARQUET, scratch, ...UTM.map(String)])
  for (const name of ['srid', 'projjson', 'code', 'wkt2']) await isAtPlace(join(scratch, `${name}.parquet`))
  await assert.rejects(
    compile(join(scratch, 'missing.parquet')),
    /under "my_crs" in its metadata, but has no such entry\. Name it with --crs/,
  )
})

test('the report states the datum transformation and its accuracy', async () => {
  const path = await written('point.geojson', pointText([550000, 350000]))
  const { report } = await compile(path, { crs: 'EPSG:31287' })
  assert.equal(report.crs, 'EPSG:31287')
  assert.deepEqual(report.crsTransformation, { name: 'MGI to WGS 84 (8)', accuracy: 0.5 })
  const tyrol = await written('point.geojson', pointText([230000, 380000]))
  const { report: other } = await compile(tyrol, { crs: 'EPSG:31287' })
  assert.deepEqual(other.crsTransformation, { name: 'MGI to WGS 84 (3)', accuracy: 1.5 })
  const { report: utm } = await compile(await written('point.geojson', pointText(UTM)), { crs: 'EPSG:32632' })
  assert.equal(utm.crsTransformation, null)
})

test('a CRS that cannot be held within 20 m is refused unless the publisher insists', async () => {
  // Xian 1980 has no transformation without a grid; the one of ED50 in Tunisia is accurate to 44 m.
  const chinese = await written('point.geojson', pointText([113, 35]))
  await assert.rejects(
    compile(chinese, { crs: 'EPSG:4610' }),
    /No transformation from the datum of EPSG:4610 to WGS84 is known.*--allow-inaccurate-crs/,
  )
  await isAtPlace(chinese, { crs: 'EPSG:4610', allowInaccurateCrs: true }, [113, 35])
  const { report } = await compile(chinese, { crs: 'EPSG:4610', allowInaccurateCrs: true })
  assert.equal(report.crsTransformation?.accuracy, null)
  const tunisian = await written('point.geojson', pointText([10, 34]))
  await assert.rejects(
    compile(tunisian, { crs: 'EPSG:4230' }),
    /Coordinates in EPSG:4230 can be brought to WGS84 within 44 m only, and 20 m is the limit.*--allow-inaccurate-crs/,
  )
  const accepted = await compile(tunisian, { crs: 'EPSG:4230', allowInaccurateCrs: true })
  assert.deepEqual(accepted.report.crsTransformation, { name: 'ED50 to WGS 84 (16)', accuracy: 44 })
  // The same CRS is accurate elsewhere.
  const german = await written('point.geojson', pointText([9, 52]))
  assert.ok((await compile(german, { crs: 'EPSG:4230' })).report.crsTransformation!.accuracy! <= 10)
})

test('coordinates outside the areas of all transformations are refused unless the publisher insists', async () => {
  // The only transformation of Hanoi 1972 is published for the south of Vietnam.
  const north = await written('point.geojson', pointText([105.8, 21]))
  await assert.rejects(
    compile(north, { crs: 'EPSG:4147' }),
    /outside the areas of all known transformations from the datum of EPSG:4147.*--allow-inaccurate-crs/,
  )
  const accepted = await compile(north, { crs: 'EPSG:4147', allowInaccurateCrs: true })
  assert.deepEqual(accepted.report.crsTransformation, {
    name: 'Hanoi 1972 to WGS 84 (1), outside its area',
    accuracy: null,
  })
  // Partly in the area.
  const line = pointText([105.8, 21])
    .replace('"Point"', '"LineString"')
    .replace('[105.8,21]', '[[105.8,21],[106,10]]')
  const { report: partly } = await compile(await written('line.geojson', line), { crs: 'EPSG:4147' })
  assert.match(partly.notes.join(), /Parts of the bounding box lie outside the areas of all known/)
  // Within a degree of the area, and on a geocentric datum anywhere.
  const near = await written('point.geojson', pointText([105, 11.5]))
  assert.equal((await compile(near, { crs: 'EPSG:4147' })).report.crsTransformation!.accuracy, 5)
  assert.equal((await compile(near, { crs: 'EPSG:4283' })).report.crsTransformation!.accuracy, 3)
})

test('a CRS of another planet is refused', async () => {
  const path = await written('mars.geojson', pointText([10, 34]))
  const mars =
    'GEOGCS["Mars 2000",DATUM["D_Mars_2000",SPHEROID["Mars_2000",3396190,169.894447223612]],PRIMEM["Reference_Meridian",0],UNIT["degree",0.0174532925199433]]'
  await assert.rejects(compile(path, { crs: mars }), /is not one of the Earth/)
})
