import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { cleanUp } from '../../../testing/cleanup.ts'
import { temporaryFolder } from '../../../testing/test-server.ts'
import { isUniqueViolation } from '../open.ts'
import { RemoteSqlite, SqliteHost, type SqliteQuestion } from './remote-sqlite.ts'
import { OwnSqlite } from './sqlite-source.ts'

const insert = (id: number) => ({ sql: 'insert into t values (?)', parameters: [id] })
const BEGIN = { sql: 'begin immediate', parameters: [] }
const IDS = { sql: 'select id from t', parameters: [] }

test('a thread that ends in a transaction, or waiting for one, leaves no row and no lock', async (t) => {
  const own = new OwnSqlite(join(temporaryFolder(t), 'test.db'))
  await own.open()
  cleanUp(t, () => own.close())
  const setUp = own.session()
  await setUp.run({ sql: 'create table t (id integer primary key)', parameters: [] }, false)
  setUp.release()
  const threads = [1, 2].map(() => {
    const host = new SqliteHost(own)
    const ask = (_: string, question: unknown) => host.answer(structuredClone(question) as SqliteQuestion)
    const tell = (_: string, session: unknown) => host.release(session as number)
    return { host, remote: new RemoteSqlite({ ask: ask as never, tell }) }
  })
  const [one, two] = threads as [(typeof threads)[0], (typeof threads)[0]]

  const session = one.remote.session()
  await session.run(BEGIN, false)
  await session.run(insert(1), false)
  const waiting = assert.rejects(two.remote.session().run(insert(2), false), { name: 'DatabaseError' })
  await Promise.all([one.host.close(), two.host.close()])
  await waiting

  const later = two.remote.session()
  await later.run(insert(3), false)
  later.release()
  const again = two.remote.session()
  await assert.rejects(again.run(insert(3), false), isUniqueViolation)
  again.release()
  const { rows } = await one.remote.session().run(IDS, true)
  assert.deepEqual(rows, [{ id: 3 }])
})
