import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { SourceError } from '../../source-error.ts'
import { openSource } from '../index.ts'
import { readAll, scratch } from '../reading.test-kit.ts'

/** A GeoPackage with one row, whose second row was written by a connection that is still open. */
function openElsewhere(t: TestContext, mode: 'wal' | 'delete'): { folder: string; writer: DatabaseSync } {
  const folder = scratch(t)
  const writer = new DatabaseSync(join(folder, 'a.gpkg'))
  t.after(() => writer.close())
  writer.exec(`PRAGMA journal_mode = ${mode};
    CREATE TABLE gpkg_contents (table_name TEXT, data_type TEXT);
    INSERT INTO gpkg_contents VALUES ('t', 'attributes');
    CREATE TABLE t (name TEXT); INSERT INTO t VALUES ('old')`)
  if (mode === 'wal') writer.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  return { folder, writer }
}

async function namesIn(path: string, scratchFolder?: string): Promise<{ names: unknown[]; notes: string[] }> {
  const { rows, stream } = await readAll(openSource(path, { scratchFolder }))
  return { names: rows.map(({ name }) => name), notes: stream.notes }
}

test('changes in the -wal file of a GeoPackage that another program has open are published', async (t) => {
  const { folder, writer } = openElsewhere(t, 'wal')
  const path = join(folder, 'a.gpkg')
  assert.deepEqual(await namesIn(path), { names: ['old'], notes: [] })
  writer.exec(`UPDATE t SET name = 'changed'; INSERT INTO t VALUES ('new')`)
  const [files, bytes] = [readdirSync(folder), readFileSync(path)]
  const scratchFolder = scratch(t)
  const notes = ['The changes in a.gpkg-wal, beside a.gpkg, were included.']
  assert.deepEqual(await namesIn(path, scratchFolder), { names: ['changed', 'new'], notes })
  assert.deepEqual(readdirSync(scratchFolder), [], 'the copy is removed')
  assert.deepEqual([readdirSync(folder), readFileSync(path)], [files, bytes], 'nothing is written beside it')
  const link = join(scratch(t), 'link.gpkg')
  symlinkSync(path, link)
  assert.deepEqual((await namesIn(link)).names, ['changed', 'new'])
  const left = join(folder, 'left')
  mkdirSync(left)
  for (const suffix of ['', '-wal']) copyFileSync(`${path}${suffix}`, join(left, `a.gpkg${suffix}`))
  assert.deepEqual((await namesIn(join(left, 'a.gpkg'))).names, ['changed', 'new'], 'without its -shm')
  const alone = join(folder, 'alone.gpkg')
  copyFileSync(path, alone)
  assert.deepEqual((await namesIn(alone)).names, ['old'], 'without its -wal')
})

test('a layer that is only in the -wal file is found', async (t) => {
  const folder = scratch(t)
  const writer = new DatabaseSync(join(folder, 'a.gpkg'))
  t.after(() => writer.close())
  writer.exec(`PRAGMA journal_mode = wal; CREATE TABLE gpkg_contents (table_name TEXT, data_type TEXT);
    INSERT INTO gpkg_contents VALUES ('t', 'attributes'); CREATE TABLE t (name TEXT); INSERT INTO t VALUES ('x')`)
  assert.deepEqual((await namesIn(join(folder, 'a.gpkg'))).names, ['x'])
})

test('a GeoPackage in the middle of a change is refused, and read after it', async (t) => {
  const { folder, writer } = openElsewhere(t, 'delete')
  const path = join(folder, 'a.gpkg')
  // A small cache makes SQLite write pages before the change is complete.
  writer.exec(`PRAGMA cache_size = 2; CREATE TABLE large (a); BEGIN; UPDATE t SET name = 'half'`)
  for (let i = 0; i < 50; i++) writer.exec('INSERT INTO large VALUES (zeroblob(5000))')
  await assert.rejects(
    namesIn(path),
    (error: Error) => error instanceof SourceError && /^a\.gpkg has unfinished changes/.test(error.message),
  )
  writer.exec('ROLLBACK')
  assert.deepEqual((await namesIn(path)).names, ['old'])
  writeFileSync(`${path}-journal`, Buffer.alloc(512))
  assert.deepEqual((await namesIn(path)).names, ['old'], 'a journal that was finished and kept')
})
