import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY, HOUR, plus } from '../../base/clock.ts'
import { operator } from '../../base/events/events.ts'
import { type Account, openAccount } from '../../testing/account.ts'
import { points, publishText } from '../../testing/publish.ts'
import { nextMail, signIn, untakenMail } from '../../testing/sign-in.ts'
import { databaseKinds, openTestServer, type TestServer } from '../../testing/test-server.ts'
import { until } from '../../testing/until.ts'
import { noteKeyExpiries, stageOf } from './key-expiry.ts'

/** Resolves when all notices that were queued are sent. */
async function sendNotices({ parts }: TestServer): Promise<void> {
  await until('the notices', async () => {
    const { rows } = await parts.database.db
      .selectFrom('notices')
      .select(({ fn }) => fn.countAll<number>().as('rows'))
      .executeTakeFirstOrThrow()
    return Number(rows) === 0
  })
}

async function download(service: TestServer, { key }: Account, format: string): Promise<number> {
  return (await service.request('GET', `/v1/dataset/places/files/${format}`, { key })).status
}

async function actionsOf({ parts }: TestServer, prefix: string): Promise<string[]> {
  const rows = await parts.database.db.selectFrom('events').select('action').orderBy('id').execute()
  return rows.map(({ action }) => action).filter((action) => action.startsWith(prefix))
}

for (const database of databaseKinds) {
  test(`members are told once that credits are low and used up, until credits are added (${database})`, async (t) => {
    const service = await openTestServer(t, { database })
    await publishText(service, 'places', 'a.geojson', points(3), { description: { credits: 4 } })
    const ada = await openAccount(service, 'ada@example.org', { credits: 10, addOns: ['API_ACCESS'] })
    // A member who has another organization too.
    await signIn(service, 'bob@example.org')
    await service.parts.members.add(operator, ada.organizationId, 'bob@example.org', ['BILLING_VIEW'])
    const body = { creditLimit: 5 }
    const changed = await service.request('PATCH', '/v1/notices', { token: ada.token, body })
    assert.deepEqual([changed.status, changed.body.creditLimit], [200, 5])
    assert.equal(await download(service, ada, 'csv'), 200)
    assert.deepEqual(await actionsOf(service, 'credits.l'), [])
    assert.equal(await download(service, ada, 'json'), 200)
    const low = await nextMail(service, 'ada@example.org')
    assert.match(low.source, /Subject: Your credits are low/)
    assert.match(low.source, /has 2 credits left, fewer than the limit of 5/)
    assert.match((await nextMail(service, 'bob@example.org')).source, /Subject: Your credits are low/)
    for (let attempt = 0; attempt < 3; attempt++) assert.equal(await download(service, ada, 'kml'), 402)
    assert.match((await nextMail(service, 'ada@example.org')).source, /Subject: Your credits are used up/)
    assert.deepEqual(await actionsOf(service, 'credits.e'), ['credits.exhausted'])
    await service.parts.ledger.grantCredits(operator, ada.organizationId, 2)
    assert.equal(await download(service, ada, 'kml'), 200)
    assert.deepEqual(await actionsOf(service, 'credits.e'), ['credits.exhausted', 'credits.exhausted'])
  })

  test(`the owner of a key gets one mail 14, 3 and 1 days before it expires (${database})`, async (t) => {
    const service = await openTestServer(t, { database })
    const ada = await openAccount(service, 'ada@example.org')
    const expiresAt = plus(new Date(), 30 * DAY).toISOString()
    const body = { name: 'Map of parks', permissions: ['read'], expiresAt }
    const { id } = (await service.request('POST', '/v1/api-keys/personal', { token: ada.token, body })).body
    const { parts } = service
    for (let hours = 0; hours <= 32 * 24; hours += 12) {
      await Promise.all([1, 2].map(() => noteKeyExpiries(parts.database, plus(new Date(), hours * HOUR))))
    }
    const events = await parts.database.db
      .selectFrom('events')
      .select(['action', 'detail'])
      .where('subject', '=', `key:${id}`)
      .where('action', 'like', 'key.expir%')
      .orderBy('id')
      .execute()
    assert.deepEqual(
      events.map(({ action, detail }) => [action, JSON.parse(detail).days]),
      [
        ['key.expiring', 14],
        ['key.expiring', 3],
        ['key.expiring', 1],
        ['key.expired', undefined],
      ],
    )
    // The notices are those of a later time: send them as if they were new.
    await parts.database.db.updateTable('notices').set({ created_at: new Date().toISOString() }).execute()
    const mails = [await nextMail(service, 'ada@example.org'), await nextMail(service, 'ada@example.org')]
    for (const { source } of mails) assert.match(source, /The API key "Map of parks" stops working/)
  })
}

test('a key that lasts for a short time has only the later mails', () => {
  const key = { created_at: '2026-01-01T00:00:00.000Z', expires_at: '2026-01-05T00:00:00.000Z' }
  const stages = ['2026-01-01', '2026-01-02', '2026-01-03', '2026-01-04', '2026-01-05'].map((day) =>
    stageOf(key, new Date(`${day}T00:00:00Z`)),
  )
  assert.deepEqual(stages, [null, 3, 3, 1, 0])
})

