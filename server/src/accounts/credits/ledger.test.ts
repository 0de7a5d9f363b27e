import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operator } from '../../base/events/events.ts'
import { newId } from '../../base/id.ts'
import type { Problem } from '../../base/problem.ts'
import { signIn } from '../../testing/sign-in.ts'
import { databaseKinds, openTestServer, testOnce } from '../../testing/test-server.ts'

for (const database of databaseKinds) {
  test(`a grant and a correction change the balance together with a row and an event (${database})`, async (t) => {
    const service = await openTestServer(t, { database })
    const { ledger, organizations, database: control } = service.parts
    const { id } = await organizations.create(operator, 'A')
    assert.equal(await ledger.grantCredits(operator, id, 50), 50)
    assert.equal(await ledger.grantCredits(operator, id, 7), 57)
    assert.equal(await ledger.setCredits(operator, id, 10), 10)
    assert.equal(await ledger.setCredits(operator, id, 10), 10)
    const rows = await control.db
      .selectFrom('ledger')
      .select(['kind', 'amount', 'balance', 'actor'])
      .where('organization_id', '=', id)
      .orderBy('id')
      .execute()
    assert.deepEqual(rows, [
      { kind: 'grant', amount: 50, balance: 50, actor: 'operator' },
      { kind: 'grant', amount: 7, balance: 57, actor: 'operator' },
      { kind: 'correction', amount: -47, balance: 10, actor: 'operator' },
    ])
    assert.equal((await organizations.find(id)).credits, 10)
    const events = await control.db
      .selectFrom('events')
      .select(['action', 'detail'])
      .where('organization_id', '=', id)
      .where('action', 'like', 'credits.%')
      .orderBy('id')
      .execute()
    assert.deepEqual(
      events.map(({ action, detail }) => [action, JSON.parse(detail)]),
      [
        ['credits.granted', { amount: 50, balance: 50 }],
        ['credits.granted', { amount: 7, balance: 57 }],
        ['credits.corrected', { amount: -47, balance: 10 }],
      ],
    )
  })

  test(`grants at once all count, and each row's balance follows from the one before (${database})`, async (t) => {
    const service = await openTestServer(t, { database })
    const { ledger, organizations, database: control } = service.parts
    const { id } = await organizations.create(operator, 'A')
    await Promise.all(Array.from({ length: 30 }, (_, i) => ledger.grantCredits(operator, id, i + 1)))
    assert.equal((await organizations.find(id)).credits, 465)
    const rows = await control.db
      .selectFrom('ledger')
      .select(['amount', 'balance'])
      .where('organization_id', '=', id)
      .orderBy('id')
      .execute()
    let balance = 0
    for (const row of rows) {
      balance += row.amount
      assert.equal(row.balance, balance)
    }
    assert.equal(rows.length, 30)
  })

  testOnce(
    database,
    `amounts that are not integers in bounds, and unknown organizations, change nothing (${database})`,
    async (t) => {
      const service = await openTestServer(t, { database })
      const { ledger, organizations } = service.parts
      const { id } = await organizations.create(operator, 'A')
      const failure = async (work: () => Promise<unknown>) => {
        try {
          return await work()
        } catch (error) {
          return (error as Problem).code
        }
      }
      for (const amount of [0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
        assert.equal(await failure(async () => ledger.grantCredits(operator, id, amount)), 'invalid-input')
      }
      for (const balance of [-1, 0.5, Number.NaN, 2 ** 53]) {
        assert.equal(await failure(async () => ledger.setCredits(operator, id, balance)), 'invalid-input')
      }
      await ledger.setCredits(operator, id, 1e12)
      assert.equal(await failure(() => ledger.grantCredits(operator, id, 1)), 'invalid-input')
      for (const unknown of [newId('org'), 'x', '\0']) {
        assert.equal(await failure(() => ledger.grantCredits(operator, unknown, 1)), 'not-found')
      }
      assert.equal((await organizations.find(id)).credits, 1e12)
    },
  )

  test(`the ledger is read newest first, a page at a time, by members with BILLING_VIEW (${database})`, async (t) => {
    const service = await openTestServer(t, { database })
    const { ledger, members } = service.parts
    const ada = await signIn(service, 'ada@example.org')
    const path = `/v1/organization/${ada.organizationId}/ledger`
    for (let i = 1; i <= 5; i++) await ledger.grantCredits(operator, ada.organizationId, i)
    const read = async (query: string) =>
      (await service.request('GET', path + query, { token: ada.token })).body
    const amounts = (page: { data: { amount: number }[] }) => page.data.map(({ amount }) => amount)

    const all = await read('')
    assert.deepEqual(amounts(all), [5, 4, 3, 2, 1])
    assert.equal(all.next, null)
    assert.deepEqual(Object.keys(all.data[0]), [
      'id',
      'at',
      'kind',
      'amount',
      'balance',
      'orderId',
      'keyId',
      'keyName',
      'table',
      'version',
      'format',
      'actor',
      'member',
    ])
    const first = await read('?limit=2')
    const second = await read(`?limit=2&before=${first.next}`)
    const third = await read(`?limit=2&before=${second.next}`)
    assert.deepEqual([first, second, third].map(amounts), [[5, 4], [3, 2], [1]])
    assert.equal(third.next, null)
    for (const query of ['?limit=0', '?limit=1001', '?limit=x', '?before=0', '?offset=1']) {
      assert.equal((await read(query)).status, 400, query)
    }

    await members.add(operator, ada.organizationId, 'carl@example.org', ['APIKEY_VIEW', 'MEMBER_MANAGE'])
    const carl = await signIn(service, 'carl@example.org')
    const eve = await signIn(service, 'eve@example.org')
    for (const { token } of [carl, eve]) {
      const refused = await service.request('GET', path, { token })
      assert.equal(refused.status, 403)
      assert.match(refused.body.detail, /BILLING_VIEW/)
    }
    const unknown = `/v1/organization/${newId('org')}/ledger`
    assert.equal((await service.request('GET', unknown, { token: ada.token })).status, 404)
    assert.equal((await service.request('GET', path)).status, 401)
  })
}
