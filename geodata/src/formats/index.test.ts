import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createWriteStream, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type TestContext, test } from 'node:test'
import { createGzip, gzipSync } from 'node:zlib'
import { ZipFile } from 'yazl'
import { lacks, needs } from '../../../scripts/test-run/needs.ts'
import { SourceError } from '../source-error.ts'
import { FORMATS, openSource, type SourceOptions } from './index.ts'
import {
  assertSameGeometries,
  assertSameRows,
  gdalFeatures,
  ogr2ogr,
  readAll,
  scratch,
  written,
} from './reading.test-kit.ts'

needs('time')

const NC = '/usr/lib/R/site-library/sf/shape/nc.shp'

async function zip(
  t: TestContext,
  name: string,
  entries: { [name: string]: Buffer | string | Readable },
): Promise<string> {
  const path = join(scratch(t), name)
  const archive = new ZipFile()
  for (const [entry, content] of Object.entries(entries)) {
    if (content instanceof Readable) archive.addReadStream(content, entry)
    else archive.addBuffer(Buffer.from(content as string), entry)
  }
  archive.end()
  await pipeline(archive.outputStream, createWriteStream(path))
  return path
}

const read = async (path: string, options: SourceOptions = {}) => readAll(openSource(path, options))
const refusal = (path: string, message: RegExp, options: SourceOptions = {}) =>
  assert.rejects(
    read(path, options),
    (error: Error) => error instanceof SourceError && message.test(error.message),
    `${basename(path)}: ${message}`,
  )

const withoutCoordinateNote = (notes: string[]) => notes.filter((note) => !/became the/.test(note))

const GEOJSON =
  '{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"a":1},"geometry":{"type":"Point","coordinates":[1,2]}}]}'
const KML = '<kml><Placemark><name>a</name><Point><coordinates>1,2</coordinates></Point></Placemark></kml>'

test('every format is recognised by its content, under its own name or a wrong one', {
  skip: lacks('gdal'),
}, async (t) => {
  const folder = scratch(t)
  const source = join(folder, 'source.geojson')
  writeFileSync(source, GEOJSON)
  for (const [driver, file] of [
    ['GPKG', 'a.gpkg'],
    ['FlatGeobuf', 'a.fgb'],
    ['ESRI Shapefile', 'a.shp'],
  ] as const)
    ogr2ogr('-f', driver, join(folder, file), source)
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const connection = await (await DuckDBInstance.create()).connect()
  await connection.run(
    `COPY (SELECT 1 AS a, 'POINT(1 2)'::GEOMETRY AS geometry) TO '${join(folder, 'a.parquet')}'`,
  )
  writeFileSync(join(folder, 'a.csv'), 'a,lon,lat\n1,1,2\n')
  writeFileSync(join(folder, 'a.tsv'), 'a\tlon\tlat\n1\t1\t2\n')
  writeFileSync(join(folder, 'a.kml'), KML)
  writeFileSync(join(folder, 'a.json'), '[{"a":1,"lon":1,"lat":2}]')
  writeFileSync(
    join(folder, 'a.ndjson'),
    '{"a":1,"geometry":{"type":"Point","coordinates":[1,2]}}\n{"a":2}\n',
  )
  const expected: { [file: string]: string } = {
    'source.geojson': 'geojson',
    'a.gpkg': 'geopackage',
    'a.fgb': 'flatgeobuf',
    'a.shp': 'shapefile',
    'a.parquet': 'parquet',
    'a.csv': 'csv',
    'a.tsv': 'csv',
    'a.kml': 'kml',
    'a.json': 'json',
    'a.ndjson': 'json',
  }
  for (const [file, format] of Object.entries(expected)) {
    const opened = await openSource(join(folder, file))
    const { features } = await readAll(opened)
    assert.equal(opened.format, format, file)
    assert.deepEqual(features[0]!.geometry, { type: 'Point', coordinates: [1, 2] }, file)
    assert.deepEqual(withoutCoordinateNote(opened.notes), [], file)
    const renamed = format === 'csv' ? 'b.gpkg' : 'b.csv'
    const wrong = await openSource(join(folder, file), { originalName: renamed })
    await readAll(wrong)
    assert.equal(wrong.format, format, `${file} as ${renamed}`)
    assert.match(
      withoutCoordinateNote(wrong.notes).join(),
      new RegExp(`^${renamed} is .* by its content and was read so`),
      file,
    )
    const title = FORMATS.find(({ name }) => name === format)!.title
    const other = format === 'kml' ? 'geopackage' : 'kml'
    await refusal(
      join(folder, file),
      new RegExp(`is not (KML|GeoPackage): by its content it is ${title}\\.$`),
      { format: other },
    )
  }
  await refusal(source, /^Unknown format dwg\. Supported: geojson, csv, /, { format: 'dwg' })
  await refusal(source, /is not GeoPackage: by its content it is GeoJSON/, { format: 'GPKG' })
  await refusal(source, /^Unknown format tab\./, { format: 'tab' })
})

