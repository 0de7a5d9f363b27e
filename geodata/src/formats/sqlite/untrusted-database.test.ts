import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { SourceError } from '../../source-error.ts'
import { scratch } from '../reading.test-kit.ts'
import { UntrustedDatabase } from './untrusted-database.ts'

function opened(t: TestContext, sql: string): UntrustedDatabase {
  const path = join(scratch(t), 'a.db')
  const writer = new DatabaseSync(path)
  writer.exec(sql)
  writer.close()
  const database = new UntrustedDatabase(path, 'a.db')
  t.after(() => database.close())
  return database
}

function refusal(call: () => unknown): string {
  let message = 'nothing was refused'
  assert.throws(call, (error: Error) => {
    message = error.message
    return error instanceof SourceError
  })
  return message
}

test('only statements that read tables of the file can be prepared', (t) => {
  const database = opened(t, `CREATE TABLE t (a); INSERT INTO t VALUES (1)`)
  assert.deepEqual({ ...database.prepare('SELECT max(a) AS m FROM t').get() }, { m: 1 })
  for (const sql of [
    'INSERT INTO t VALUES (2)',
    'DELETE FROM t',
    'CREATE TABLE u (a)',
    'CREATE TEMP TABLE u (a)',
    'CREATE TEMP VIEW u AS SELECT 1',
    'CREATE VIRTUAL TABLE temp.u USING dbstat',
    `ATTACH 'b.db' AS b`,
    'BEGIN',
    'SAVEPOINT s',
    'ANALYZE',
    'PRAGMA writable_schema = ON',
    'PRAGMA trusted_schema = ON',
    'PRAGMA database_list',
    `SELECT load_extension('x')`,
    'SELECT sqlite_version()',
    'SELECT * FROM dbstat',
    'SELECT count(*) FROM pragma_table_list',
    'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n',
  ])
    assert.match(
      refusal(() => database.prepare(sql)),
      /^a\.db uses .*, which is not executed\.$/,
      sql,
    )
  assert.throws(() => database.prepare('VACUUM').run())
})

test('a view is refused for a virtual table, however its name is written, and for those of its views', (t) => {
  const names = ['Index_', '"index_"', '[index_]', '`INDEX_`', "'index_'", 'main.index_', '/* x */index_']
  const database = opened(
    t,
    `CREATE VIRTUAL TABLE index_ USING rtree(id, a, b); CREATE TABLE t (a);
     ${names.map((name, i) => `CREATE VIEW v${i} AS SELECT id FROM ${name};`).join('')}
     CREATE VIEW "o""uter" AS SELECT * FROM t WHERE a IN (SELECT id FROM v0);
     CREATE VIEW good AS WITH n AS (SELECT 1 FROM t) SELECT 'index' AS a /* index_ */ FROM n -- index_`,
  )
  for (const name of [...names.map((_, i) => `v${i}`), 'o"uter'])
    assert.match(
      refusal(() => database.requireReadable(name)),
      /is a view that uses the virtual table index_ of the module rtree\./,
      name,
    )
  assert.match(
    refusal(() => database.columnsOf('index_')),
    /^a\.db: index_ is a virtual table of the module rtree\./,
  )
  database.requireReadable('good')
  assert.equal(database.select('*', 'good').length, 0)
})

test('a table named like a keyword or a module is an ordinary one', (t) => {
  const database = opened(
    t,
    `CREATE TABLE "if" (a); CREATE TABLE "dbstat" (a); INSERT INTO dbstat VALUES (5); CREATE VIEW "view" AS SELECT * FROM dbstat`,
  )
  assert.deepEqual(
    database.select('*', 'view').map((row) => ({ ...row })),
    [{ a: 5 }],
  )
  assert.ok(database.has('IF'))
})
