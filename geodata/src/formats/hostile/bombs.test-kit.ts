import { execFileSync } from 'node:child_process'
import { closeSync, createWriteStream, ftruncateSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pipeline } from 'node:stream/promises'
import { gzipSync } from 'node:zlib'
import { Builder } from 'flatbuffers'
import { ZipFile } from 'yazl'
import type { SourceOptions } from '../source-context.ts'

/** A small file that would take much memory or disk if its bytes were believed. */
export interface Bomb {
  name: string
  format: string
  /** Writes the file and returns its path. */
  make(folder: string): string | Promise<string>
  options?: Pick<SourceOptions, 'layer' | 'format'>
  /** The sentence with which it is refused. */
  expected: RegExp
}

const EXPANSION = /holds more than .* WAYLEAVE_MAX_EXPANSION/
const LARGE_ROW = /larger than .* WAYLEAVE_MAX_FEATURE_BYTES/

export const BOMBS: Bomb[] = [
  {
    name: 'shared strings that every cell repeats',
    format: 'xlsx',
    make: (folder) =>
      workbook(folder, {
        'xl/sharedStrings.xml': `<sst><si><t>${'x'.repeat(30_000)}</t></si></sst>`,
        'xl/worksheets/sheet1.xml': sheet(
          `<row>${'<c t="str"><v>name</v></c>'.repeat(50)}</row>` +
            `<row>${'<c t="s"><v>0</v></c>'.repeat(50)}</row>`.repeat(1000),
        ),
      }),
    expected: EXPANSION,
  },
  {
    name: 'elements nested without end',
    format: 'xlsx',
    make: (folder) => workbook(folder, { 'xl/worksheets/sheet1.xml': sheet('<a>'.repeat(2_000_000)) }),
    expected: /elements nested more than 256 deep/,
  },
  {
    name: 'rows and cells that are repeated',
    format: 'ods',
    make: (folder) =>
      openDocument(
        folder,
        `<table:table-row table:number-rows-repeated="1000000">${cell('<text:p>long text</text:p>', 500)}</table:table-row>`,
      ),
    expected: EXPANSION,
  },
  {
    name: 'spaces that are repeated',
    format: 'ods',
    make: (folder) =>
      openDocument(
        folder,
        `<table:table-row>${cell(`<text:p>${'<text:s text:c="1000"/>'.repeat(50_000)}</text:p>`, 1)}</table:table-row>`,
      ),
    expected: LARGE_ROW,
  },
  {
    name: 'a long text in a dictionary',
    format: 'parquet',
    make: (folder) => parquet(folder, `dictionary(["x" * (4 << 20)], 100_000)`),
    expected: EXPANSION,
  },
  {
    name: 'texts in a dictionary',
    format: 'parquet',
    make: (folder) => parquet(folder, `dictionary([str(i) + "y" * 60_000 for i in range(100)], 100_000)`),
    expected: EXPANSION,
  },
  {
    name: 'texts that share their beginnings',
    format: 'parquet',
    make: (folder) => parquet(folder, `pa.array(["x" * (1 << 20)] * 600)`, DELTA),
    expected: /WAYLEAVE_(MAX_EXPANSION|PUBLISH_MEMORY)/,
  },
  {
    name: 'a number that all rows share',
    format: 'parquet',
    make: (folder) => parquet(folder, `pa.repeat(pa.scalar(1, pa.int64()), 5_000_000)`),
    expected: EXPANSION,
  },
  {
    name: 'a list of the same number',
    format: 'parquet',
    make: (folder) =>
      parquet(
        folder,
        `pa.ListArray.from_arrays(pa.array([0, 20_000_000], pa.int32()), pa.repeat(pa.scalar(1, pa.int8()), 20_000_000))`,
      ),
    expected: /WAYLEAVE_(MAX_FEATURE_BYTES|PUBLISH_MEMORY)/,
  },
  {
    name: 'a text in a dictionary',
    format: 'arrow',
    make: (folder) => arrow(folder, `dictionary(["x" * (1 << 20)], 100_000)`),
    expected: EXPANSION,
  },
  {
    name: 'a column that is compressed to nothing',
    format: 'arrow',
    make: (folder) => arrow(folder, `pa.array(["x" * (4 << 20)] * 40)`),
    expected: EXPANSION,
  },
  {
    name: 'a view without an end',
    format: 'geopackage',
    make: (folder) => geopackage(folder, `printf('%.*c', 90000, 'x') AS t`),
    expected: EXPANSION,
  },
  {
    name: 'a view without an end',
    format: 'spatialite',
    make: spatialite,
    options: { layer: 'endless', format: 'spatialite' },
    expected: EXPANSION,
  },
  {
    name: 'an arc that one geometry uses many times',
    format: 'topojson',
    make: (folder) => topojson(folder, [Array(20_000).fill(0)], 1),
    expected: LARGE_ROW,
  },
  {
    name: 'an arc that many geometries use',
    format: 'topojson',
    make: (folder) => topojson(folder, [Array(10).fill(0)], 5000),
    expected: EXPANSION,
  },
  {
    name: 'the long name of a folder with many placemarks',
    format: 'kml',
    make: (folder) =>
      file(
        folder,
        'folder.kml',
        `<kml><Folder><name>${'f'.repeat(100_000)}</name>${'<Placemark><name>a</name></Placemark>'.repeat(20_000)}</Folder></kml>`,
      ),
    expected: EXPANSION,
  },
  {
    name: 'parts that share their bytes, at every depth',
    format: 'flatgeobuf',
    make: flatgeobuf,
    expected: /the feature is damaged/,
  },
  {
    name: 'the long name of a column, in every row',
    format: 'csv',
    make: (folder) => file(folder, 'names.csv', `a,${'n'.repeat(1 << 20)}\n${'1,2\n'.repeat(10_000)}`),
    expected: /a column whose name has 1048576 characters/,
  },
  {
    name: 'a field whose quotes do not end',
    format: 'csv',
    make: (folder) => file(folder, 'quotes.csv', `a,b\n1,"${'x,\n'.repeat(10 << 20)}`),
    expected: LARGE_ROW,
  },
  {
    name: 'a text without an end',
    format: 'gpx',
    make: (folder) => file(folder, 'text.gpx', `<gpx><wpt lat="1" lon="2"><name>${'x'.repeat(64 << 20)}`),
    expected: /larger than/,
  },
  {
    name: 'rows that compress to nothing',
    format: 'csv',
    make: (folder) => file(folder, 'zeros.csv.gz', gzipSync(`a,b\n${'0,0\n'.repeat(32 << 20)}`)),
    expected: /decompresses to more than .* WAYLEAVE_MAX_EXPANSION/,
  },
  {
    name: 'a sparse file',
    format: 'csv',
    make(folder) {
      const path = file(folder, 'sparse.csv', 'a,b\n1,2\n')
      const handle = openSync(path, 'r+')
      ftruncateSync(handle, 2 ** 40)
      closeSync(handle)
      return path
    },
    expected: /unknown format/,
  },
  {
    name: 'a geometry that claims four billion positions',
    format: 'geopackage',
    make: (folder) => geopackage(folder, `x'47500001000000000102000000ffffffff' AS geom`, 1),
    expected: /the geometry ends too early/,
  },
]