test('a gzipped file is read as what is in it', async (t) => {
  const cases: [string, string, string][] = [
    ['a.geojson.gz', GEOJSON, 'geojson'],
    ['a.csv.gz', 'a,lon,lat\n1,1,2\n', 'csv'],
    ['a.kml.gz', KML, 'kml'],
    ['a.json.gz', '[{"lon":1,"lat":2}]', 'json'],
  ]
  for (const [name, content, format] of cases) {
    const opened = await openSource(written(t, name, gzipSync(content)))
    const { features } = await readAll(opened)
    assert.deepEqual([opened.format, features[0]!.geometry], [format, { type: 'Point', coordinates: [1, 2] }])
    assert.deepEqual(withoutCoordinateNote(opened.notes), [])
  }
})

test('a GeoPackage in a zip or gzip is unpacked, read and cleaned up', async (t) => {
  const bytes = readFileSync('/usr/lib/R/site-library/sf/gpkg/nc.gpkg')
  const scratchFolder = scratch(t)
  for (const path of [
    await zip(t, 'nc.zip', { 'data/nc.gpkg': bytes }),
    written(t, 'nc.gpkg.gz', gzipSync(bytes)),
  ]) {
    const opened = await openSource(path, { scratchFolder })
    assert.equal(readdirSync(scratchFolder).length, 1)
    assert.equal((await readAll(opened)).features.length, 100)
    assert.deepEqual(readdirSync(scratchFolder), [])
  }
  await refusal(
    await zip(t, 'bad.zip', { 'a.gpkg': bytes.subarray(0, 5000) }),
    /^bad\.zip\/a\.gpkg ends too early/,
    { scratchFolder },
  )
  assert.deepEqual(readdirSync(scratchFolder), [])
})

test('a zipped shapefile says the same as GDAL reads from it, at the top or in a folder', async (t) => {
  const theirs = gdalFeatures(NC)
  for (const prefix of ['', 'deep/folder/']) {
    const parts = ['shp', 'shx', 'dbf', 'prj'].map((part) => [
      `${prefix}NC.${part.toUpperCase()}`,
      readFileSync(NC.replace(/shp$/, part)),
    ])
    const path = await zip(t, 'nc.zip', {
      ...Object.fromEntries(parts),
      '__MACOSX/._nc.shp': 'x',
      [`${prefix}readme.txt`]: 'a',
    })
    const opened = await openSource(path)
    const { features, rows } = await readAll(opened)
    assertSameGeometries(features, theirs)
    assertSameRows(rows, theirs)
    assert.equal(opened.format, 'shapefile')
    assert.match(opened.crs!, /^GEOGCS/)
  }
})

test('of several layers or files in a zip one is chosen by name', async (t) => {
  const [shp, dbf] = [readFileSync(NC), readFileSync(NC.replace(/shp$/, 'dbf'))]
  const layers = await zip(t, 'two.zip', { 'a/roads.shp': shp, 'a/roads.dbf': dbf, 'rivers.shp': shp })
  await refusal(layers, /^two\.zip has 2 layers: roads, rivers\. Choose one with --layer\.$/)
  assert.equal((await read(layers, { layer: 'roads' })).stream.columns.length, 14)
  const files = await zip(t, 'files.zip', { 'a.csv': 'n\nx\n', 'b.csv': 'n\ny\n', 'readme.md': '' })
  await refusal(files, /^files\.zip has 2 layers: a\.csv, b\.csv\. Choose one with --layer\.$/)
  assert.deepEqual((await read(files, { layer: 'b.csv' })).rows, [{ n: 'y' }])
})

test('a KMZ is read by its main document', async (t) => {
  const path = await zip(t, 'a.kmz', { 'doc.kml': KML, 'files/other.kml': '<kml/>', 'files/icon.png': 'x' })
  const opened = await openSource(path)
  assert.deepEqual((await readAll(opened)).rows, [{ name: 'a' }])
  assert.equal(opened.format, 'kml')
})

