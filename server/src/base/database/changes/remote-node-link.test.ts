import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as nextIteration } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import { sql } from 'kysely'
import { needs } from '../../../../../scripts/test-run/needs.ts'
import { cleanUp } from '../../../testing/cleanup.ts'
import { temporaryDatabase } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'
import { MINUTE } from '../../clock.ts'
import { ThreadLink } from '../../threads/thread-link.ts'
import { openDatabase } from '../open.ts'
import type { NodeLink } from './node-link.ts'
import { openPostgresChanges } from './postgres-changes.ts'
import { NodeLinkHost, type NodeQuestion, type NodeRelease, remoteNodeLink } from './remote-node-link.ts'
import { SHARED_UPKEEP } from './serving-node.ts'
import { SharedNodeLink } from './shared-node-link.ts'

needs('postgres')

/** The first thread and others, connected as threads are. */
async function openThreads(t: TestContext, count: number) {
  const databaseUrl = await temporaryDatabase(t)
  const database = await openDatabase({ databaseUrl, dataDir: '' })
  cleanUp(t, () => database.close())
  const shared = new SharedNodeLink(databaseUrl, SHARED_UPKEEP)
  const others = Array.from({ length: count - 1 }, () => {
    const { port1, port2 } = new MessageChannel()
    const host = new NodeLinkHost(shared, (event) => toThread.tell('nodeEvent', event))
    const toThread = new ThreadLink(port1, {
      node: (question: NodeQuestion) => host.answer(question),
      nodeRelease: (release: NodeRelease) => host.release(release),
      nodeUnlisten: (listener: number) => host.unlisten(listener),
    })
    cleanUp(t, () => port1.close())
    return { host, link: remoteNodeLink(new ThreadLink(port2, {}), databaseUrl) }
  })
  const openNode = async (link: NodeLink, index: number) => {
    const changes = await openPostgresChanges(database, { nodeId: `node-${index}`, serving: true, link })
    const heard: string[] = []
    changes.listen((subject, id) => heard.push(`${subject} ${id}`))
    return { changes, heard }
  }
  return { database, shared, others, openNode }
}

test('the nodes of all threads share five connections for their leases, and each hears of every change', async (t) => {
  const { database, shared, others, openNode } = await openThreads(t, 6)
  const nodes = [await openNode(shared, 0)]
  for (const { link } of others) nodes.push(await openNode(link, nodes.length))
  // The first thread has the connections, and ends last.
  cleanUp(t, async () => {
    for (const { changes } of nodes.toReversed()) await changes.close()
  })
  const hear = async (key: string) => {
    await nodes[3]!.changes.commit(async (_tx, changed) => changed('key', key))
    for (const { changes, heard } of nodes) {
      assert.ok(changes.trusted())
      assert.equal(heard.at(-1), `key ${key}`)
    }
  }
  await hear('one')
  const { rows } = await sql<{ count: number }>`select count(*) as count from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`.execute(database.db)
  // Beside those of requests, of which this test makes one at a time.
  assert.ok(rows[0]!.count <= SHARED_UPKEEP.connections + 1, `${rows[0]!.count} connections`)

  const cut = sql`select pg_terminate_backend(pid) from pg_stat_activity
    where query in ('listen wayleave_messages', 'select 1') and datname = current_database()`
  const lost = new Set<object>()
  // Looks in each iteration of the event loop, because a node can be connected again within milliseconds.
  const losing = (async () => {
    for (const end = performance.now() + MINUTE; lost.size < nodes.length; await nextIteration()) {
      assert.ok(performance.now() < end, `${lost.size} nodes do not trust their caches`)
      for (const node of nodes) if (!node.changes.trusted()) lost.add(node)
    }
  })()
  await Promise.all([cut.execute(database.db), losing])
  await until('every node listens again', async () => nodes.every(({ changes }) => changes.trusted()))
  await hear('two')
})

test('a thread that ends in a transaction about its lease leaves no lock, and errors keep their codes', async (t) => {
  const { shared, others } = await openThreads(t, 3)
  const own = shared.openUpkeep()
  cleanUp(t, () => own.close())
  await sql`create table t (id integer primary key)`.execute(own.db)
  const [one, two] = others.map(({ link }) => link.openUpkeep())
  const inserted = Promise.withResolvers<void>()
  void one!.db
    .transaction()
    .execute(async (tx) => {
      await sql`insert into t values (1)`.execute(tx)
      inserted.resolve()
      await new Promise(() => {})
    })
    .catch(() => {})
  await inserted.promise
  others[0]!.host.close()
  await sql`insert into t values (1)`.execute(two!.db)
  await assert.rejects(sql`insert into t values (1)`.execute(two!.db), { code: '23505' })
  const cut = sql`select pg_terminate_backend(pg_backend_pid())`.execute(two!.db)
  await assert.rejects(cut, { name: 'DatabaseError', failure: 'database-unavailable' })
})