function file(folder: string, name: string, content: string | Uint8Array): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

/** Not compressed, so that it is not the limit of decompression that refuses it. */
async function zip(folder: string, name: string, entries: { [name: string]: string }): Promise<string> {
  const path = join(folder, name)
  const archive = new ZipFile()
  for (const [entry, content] of Object.entries(entries))
    archive.addBuffer(Buffer.from(content), entry, { compress: false })
  archive.end()
  await pipeline(archive.outputStream, createWriteStream(path))
  return path
}

function sheet(rows: string): string {
  return `<worksheet><sheetData>${rows}</sheetData></worksheet>`
}

function workbook(folder: string, parts: { [name: string]: string }): Promise<string> {
  return zip(folder, 'bomb.xlsx', {
    'xl/workbook.xml': '<workbook><sheets><sheet name="a" r:id="r1"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels':
      '<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/></Relationships>',
    ...parts,
  })
}

function cell(content: string, repeated: number): string {
  return `<table:table-cell office:value-type="string" table:number-columns-repeated="${repeated}">${content}</table:table-cell>`
}

function openDocument(folder: string, rows: string): Promise<string> {
  return zip(folder, 'bomb.ods', {
    mimetype: 'application/vnd.oasis.opendocument.spreadsheet',
    'content.xml': `<office:document-content><table:table table:name="a">${rows}</table:table></office:document-content>`,
  })
}

const PYTHON = `
import sys, pyarrow as pa, pyarrow.parquet, pyarrow.feather
def dictionary(texts, rows):
    return pa.DictionaryArray.from_arrays(pa.array([i % len(texts) for i in range(rows)], pa.int32()), pa.array(texts))
`

function python(path: string, script: string): string {
  execFileSync(process.env['WAYLEAVE_TEST_PYTHON'] ?? 'python3', ['-c', PYTHON + script, path])
  return path
}