test('what cannot be read gets a sentence that names the file', async (t) => {
  const junk = Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 7919 + 13) % 251))
  const cases: [name: string, content: string | Buffer, message: RegExp][] = [
    ['empty.csv', '', /^empty\.csv is empty\.$/],
    ['blank.json', ' \n \n', /^blank\.json is empty\.$/],
    ['header.csv', 'a,b,c\n', /^header\.csv has a header but no rows\.$/],
    ['junk.csv', junk, /^junk\.csv has an unknown format\. Supported formats: GeoJSON, CSV, /],
    ['junk.gpkg', junk, /^junk\.gpkg has an unknown format/],
    [
      'nul.csv',
      'a,b\n1,\0\n',
      /^nul\.csv contains a NUL character \(byte 7\), which text cannot have\. Remove such characters, for example with tr -d '\\000'/,
    ],
    ['late-nul.csv', `a,b\n${'1,2\n'.repeat(50000)}\0`, /^late-nul\.csv contains a NUL .*byte 200005/],
    ['nul.geojson', GEOJSON.replace('"type"', '"\0":1,"type"'), /^nul\.geojson contains a NUL .*byte 3/],
    ['quotes.csv', 'a,b\n1,"2\n3,4\n', /^quotes\.csv ends inside a quoted value that begins in row 1\.$/],
    [
      'wide.csv',
      `${Array.from({ length: 1_000_000 }, (_, i) => `c${i}`).join(',')}\n`,
      /^wide\.csv has 1000000 columns; at most 2000 are read\.$/,
    ],
    [
      'gml.gml',
      '<?xml version="1.0"?><gml:FeatureCollection/>',
      /^gml\.gml is XML, but not KML, GPX or GML\./,
    ],
    ['topology.json', '{"type":"Topology","objects":{},"arcs":[]}', /^topology\.json has no layer/],
    [
      'part.shx',
      readFileSync(NC.replace(/shp$/, 'shx')),
      /^part\.shx is a part of a shapefile\. Publish the \.shp beside it/,
    ],
    ['cut.geojson', GEOJSON.slice(0, -20), /^cut\.geojson ends inside feature 1\.$/],
    [
      'cut.csv.gz',
      gzipSync('a,b\n1,2\n'.repeat(1000)).subarray(0, 40),
      /^cut\.csv\.gz ends too early: its compressed data is cut off/,
    ],
    [
      'bad.csv.gz',
      Buffer.concat([gzipSync('a,b\n1,2\n'.repeat(1000)).subarray(0, 12), junk]),
      /^bad\.csv\.gz cannot be decompressed/,
    ],
    ['twice.gz', gzipSync(gzipSync('a,b\n1,2\n')), /^twice\.gz is compressed twice\.$/],
    ['a.tar', tar(), /^a\.tar is a tar archive\. Publish the file itself, or a zip of it\.$/],
    ['cut.zip', Buffer.from('504b0304140000000800', 'hex'), /^cut\.zip is not a whole zip file/],
  ]
  for (const [name, content, message] of cases) await refusal(written(t, name, content), message)
  await refusal(written(t, 'nul.txt', 'a,b\n1,\0\n'), /^nul\.txt contains a NUL/, { format: 'csv' })
  await refusal(
    await zip(t, 'none.zip', { 'readme.md': 'hello' }),
    /^none\.zip has no file in it that can be read\.$/,
  )
  await refusal(
    await zip(t, 'book.xlsx', { 'xl/workbook.xml': '<a/>', 'xl/_rels/workbook.xml.rels': '<a/>' }),
    /^book\.xlsx has no sheet with rows\.$/,
  )
  await refusal(
    await zip(t, 'inner.zip', { 'a.csv': gzipSync('a\n1\n') }),
    /^inner\.zip\/a\.csv is compressed twice\.$/,
  )
  await refusal(join(scratch(t), 'missing.csv'), /^missing\.csv cannot be read: it is not a file\.$/)
  await refusal(scratch(t), /is a folder without Parquet files\./)
})

function tar(): Buffer {
  const bytes = Buffer.alloc(1024, 'a')
  bytes.write('ustar', 257, 'latin1')
  return bytes
}

