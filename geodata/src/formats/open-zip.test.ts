import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { needs } from '../../../scripts/test-run/needs.ts'
import { openSource } from './index.ts'
import { ogr2ogr, readAll, scratch, type ZipEntries, zipped } from './reading.test-kit.ts'

needs('gdal')

const NC = '/usr/lib/R/site-library/sf/shape/nc'
const GDAL_NOTE = 'The file was read with GDAL, as OpenFileGDB.'

/** The files of a geodatabase with one layer, in a folder of the zip. */
function geodatabase(t: TestContext, folder: string, layer: string): ZipEntries {
  const path = join(scratch(t), 'made.gdb')
  ogr2ogr('-f', 'OpenFileGDB', path, `${NC}.shp`, '-nln', layer, '-nlt', 'PROMOTE_TO_MULTI')
  return Object.fromEntries(readdirSync(path).map((name) => [folder + name, readFileSync(join(path, name))]))
}

test('a geodatabase is read from the root of a zip and from a folder with any name', async (t) => {
  for (const folder of ['', 'data/', 'a/b/', 'counties.gdb/', 'a/b/counties.gdb/']) {
    const path = await zipped(t, 'counties.gdb.zip', geodatabase(t, folder, 'counties'))
    const { stream, features } = await readAll(openSource(path))
    assert.equal(features.length, 100, folder)
    assert.deepEqual(stream.notes, [GDAL_NOTE], folder)
  }
})

test('of several geodatabases in a zip one is read, and the report names the others', async (t) => {
  const path = await zipped(t, 'two.zip', {
    ...geodatabase(t, 'one.gdb/', 'one'),
    ...geodatabase(t, 'two.gdb/', 'two'),
    'extra.csv': 'a,b\n1,2\n',
  })
  const { stream, features } = await readAll(openSource(path))
  assert.equal(features.length, 100)
  assert.deepEqual(stream.notes, [
    GDAL_NOTE,
    'two.zip also has two.gdb, extra.csv: ignored. Publish what is missing as a dataset of its own.',
  ])
})

test('the report names readable files beside a shapefile, but not texts about the data', async (t) => {
  const part = (extension: string) => readFileSync(`${NC}.${extension}`)
  const shapefile = { 'nc.shp': part('shp'), 'NC.dbf': part('dbf'), 'nc.prj': part('prj') }
  const about = { 'README.txt': 'x', 'docs/license.txt': 'x', 'nc.shp.xml': '<x/>', 'nc_metadata.json': '{}' }
  const whole = await readAll(openSource(await zipped(t, 'a.zip', { ...shapefile, ...about })))
  assert.deepEqual(whole.stream.notes, [])
  const database = geodatabase(t, 'counties.gdb/', 'counties')
  const both = await readAll(openSource(await zipped(t, 'both.zip', { ...shapefile, ...database })))
  assert.deepEqual(both.stream.notes, [
    'both.zip also has counties.gdb: ignored. Publish what is missing as a dataset of its own.',
  ])
  const csvs = Object.fromEntries([1, 2, 3, 4, 5, 6, 7].map((n) => [`${n}.csv`, 'a,b\n1,2\n']))
  const { stream, features } = await readAll(openSource(await zipped(t, 'b.zip', { ...shapefile, ...csvs })))
  assert.equal(features.length, 100)
  assert.deepEqual(stream.notes, [
    'b.zip also has 1.csv, 2.csv, 3.csv, 4.csv, 5.csv and 2 more: ignored. Publish what is missing as a dataset of its own.',
  ])
})