const DICTIONARY = 'dictionary_pagesize_limit=1 << 30'
const DELTA = 'use_dictionary=False, column_encoding={"a": "DELTA_BYTE_ARRAY"}, data_page_size=1 << 30'

function parquet(folder: string, column: string, options = DICTIONARY): string {
  return python(
    join(folder, 'bomb.parquet'),
    `pa.parquet.write_table(pa.table({"a": ${column}}), sys.argv[1], compression="zstd", ${options})`,
  )
}

function arrow(folder: string, column: string): string {
  return python(
    join(folder, 'bomb.feather'),
    `pa.feather.write_feather(pa.table({"a": ${column}}), sys.argv[1], compression="zstd")`,
  )
}

/** A view of a trillion rows. Recursive views are refused before they are read. */
const THOUSAND = `CREATE TABLE n (i INTEGER);
    INSERT INTO n WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT 1000) SELECT i FROM c;`
const TRILLION = 'n AS n CROSS JOIN n AS b CROSS JOIN n AS c CROSS JOIN n AS d'

function geopackage(folder: string, column: string, rows?: number): string {
  const path = join(folder, 'bomb.gpkg')
  const database = new DatabaseSync(path)
  const type = column.endsWith('geom') ? 'features' : 'attributes'
  database.exec(`PRAGMA application_id = 1196444487;
    CREATE TABLE gpkg_contents (table_name TEXT, data_type TEXT, identifier TEXT);
    INSERT INTO gpkg_contents VALUES ('layer', '${type}', 'layer');
    CREATE TABLE gpkg_geometry_columns (table_name TEXT, column_name TEXT, geometry_type_name TEXT, srs_id INTEGER);
    CREATE TABLE gpkg_spatial_ref_sys (srs_id INTEGER, organization TEXT, organization_coordsys_id INTEGER, definition TEXT);
    ${type === 'features' ? "INSERT INTO gpkg_geometry_columns VALUES ('layer', 'geom', 'GEOMETRY', 0);" : ''}
    ${THOUSAND} CREATE VIEW layer AS SELECT n.i, ${column} FROM ${TRILLION}${rows === undefined ? '' : ` LIMIT ${rows}`}`)
  database.close()
  return path
}

function spatialite(folder: string): string {
  const path = join(folder, 'bomb.sqlite')
  execFileSync('ogr2ogr', ['-f', 'SQLite', '-dsco', 'SPATIALITE=YES', path, seed(folder)])
  const database = new DatabaseSync(path)
  database.exec(
    `${THOUSAND} CREATE VIEW endless AS SELECT n.i, printf('%.*c', 90000, 'x') AS t FROM ${TRILLION}`,
  )
  database.close()
  return path
}

function seed(folder: string): string {
  const geometry = { type: 'Point', coordinates: [1, 2] }
  return file(folder, 'seed.geojson', JSON.stringify({ type: 'Feature', geometry, properties: { a: 1 } }))
}

function topojson(folder: string, arcs: number[][], geometries: number): string {
  const arc = Array.from({ length: 1001 }, (_, i) => [i % 2, (i >> 1) % 2])
  const polygons = Array.from({ length: geometries }, () => ({ type: 'Polygon', arcs }))
  const topology = {
    type: 'Topology',
    objects: { a: { type: 'GeometryCollection', geometries: polygons } },
    arcs: [arc],
  }
  return file(folder, 'bomb.topojson', JSON.stringify(topology))
}

/** A collection of collections, each of whose parts are the same: 50 to the power of 20 points. */
function flatgeobuf(folder: string): string {
  const path = join(folder, 'bomb.fgb')
  const header = new Builder()
  header.startObject(14)
  header.finishSizePrefixed(header.endObject())
  const feature = new Builder()
  let geometry = geometryTable(feature, 1, null)
  for (let depth = 0; depth < 20; depth++) {
    feature.startVector(4, 50, 4)
    for (let i = 0; i < 50; i++) feature.addOffset(geometry)
    geometry = geometryTable(feature, 7, feature.endVector())
  }
  feature.startObject(3)
  feature.addFieldOffset(0, geometry, 0)
  feature.finishSizePrefixed(feature.endObject())
  const handle = openSync(path, 'w')
  const magic = Buffer.from('6667620366676200', 'hex')
  for (const bytes of [magic, header.asUint8Array(), feature.asUint8Array()]) writeSync(handle, bytes)
  closeSync(handle)
  return path
}

function geometryTable(builder: Builder, type: number, parts: number | null): number {
  builder.startObject(8)
  builder.addFieldInt8(6, type, 0)
  if (parts !== null) builder.addFieldOffset(7, parts, 0)
  return builder.endObject()
}
