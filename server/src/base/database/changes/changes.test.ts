import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { lacks } from '../../../../../scripts/test-run/needs.ts'
import { cleanUp } from '../../../testing/cleanup.ts'
import {
  type DatabaseKind,
  databaseKinds,
  temporaryDatabase,
  temporaryFolder,
} from '../../../testing/test-server.ts'
import { type ControlDatabase, openDatabase } from '../open.ts'
import type { Changes } from './changes.ts'
import { openChanges } from './open-changes.ts'

interface Node {
  database: ControlDatabase
  changes: Changes
  heard: string[]
}

async function openNodes(t: TestContext, kind: DatabaseKind, serving: boolean[]): Promise<Node[]> {
  const options = {
    dataDir: temporaryFolder(t),
    databaseUrl: kind === 'postgres' ? await temporaryDatabase(t) : null,
  }
  const nodes: Node[] = []
  for (const [index, serves] of serving.entries()) {
    const database = await openDatabase(options)
    const changes = await openChanges(database, { nodeId: `node-${index}`, serving: serves })
    const heard: string[] = []
    changes.listen((subject, id) => heard.push(`${subject} ${id}`))
    cleanUp(t, async () => {
      await changes.close()
      await database.close()
    })
    nodes.push({ database, changes, heard })
  }
  return nodes
}

for (const kind of databaseKinds) {
  test(`a change has reached every node when the call that made it returns, on ${kind}`, async (t) => {
    const [one, two, commandLine] = await openNodes(t, kind, [true, true, false])
    await one!.changes.commit(async (_tx, changed) => changed('key', 'k1'))
    assert.ok(two!.changes.trusted())
    assert.deepEqual(two!.heard, ['key k1'])
    assert.deepEqual(one!.heard, ['key k1'])
    await commandLine!.changes.commit(async (_tx, changed) => {
      changed('organization', 'o1')
      changed('user', 'u1')
    })
    for (const node of [one!, two!]) {
      assert.ok(node.changes.trusted())
      assert.deepEqual(node.heard.slice(1).sort(), ['organization o1', 'user u1'])
    }
  })

  test(`a change that is rolled back is announced to no node, on ${kind}`, async (t) => {
    const [one, two] = await openNodes(t, kind, [true, true])
    const failing = one!.changes.commit(async (_tx, changed) => {
      changed('key', 'k1')
      throw new Error('no')
    })
    await assert.rejects(failing, /no/)
    await one!.changes.commit(async (_tx, changed) => changed('key', 'k2'))
    two!.changes.trusted()
    assert.deepEqual(two!.heard, ['key k2'])
  })

  test(`many concurrent writers: each node receives every change, on ${kind}`, async (t) => {
    const [one, two] = await openNodes(t, kind, [true, true])
    const expected = Array.from({ length: 20 }, (_, i) => `key k${i}`)
    await Promise.all(
      expected.map((_, i) =>
        (i % 2 ? one! : two!).changes.commit(async (_tx, changed) => changed('key', `k${i}`)),
      ),
    )
    for (const node of [one!, two!]) {
      node.changes.trusted()
      assert.deepEqual([...new Set(node.heard)].sort(), expected.sort())
    }
  })

  test(`a node that missed rows forgets everything, on ${kind}`, async (t) => {
    const [one, two] = await openNodes(t, kind, [true, true])
    await one!.database.db.transaction().execute(async (tx) => {
      await tx.updateTable('change_number').set({ number: 5 }).execute()
    })
    await one!.changes.commit(async (_tx, changed) => changed('key', 'k'))
    two!.changes.trusted()
    assert.deepEqual(two!.heard, ['everything '])
  })
}

test('a node whose listening connection breaks receives later changes again', {
  skip: lacks('postgres'),
}, async (t) => {
  const [one, two] = await openNodes(t, 'postgres', [true, true])
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen%' and datname = current_database()`.execute(
    one!.database.db,
  )
  await sleep(50)
  await one!.changes.commit(async (_tx, changed) => changed('key', 'k'))
  assert.deepEqual(two!.heard, ['key k'])
})

test('a new connection to a server in an older state is not used before the database is settled', {
  skip: lacks('postgres'),
}, async (t) => {
  const options = { dataDir: temporaryFolder(t), databaseUrl: await temporaryDatabase(t) }
  const [outside, database] = [await openDatabase(options), await openDatabase(options)]
  let settled = 0
  const settle = async () => void settled++
  const changes = await openChanges(database, { nodeId: 'node', serving: true, settle })
  cleanUp(t, async () => {
    await changes.close()
    await Promise.all([outside.close(), database.close()])
  })
  assert.equal(settled, 1, 'at the start')
  await changes.commit(async (_tx, changed) => changed('key', 'k1'))
  await outside.db.transaction().execute(async (tx) => {
    await sql`update change_number set number = number - 1, token = 'older'`.execute(tx)
    await sql`update changes set token = 'older'`.execute(tx)
  })
  // One of them may use the connection that was open before.
  const settledAt = await Promise.all(
    Array.from({ length: 5 }, () => sql`select pg_sleep(0.02)`.execute(database.db).then(() => settled)),
  )
  assert.ok(settledAt.filter((times) => times > 1).length >= 4, settledAt.join())
})

test('on SQLite a check for changes is valid for a moment only, also in a long turn of the event loop', async (t) => {
  const [node] = await openNodes(t, 'sqlite', [true])
  const { changes, heard, database } = node!
  assert.ok(changes.trusted())
  const elsewhere = new DatabaseSync(database.file!)
  cleanUp(t, () => elsewhere.close())
  elsewhere.exec(`begin; update change_number set number = number + 1;
    insert into changes select number, 'key', 'k1', '', token from change_number; commit`)
  for (const begin = performance.now(); performance.now() - begin < 5; );
  assert.ok(changes.trusted())
  assert.deepEqual(heard, ['key k1'])
})

test('on SQLite a failed check for changes is repeated, and no cache is trusted until then', async (t) => {
  const [one, two] = await openNodes(t, 'sqlite', [true, true])
  let failures = 2
  two!.changes.listen(() => {
    if (failures-- > 0) throw new Error('not now')
  })
  await one!.changes.commit(async (_tx, changed) => changed('key', 'k1'))
  assert.throws(() => two!.changes.trusted(), /not now/)
  assert.throws(() => two!.changes.trusted(), /not now/)
  assert.ok(two!.changes.trusted())
  assert.equal(failures, -1)
})

test('on SQLite a change by a command reaches a server that has just checked, however fast the commit is', async (t) => {
  const [server, command] = await openNodes(t, 'sqlite', [true, false])
  const expected: string[] = []
  for (let i = 0; i < 100; i++) {
    expected.push(`key k${i}`)
    assert.ok(server!.changes.trusted())
    await command!.changes.commit(async (_tx, changed) => changed('key', `k${i}`))
    assert.ok(server!.changes.trusted())
    assert.deepEqual(server!.heard, expected)
  }
})
