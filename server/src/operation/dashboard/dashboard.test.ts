import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextMail, signIn } from '../../testing/sign-in.ts'
import { databaseKinds, openTestServer } from '../../testing/test-server.ts'

for (const database of databaseKinds) {
  test(`the dashboard counts calls, errors, accounts and requests (${database})`, async (t) => {
    const service = await openTestServer(t, { database, settings: { admins: ['root@example.org'] } })
    const root = await signIn(service, 'root@example.org')
    const ada = await signIn(service, 'ada@example.org')
    const call = (method: string, path: string, body?: unknown, token = root.token) =>
      service.request(method, path, { token, body })
    const key = (await call('POST', '/v1/api-keys/personal', { name: 'A', permissions: ['read'] }, ada.token))
      .body
    for (let i = 0; i < 3; i++) await service.request('GET', '/v1/datasets', { key: key.secret })
    await call('POST', `/v1/organization/${ada.organizationId}/access-requests`, { credits: 1 }, ada.token)
    await service.request('GET', '/v1/dataset/none')
    await service.parts.meter.flush()
    const { status, body } = await call('GET', '/v1/admin/dashboard')
    assert.equal(status, 200)
    assert.equal(body.days.length, 30)
    assert.equal(body.days.at(-1).calls, 3)
    const dates = [...body.daysBefore, ...body.days].map(({ date }: { date: string }) => Date.parse(date))
    assert.deepEqual(
      dates,
      dates.map((_, i) => dates[0]! + i * 86_400_000),
      'the 30 days before end where the 30 days begin',
    )
    assert.equal(body.daysBefore.length, 30)
    assert.deepEqual(
      body.organizations.map(({ organizationId, calls }: { organizationId: string; calls: number }) => [
        organizationId,
        calls,
      ]),
      [[ada.organizationId, 3]],
    )
    assert.deepEqual(body.accounts, { organizations: 2, users: 2, keys: 1 })
    assert.equal(body.openRequests, 1)
    assert.ok(body.responses.clientErrors >= 1)
    assert.ok(body.storage.freeBytes > 0)
    assert.deepEqual(body.jobs, { waiting: 0, running: 0, done: 0, failed: 0, cancelled: 0 })
  })
}

test('a test mail is sent at once, and a mail server that refuses it is told by its code', async (t) => {
  const settings = { admins: ['root@example.org'] }
  const service = await openTestServer(t, { settings })
  const { token } = await signIn(service, 'root@example.org')
  const send = (email: string) => service.request('POST', '/v1/admin/mail-test', { token, body: { email } })
  assert.deepEqual((await send('desk@example.org')).body, { sent: true, by: 'outbox', reason: null })
  assert.match((await nextMail(service, 'desk@example.org')).source, /can send mail/)
  assert.equal((await send('nobody')).status, 400)
  service.parts.identity.mailer.deliver = async () => {
    throw Object.assign(new Error('secret host'), { code: 'EENVELOPE', responseCode: 550 })
  }
  const refused = (await send('desk@example.org')).body
  assert.deepEqual([refused.sent, refused.reason], [false, 'EENVELOPE 550'])
})
