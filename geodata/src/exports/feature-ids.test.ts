import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { promisify } from 'node:util'
import type { ExportFormat } from '@wayleave/contract/export-formats'
import { needs } from '../../../scripts/test-run/needs.ts'
import { openDuckDb } from '../open-duckdb.ts'
import { buildExport, exportGeneration } from './index.ts'
import {
  compileFeatures,
  type Fixture,
  type FixtureFeature,
  temporaryFolder,
} from './testing/compiled-fixture.ts'

needs('gdal')

const run = promisify(execFile)

const place = (i: number) => ({ type: 'Point' as const, coordinates: [i, i] })

/** The ids by a column of this name in every format; null for a format without the column. */
async function readIds(
  folder: string,
  fixture: Fixture,
  name: string,
): Promise<Record<string, unknown[] | null>> {
  const build = async (format: ExportFormat, extension: string) => {
    const path = join(folder, `places.${extension}`)
    await buildExport(fixture.folder, format, path, { table: 'places' }, fixture.manifest)
    return path
  }
  const json = JSON.parse(await readFile(await build('json', 'json'), 'utf8')) as Record<string, unknown>[]
  const paths = {
    csv: await build('csv', 'csv'),
    kml: await build('kml', 'kml'),
    shp: `/vsizip/${await build('shp', 'shp.zip')}`,
    gpkg: await build('gpkg', 'gpkg'),
    fgb: await build('fgb', 'fgb'),
  }
  const found: Record<string, unknown[] | null> = {
    json: name in json[0]! ? json.map((row) => row[name]) : null,
  }
  for (const [format, path] of Object.entries(paths)) {
    const { stdout } = await run('ogr2ogr', ['-f', 'GeoJSON', '/vsistdout/', path, '-lco', 'ID_GENERATE=NO'])
    const features = JSON.parse(stdout).features as { properties: Record<string, unknown> }[]
    const field = Object.keys(features[0]!.properties).find((each) => each === name)
    found[format] = field === undefined ? null : features.map(({ properties }) => properties[field])
  }
  const parquet = await build('geoparquet', 'parquet')
  const { connection, close } = await openDuckDb({ threads: 1, memoryLimit: '256MB', files: [parquet] })
  const rows = (
    await connection.runAndReadAll(`SELECT * FROM read_parquet('${parquet}')`)
  ).getRowObjectsJson()
  close()
  found['geoparquet'] = name in rows[0]! ? rows.map((row) => row[name]) : null
  return found
}

const asTexts = (ids: unknown[] | null) => ids?.map(String).sort() ?? null

test('an id that is more than the row number is a column of every format', async (t) => {
  const cases: [title: string, features: FixtureFeature[], name: string, ids: string[] | null][] = [
    [
      'texts',
      [7, 3].map((i) => ({ geometry: place(i), properties: { n: i }, id: `k"${i}` })),
      'id',
      ['k"3', 'k"7'],
    ],
    [
      'integers',
      [70, 30].map((i) => ({ geometry: place(i), properties: { n: i }, id: i })),
      'id',
      ['30', '70'],
    ],
    ['a table', [70, 30].map((i) => ({ properties: { n: i }, id: i })), 'id', ['30', '70']],
    [
      'a column id with other values',
      [7, 3].map((i) => ({ geometry: place(i), properties: { ID: 'x' }, id: i })),
      'feature_id',
      ['3', '7'],
    ],
    [
      'a column id with the same values',
      [7, 3].map((i) => ({ geometry: place(i), properties: { id: i }, id: i })),
      'id',
      ['3', '7'],
    ],
    ['row numbers', [1, 2].map((i) => ({ geometry: place(i), properties: { n: i }, id: i })), 'id', null],
    ['no ids', [1, 2].map((i) => ({ geometry: place(i), properties: { n: i } })), 'id', null],
  ]
  for (const [title, features, name, expected] of cases) {
    const folder = await temporaryFolder(t.after.bind(t))
    const fixture = await compileFeatures(join(folder, 'snapshot'), features)
    const found = await readIds(folder, fixture, name.slice(0, 10))
    for (const [format, ids] of Object.entries(found)) {
      assert.deepEqual(asTexts(ids), expected, `${title} in ${format}`)
    }
    const database = new DatabaseSync(join(folder, 'places.gpkg'), { readOnly: true })
    const fids = database
      .prepare('SELECT fid FROM places ORDER BY fid')
      .all()
      .map(({ fid }) => fid)
    database.close()
    const areIntegers = expected !== null && title !== 'texts'
    assert.deepEqual(fids, areIntegers ? expected.map(Number) : [1, 2], `${title}: fids`)
  }
})

test('exports of a snapshot from before ids were exported stay as they were', async (t) => {
  const folder = await temporaryFolder(t.after.bind(t))
  const features = [70, 30].map((i) => ({ geometry: place(i), properties: { n: i }, id: i }))
  const fixture = await compileFeatures(join(folder, 'snapshot'), features)
  const { name: _, isRowNumber: __, ...id } = fixture.manifest.id
  const older = { ...fixture, manifest: { ...fixture.manifest, id } }
  // The older program wrote no ids into `rows.parquet` either.
  const { geoparquet: ___, ...found } = await readIds(folder, older, 'id')
  for (const [format, ids] of Object.entries(found)) assert.equal(ids, null, format)
  const database = new DatabaseSync(join(folder, 'places.gpkg'), { readOnly: true })
  assert.deepEqual(
    database
      .prepare('SELECT fid FROM places')
      .all()
      .map(({ fid }) => fid),
    [1, 2],
  )
  database.close()
  assert.deepEqual([exportGeneration(older.manifest), exportGeneration(fixture.manifest)], [1, 2])
})
