import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EventRecord } from '@wayleave/contract/records'
import { CompiledQuery, type KyselyPlugin, type RootOperationNode } from 'kysely'
import type { Db } from '../../base/database/open.ts'
import { operator } from '../../base/events/events.ts'
import type { EventFilter } from '../../base/events/store.ts'
import { signIn } from '../../testing/sign-in.ts'
import { databaseKinds, openTestServer } from '../../testing/test-server.ts'
import { searchEvents } from './event-search.ts'
import { readNamedEvents } from './named-events.ts'

for (const database of databaseKinds) {
  test(`events are found by the words that the caller sees in them, and by no others (${database})`, async (t) => {
    const service = await openTestServer(t, { database, settings: { admins: ['root@example.org'] } })
    const root = await signIn(service, 'root@example.org')
    const ada = await signIn(service, 'ada@example.org')
    const bob = await signIn(service, 'bob@example.org')
    const call = (method: string, path: string, body?: unknown, token = ada.token) =>
      service.request(method, path, { token, body })
    const key = async (name: string) =>
      (await call('POST', '/v1/api-keys/personal', { name, permissions: ['read'] })).body
    const path = `/v1/organization/${ada.organizationId}`
    const list = async (q: string, rest = '', token = ada.token): Promise<EventRecord[]> => {
      const { status, body } = await call(
        'GET',
        `${path}/events?q=${encodeURIComponent(q)}${rest}`,
        undefined,
        token,
      )
      assert.equal(status, 200, q)
      return body.data
    }
    const adminList = async (q: string): Promise<EventRecord[]> =>
      (await call('GET', `/v1/admin/events?q=${encodeURIComponent(q)}`, undefined, root.token)).body.data
    const subjects = async (q: string) => (await list(q)).map(({ subject }) => subject.split(':')[1])

    const percent = await key('100% of_Öko\\"maps"')
    const plain = await key('1000 of Oko maps')
    await call('DELETE', `/v1/api-keys/${percent.id}`)

    // The kind, as a code and as words; the actor; the subject by name and id. All words, in any order and case.
    assert.deepEqual(await subjects('key.deleted'), [percent.id])
    assert.deepEqual(await subjects('DELETED ada@EXAMPLE.org key'), [percent.id])
    assert.deepEqual(
      (await list('signed in')).map(({ action }) => action),
      ['session.started'],
    )
    assert.deepEqual(await subjects(plain.id.toLowerCase()), [plain.id])
    assert.deepEqual(await list('no-such-word'), [])
    assert.equal((await list('  ')).length, (await list('')).length)

    // Wildcards, quotes and letters with two cases are text. A deleted key is found by its last name.
    for (const q of ['%', '0%', 'of_', 'ÖKO', 'öko\\', '"MAPS"'])
      assert.deepEqual(await subjects(q), [percent.id, percent.id], q)
    assert.deepEqual(await subjects('1000'), [plain.id])
    for (const q of ['1%0', '1_0', '\\_', "' or 1=1 --"]) assert.deepEqual(await subjects(q), [], q)

    assert.deepEqual(await subjects('permissions'), [], 'the rest of the details is not searched')

    // Members see "The operator", without an address and the reason: they find by that only.
    const reason = 'Suspected'
    await call('POST', `/v1/admin/organizations/${ada.organizationId}/credits`, { add: 5 }, root.token)
    await call('POST', `/v1/admin/organizations/${ada.organizationId}/suspend`, { reason }, root.token)
    await call('POST', `/v1/admin/organizations/${ada.organizationId}/resume`, undefined, root.token)
    const byOperator = ['organization.resumed', 'organization.suspended', 'credits.granted']
    assert.deepEqual((await list('the operator')).map(({ action }) => action).slice(0, 3), byOperator)
    for (const q of ['root@example.org', 'root@', reason]) assert.deepEqual(await list(q), [], q)
    assert.ok((await list('127.0.0.1')).every(({ address }) => address !== null))
    const ofRoot = await adminList('root@example.org')
    for (const action of byOperator)
      assert.ok(
        ofRoot.some((event) => event.action === action),
        action,
      )

    // Another organization's events are not found, nor by other people.
    assert.deepEqual(await list('bob@example.org'), [])
    assert.ok((await adminList('bob@example.org signed')).length > 0)
    for (const one of [`${path}/events?q=key`, `${path}/events.csv?q=key`, '/v1/admin/events?q=key'])
      assert.equal((await call('GET', one, undefined, bob.token)).status, 403, one)

    // Filters, pages and files are searched alike.
    assert.equal((await list('oko', '&kind=session')).length, 0)
    const first = await call('GET', `${path}/events?q=key+created&limit=1`)
    const second = await call('GET', `${path}/events?q=key+created&limit=1&before=${first.body.next}`)
    assert.deepEqual(
      [...first.body.data, ...second.body.data].map(({ subject }) => subject),
      [`key:${plain.id}`, `key:${percent.id}`],
    )
    assert.equal(second.body.next, null)
    const csv = await call('GET', `${path}/events.csv?q=key+created`)
    assert.equal(csv.text.trimEnd().split('\r\n').length, 3)

    for (const q of ['a'.repeat(101), 'a%00b'])
      assert.equal((await call('GET', `${path}/events?q=${q}`)).status, 400, q)
    const words = Array.from({ length: 50 }, (_, i) => String.fromCharCode(97 + (i % 26), 97 + (i % 7))[0])
    assert.equal((await call('GET', `${path}/events?q=${words.join('+')}`)).status, 200, 'many words')

    // A search goes through a long log in windows of ids, and misses nothing at their ends.
    const { db } = service.parts.database
    const read = (filter: Parameters<typeof readNamedEvents>[1]) => readNamedEvents(db, filter)
    const idsOf = async (window?: number) =>
      (await searchEvents({ db, text: 'ada@example.org', filter: { limit: 1000 }, read, window })).map(
        ({ id }) => id,
      )
    const all = await idsOf()
    assert.ok(all.length > 5)
    for (const window of [1, 2, 7]) assert.deepEqual(await idsOf(window), all)
    const limited = await searchEvents({
      db,
      text: 'ada@example.org',
      filter: { limit: 2 },
      read,
      window: 3,
    })
    assert.deepEqual(
      limited.map(({ id }) => id),
      all.slice(0, 2),
    )
    await service.parts.members.add(operator, ada.organizationId, 'bob@example.org', [])
    assert.deepEqual(
      (await list('bob@example.org')).map(({ action }) => action),
      ['member.added'],
    )
  })
}

