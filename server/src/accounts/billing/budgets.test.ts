import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY } from '../../base/clock.ts'
import { openAccount } from '../../testing/account.ts'
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
    assert.equal((await service.request('GET', path, { token })).body.creditLimit, 5)
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
    assert.equal((await download('f')).status, 200)
  })
}
