import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY } from '../../base/clock.ts'
import { operator } from '../../base/events/events.ts'
import { createKey, openAccount } from '../../testing/account.ts'
import { points, publishText } from '../../testing/publish.ts'
import { nextMail } from '../../testing/sign-in.ts'
import { testClock } from '../../testing/test-clock.ts'
import { databaseKinds, openTestServer } from '../../testing/test-server.ts'

for (const database of databaseKinds) {
  test(`a key spends its credits of a month and no more, whatever runs at once (${database})`, async (t) => {
    const { clock, pass } = testClock()
    const service = await openTestServer(t, { database, clock })
    for (const table of ['a', 'b', 'c', 'd', 'e', 'f'])
      await publishText(service, table, 'a.geojson', points(3), { description: { credits: 2 } })
    const account = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 100 })
    const { token } = account
    const body = { name: 'Limited', permissions: ['read'], creditLimit: 5 }
    const created = await service.request('POST', '/v1/api-keys/personal', { token, body })
    assert.equal(created.status, 201, created.text)
    const path = `/v1/api-keys/${created.body.id}`
    const download = (table: string) =>
      service.request('GET', `/v1/dataset/${table}/files/csv`, { key: created.body.secret })
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map(download))
    const count = (status: number) => answers.filter((answer) => answer.status === status).length
    assert.deepEqual([count(200), count(402)], [2, 2])
    const refused = answers.find(({ status }) => status === 402)!
    assert.equal(refused.body.code, 'key-budget-exhausted')
    assert.deepEqual([refused.body.price, refused.body.creditLimit, refused.body.used], [2, 5, 4])
    const { body: record } = await service.request('GET', path, { token })
    assert.deepEqual([record.creditLimit, record.creditsUsed], [5, 4])
    const list = await service.request('GET', '/v1/api-keys/my-keys', { token })
    assert.deepEqual(
      list.body.data.map(({ id, creditsUsed }: Record<string, unknown>) => [id, creditsUsed]).sort(),
      [
        [created.body.id, 4],
        [account.keyId, 0],
      ].sort(),
    )
    const { source } = await nextMail(service, 'ada@example.org')
    assert.match(source, /80 %/)

    const raised = await service.request('PATCH', path, { token, body: { creditLimit: 6 } })
    assert.equal(raised.body.creditLimit, 6)
    assert.equal((await download('e')).status, 200)
    assert.equal((await download('f')).status, 402)
    assert.equal((await service.request('GET', '/v1/dataset/f/files/csv', { key: account.key })).status, 200)
    const removed = await service.request('PATCH', path, { token, body: { creditLimit: null } })
    assert.equal(removed.body.creditLimit, null)
    for (const invalid of [-1, 1.5, '5'])
      assert.equal(
        (await service.request('PATCH', path, { token, body: { creditLimit: invalid } })).status,
        400,
      )
    await service.request('PATCH', path, { token, body: { creditLimit: 6 } })
    pass(31 * DAY)
    const inNextMonth = await service.parts.keys.view({ reach: 'any', origin: operator }, created.body.id)
    assert.equal(inNextMonth.creditsUsed, 0)
    assert.equal((await download('f')).status, 200)
  })

  test(`a member spends a budget with all personal keys together, also with new ones (${database})`, async (t) => {
    const service = await openTestServer(t, { database })
    const tables = ['a', 'b', 'c', 'd', 'e', 'f']
    for (const table of tables)
      await publishText(service, table, 'a.geojson', points(3), { description: { credits: 2 } })
    const account = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 100 })
    const { token, organizationId, userId } = account
    const shared = await createKey(service, account, ['read'], 'organization')
    const other = await createKey(service, account, ['read'])
    const path = `/v1/organization/${organizationId}/members/${userId}/budget`
    const limit = (creditLimit: unknown) => service.request('PUT', path, { token, body: { creditLimit } })
    const download = (table: string, key: string) =>
      service.request('GET', `/v1/dataset/${table}/files/csv`, { key })
    // What was spent before the limit was set counts.
    assert.equal((await download('a', account.key)).status, 200)
    const set = await limit(5)
    assert.deepEqual([set.status, set.body.creditLimit], [200, 5], set.text)
    const answers = await Promise.all([download('b', account.key), download('c', other.secret)])
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 402])
    const { body } = answers.find(({ status }) => status === 402)!
    assert.deepEqual([body.code, body.creditLimit, body.used], ['member-budget-exhausted', 5, 4])
    assert.match((await nextMail(service, 'ada@example.org')).source, /ada@example.org has used 80 %/)
    await service.request('DELETE', `/v1/api-keys/${account.keyId}`, { token })
    const fresh = await createKey(service, account, ['read'])
    assert.equal((await download('d', fresh.secret)).status, 402)
    assert.equal((await download('d', shared.secret)).status, 200)
    await limit(6)
    assert.equal((await download('e', fresh.secret)).status, 200)
    assert.match((await nextMail(service, 'ada@example.org')).source, /has used 100 %/)
    assert.equal((await limit(null)).body.creditLimit, null)
    assert.equal((await download('f', fresh.secret)).status, 200)
    assert.equal((await limit(-1)).status, 400)
    const bob = await openAccount(service, 'bob@example.org')
    const refused = await service.request('PUT', path, { token: bob.token, body: { creditLimit: 1 } })
    assert.equal(refused.status, 403)
  })
}