/** Rows that compress a thousandfold. */
function* regular(megabytes: number): Generator<Buffer> {
  for (let i = 0; i < megabytes; i++) yield Buffer.alloc(1 << 20, `1,${'2'.repeat(1021)}\n`)
}

/** Opens a file in a child process; returns the error message and the peak memory in megabytes. */
function inProcess(path: string): { message: string; peak: number } {
  const script = `
    import { openSource } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)}
    let message = ''
    try {
      const stream = await openSource(process.argv[1], { limits: { rowBytes: 8 << 20 } })
      for await (const batch of stream.batches()) batch.length
    } catch (error) { message = error.message }
    console.log(JSON.stringify({ message, peak: process.resourceUsage().maxRSS / 1024 }))`
  const answer = execFileSync(process.execPath, ['--input-type=module', '-e', script, path], {
    encoding: 'utf8',
  })
  return JSON.parse(answer)
}

test('bombs and endless rows are stopped, and memory stays bounded', async (t) => {
  const folder = scratch(t)
  const gzipped = join(folder, 'bomb.csv.gz')
  await pipeline(Readable.from(regular(90)), createGzip({ level: 9 }), createWriteStream(gzipped))
  const zipped = await zip(t, 'bomb.zip', { 'bomb.csv': Readable.from(regular(90)) })
  const line = join(folder, 'line.csv')
  await pipeline(Readable.from(repeated('x'.repeat(1 << 20), 40)), createWriteStream(line))
  const quote = join(folder, 'quote.csv')
  await pipeline(
    Readable.from(repeated(`a,b\n1,"${'2\n3,'.repeat(1 << 18)}`, 1, repeated('4\n5,'.repeat(1 << 18), 40))),
    createWriteStream(quote),
  )
  const object = join(folder, 'object.json')
  await pipeline(
    Readable.from(repeated('[{"a":"', 1, repeated('x'.repeat(1 << 20), 40))),
    createWriteStream(object),
  )
  const cases: [string, RegExp][] = [
    [
      gzipped,
      /^bomb\.csv\.gz decompresses to more than 200 times its size, the limit of WAYLEAVE_MAX_EXPANSION: it is refused as a decompression bomb\.$/,
    ],
    [zipped, /^bomb\.zip\/bomb\.csv decompresses to more than 200 times its size/],
    [line, /^line\.csv has a line that is larger than 8 MB, the limit of WAYLEAVE_MAX_FEATURE_BYTES\.$/],
    [
      quote,
      /^quote\.csv: row 1 is larger than 8 MB, the limit of WAYLEAVE_MAX_FEATURE_BYTES\. A quote in it is opened and not closed\.$/,
    ],
    [object, /^object\.json: row 1 is larger than 8 MB, the limit of WAYLEAVE_MAX_FEATURE_BYTES\.$/],
  ]
  for (const [path, message] of cases) {
    const found = inProcess(path)
    assert.match(found.message, message)
    assert.ok(found.peak < 300, `${basename(path)} took ${found.peak} MB`)
  }
})

function* repeated(text: string, times: number, then: Iterable<string> = []): Generator<string> {
  for (let i = 0; i < times; i++) yield text
  yield* then
}

test('limits can be set', async (t) => {
  await refusal(written(t, 'a.csv', 'a,b,c\n1,2,3\n'), /^a\.csv has 3 columns; at most 2 are read\.$/, {
    limits: { columns: 2 },
  })
  const small = written(t, 'a.csv.gz', gzipSync('a,b\n1,2\n'.repeat(1000)))
  await refusal(small, /^a\.csv\.gz decompresses to more than \d+ bytes\.$/, {
    limits: { decompressedBytes: 1000 },
  })
  assert.equal((await read(small, { limits: { columns: undefined } })).features.length, 1999)
})

test('KML without a namespace or its root element is read; other XML is not taken for it', async (t) => {
  const placemark = '<Placemark><name>a</name><Point><coordinates>1,2</coordinates></Point></Placemark>'
  for (const text of [
    `<kml><Document>${placemark}</Document></kml>`,
    `<?xml version="1.0"?><!-- made by hand --><Document><Folder>${placemark}</Folder></Document>`,
    placemark,
  ]) {
    const { features } = await readAll(openSource(written(t, 'a.kml', text)))
    assert.deepEqual(features[0]!.geometry, { type: 'Point', coordinates: [1, 2] })
  }
  await refusal(written(t, 'a.xml', '<Document><Payment/></Document>'), /is XML, but not KML/)
})