test('a search stops when its caller leaves, and costs no more in a service of many users and keys', async (t) => {
  const service = await openTestServer(t)
  const ada = await signIn(service, 'ada@example.org')
  const call = (method: string, path: string, body?: unknown) =>
    service.request(method, path, { token: ada.token, body })
  for (let i = 0; i < 5; i++) {
    const key = { name: `atlas ${i}`, permissions: ['read'] }
    const { body } = await call('POST', '/v1/api-keys/personal', key)
    await call('DELETE', `/v1/api-keys/${body.id}`)
  }
  const { db } = service.parts.database

  let reads = 0
  const none = async () => {
    reads++
    return []
  }
  await searchEvents({
    db,
    text: 'a',
    filter: { limit: 9 },
    read: none,
    hasLeft: () => reads === 2,
    window: 1,
  })
  assert.equal(reads, 2)

  const recorded = recordedQueries(db)
  const filter = { limit: 99, organizationId: ada.organizationId }
  const read = (part: EventFilter) => readNamedEvents(recorded.db, part)
  const found = await searchEvents({ db: recorded.db, text: 'atlas operator', filter, read })
  assert.deepEqual(found, [])
  const named = await searchEvents({ db: recorded.db, text: 'atlas', filter, read })
  assert.equal(named.length, 10)
  const plans = await recorded.plans()
  assert.ok(plans.some((step) => step.includes('of_key USING INDEX events_subject')))
  assert.deepEqual(
    plans.filter((step) => /^SCAN (?!said_events|events$)|events_action/.test(step)),
    [],
    'neither all users, keys and organizations are looked through, nor all events of a kind',
  )
})

/** The database, and how it executes what was asked of it. */
function recordedQueries(db: Db) {
  const nodes: [RootOperationNode, { readonly queryId: string }][] = []
  const recorder: KyselyPlugin = {
    transformQuery: ({ node, queryId }) => {
      nodes.push([node, queryId])
      return node
    },
    transformResult: async ({ result }) => result,
  }
  const plans = async () => {
    const steps: string[] = []
    for (const [node, queryId] of nodes) {
      const { sql, parameters } = db.getExecutor().compileQuery(node, queryId)
      const plan = CompiledQuery.raw(`explain query plan ${sql}`, [...parameters])
      for (const row of (await db.executeQuery<{ detail: string }>(plan)).rows) steps.push(row.detail)
    }
    return steps
  }
  return { db: db.withPlugin(recorder), plans }
}