test('buyers of a dataset get a mail about a new version, once a day, if they may know of it', async (t) => {
  const service = await openTestServer(t)
  const { publishing } = service.parts
  await publishText(service, 'places', 'a.geojson', points(3), {
    description: { credits: 1, title: 'Places' },
  })
  const ada = await openAccount(service, 'ada@example.org', { credits: 10, addOns: ['API_ACCESS'] })
  const bob = await openAccount(service, 'bob@example.org', { credits: 10, addOns: ['API_ACCESS'] })
  assert.equal(await download(service, ada, 'csv'), 200)
  for (let version = 2; version < 5; version++)
    await publishText(service, 'places', 'a.geojson', points(version))
  const { source, link } = await nextMail(service, 'ada@example.org')
  assert.match(source, /Subject: New version of Places/)
  assert.match(link, /\/datasets\/places$/)
  await sendNotices(service)
  assert.equal(await untakenMail(service, 'ada@example.org'), null)
  assert.equal(await untakenMail(service, 'bob@example.org'), null)

  assert.equal(await download(service, bob, 'csv'), 200)
  await publishing.describe('places', { visibility: 'draft' }, operator)
  await publishText(service, 'places', 'a.geojson', points(6))
  await sendNotices(service)
  assert.equal(await untakenMail(service, 'bob@example.org'), null)

  // Another dataset of the name, which may be another publisher's.
  await publishing.unpublish('places', operator)
  for (const rows of [3, 4]) await publishText(service, 'places', 'a.geojson', points(rows))
  await sendNotices(service)
  assert.equal(await untakenMail(service, 'bob@example.org'), null)
})

test('a notice is switched off in the mail, by a mail program and in the console', async (t) => {
  const service = await openTestServer(t, { settings: { admins: ['root@example.org'] } })
  const root = await signIn(service, 'root@example.org')
  let count = 0
  const ask = async () => {
    const { token, organizationId } = await openAccount(service, `user${++count}@example.org`)
    const body = { credits: 5 }
    const path = `/v1/organization/${organizationId}/access-requests`
    assert.equal((await service.request('POST', path, { token, body })).status, 201)
    await sendNotices(service)
  }
  await ask()
  const mail = await nextMail(service, 'root@example.org')
  assert.match(mail.source, /asks for access/)
  assert.match(mail.source, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m)
  const unfolded = mail.source.replace(/\r\n[ \t]+/g, ' ')
  const post = /^List-Unsubscribe: <(\S+)>/m.exec(unfolded)![1]!
  const page = /^(https?:\S+\/unsubscribe#(\S+))\r$/m.exec(mail.source)!
  const switches = async () => {
    const { body } = await service.request('GET', '/v1/notices', { token: root.token })
    const { data } = body as { data: { notice: string; on: boolean }[] }
    return data.find(({ notice }) => notice === 'access-requested')!.on
  }
  assert.equal(await switches(), true)
  // RFC 8058: a form, without cookies.
  const oneClick = await fetch(post, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'List-Unsubscribe=One-Click',
  })
  assert.equal(oneClick.status, 200)
  assert.equal(await switches(), false)
  await ask()
  assert.equal(await untakenMail(service, 'root@example.org'), null)

  const body = { switches: { 'access-requested': true } }
  assert.equal((await service.request('PATCH', '/v1/notices', { token: root.token, body })).status, 200)
  await ask()
  await nextMail(service, 'root@example.org')
  const token = page[2]!
  const byPage = await service.request('POST', `/v1/notices/unsubscribe?token=${token}`)
  assert.deepEqual([byPage.status, byPage.body.email], [200, 'root@example.org'])
  assert.equal(await switches(), false)
  const forged = Buffer.from('access-requested eve@example.org').toString('base64url')
  for (const wrong of ['x', `${token}x`, `${forged}.${token.split('.')[1]}`, '.'])
    assert.equal((await service.request('POST', `/v1/notices/unsubscribe?token=${wrong}`)).status, 404)
})

test('only members with BILLING_VIEW set the limit of credits', async (t) => {
  const service = await openTestServer(t)
  const ada = await openAccount(service, 'ada@example.org')
  await service.parts.members.add(operator, ada.organizationId, 'eve@example.org', [])
  const eve = await signIn(service, 'eve@example.org')
  const set = async (token: string, body: object) =>
    (await service.request('PATCH', '/v1/notices', { token, body })).status
  assert.equal(await set(eve.token, { creditLimit: 5 }), 403)
  assert.equal(await set(ada.token, { creditLimit: 0 }), 400)
  assert.equal(await set(ada.token, { creditLimit: 7 }), 200)
  assert.equal(await set(eve.token, { switches: { 'credits-low': false } }), 200)
  assert.equal(await set(eve.token, { switches: { other: false } }), 400)
  const { body } = await service.request('GET', '/v1/notices', { token: eve.token })
  assert.deepEqual([body.creditLimit, body.data.length], [null, 4])
})
