import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { WEBHOOK_EVENTS } from '@wayleave/contract/webhook-events'
import { Webhook } from 'standardwebhooks'
import { DAY, HOUR } from '../../base/clock.ts'
import { openDatabase } from '../../base/database/open.ts'
import { operator, recordEvent } from '../../base/events/events.ts'
import { queuePayload } from '../../base/events/webhook-outbox-store.ts'
import { makeLogger } from '../../http/observability/logger.ts'
import { cleanUp } from '../../testing/cleanup.ts'
import { testClock } from '../../testing/test-clock.ts'
import { databaseKinds, temporaryDatabase, temporaryFolder } from '../../testing/test-server.ts'
import { until } from '../../testing/until.ts'
import { openReceiver, type WebhookReceiver } from '../../testing/webhook-receiver.ts'
import { KeyCipher } from '../identity/key-cipher.ts'
import { nextAttempt } from './retry-schedule.ts'
import { type DispatcherDeps, WebhookDispatcher } from './webhook-dispatcher.ts'
import { Webhooks } from './webhooks.ts'

const PLATFORM = { organizationId: null, origin: operator }

/** Webhooks of the platform on a database, without a server. */
async function openWebhooks(t: TestContext, database: 'sqlite' | 'postgres' = 'sqlite') {
  const databaseUrl = database === 'postgres' ? await temporaryDatabase(t) : null
  const control = await openDatabase({ dataDir: temporaryFolder(t), databaseUrl })
  cleanUp(t, () => control.close())
  const { clock, pass } = testClock()
  const log = makeLogger('silent')
  const deps = { database: control, clock, log, cipher: new KeyCipher(null), allowInternal: true }
  const webhooks = new Webhooks(deps)
  const dispatcher = (options: Partial<DispatcherDeps> = {}) => {
    const made = new WebhookDispatcher({ ...deps, restMs: 0, ...options })
    cleanUp(t, () => made.close())
    return made
  }
  const happen = (keyId: string) =>
    control.db.transaction().execute((tx) =>
      recordEvent(tx, clock(), operator, {
        action: 'key.revoked',
        organizationId: null,
        subject: `key:${keyId}`,
        detail: { name: 'Map', scope: 'platform' },
      }),
    )
  const register = async ({ url }: Pick<WebhookReceiver, 'url'>) =>
    webhooks.create(PLATFORM, { url, events: [...WEBHOOK_EVENTS] })
  const logOf = (id: string) => webhooks.deliveries(PLATFORM, id, { limit: 100 })
  return { control, clock, pass, webhooks, dispatcher, happen, register, logOf }
}

const idsAt = ({ received }: WebhookReceiver) => received.map(({ headers }) => headers['webhook-id'])

test('a receiver that fails for a day gets the same message with the same id, then its webhook is paused', async (t) => {
  const { control, pass, webhooks, dispatcher, happen, register, logOf } = await openWebhooks(t)
  const receiver = await openReceiver(t)
  receiver.respond = (response) => void response.writeHead(500).end('no')
  const { id, secret } = await register(receiver)
  const sender = dispatcher()
  await happen('key_1')
  const began = receiver.received.length
  let hours = 0
  for (; (await webhooks.find(PLATFORM, id)).status !== 'paused'; hours += 0.25) {
    sender.poll()
    await sender.idle()
    pass(HOUR / 4)
    assert.ok(hours < 48, 'it is not paused')
  }
  assert.ok(hours >= 24, `it was paused after ${hours} hours`)
  assert.equal(new Set(idsAt(receiver)).size, 1)
  assert.ok(receiver.received.length - began >= 8, `${receiver.received.length} attempts`)
  const { payload, headers } = receiver.received.at(-1)!
  // The library accepts timestamps of the last five minutes only: each attempt has its own.
  assert.throws(() => new Webhook(secret).verify(payload, headers), /too new/)
  const [delivery] = await logOf(id)
  assert.deepEqual([delivery!.state, delivery!.attempts.at(-1)!.status], ['failed', 500])
  const events = await control.db.selectFrom('events').select('action').execute()
  assert.ok(events.some(({ action }) => action === 'webhook.paused'))
  assert.equal((await control.db.selectFrom('notices').select('notice').execute()).length, 1)

  // Nothing is queued while it is paused. Then it goes on, and what failed can be sent again.
  await happen('key_2')
  assert.equal((await logOf(id)).length, 1)
  receiver.respond = (response) => void response.writeHead(200).end()
  await assert.rejects(webhooks.redeliver(PLATFORM, id, delivery!.id), /paused/)
  await webhooks.change(PLATFORM, id, { paused: false })
  await webhooks.redeliver(PLATFORM, id, delivery!.id)
  sender.poll()
  await sender.idle()
  assert.equal(new Set(idsAt(receiver)).size, 1)
  assert.equal((await logOf(id))[0]!.state, 'delivered')
  assert.equal((await webhooks.find(PLATFORM, id)).status, 'active')
})

test('receivers that never respond hold up nobody else', async (t) => {
  const { dispatcher, happen, register, logOf } = await openWebhooks(t)
  const [hanging, healthy] = [await openReceiver(t), await openReceiver(t)]
  hanging.respond = () => {}
  const slow = []
  for (let i = 0; i < 7; i++) slow.push(await register(hanging))
  const { id } = await register(healthy)
  const sender = dispatcher({ timeoutMs: 60_000 })
  await happen('key_1')
  await happen('key_2')
  sender.poll()
  await until('both messages', () => healthy.received.length === 2)
  await until('the first message to each slow receiver', () => hanging.received.length === 7)
  await happen('key_3')
  await until('the third', () => {
    sender.poll()
    return healthy.received.length === 3
  })
  await until('the log', async () => (await logOf(id)).every(({ state }) => state === 'delivered'))
  await sender.close()
  // They waited for the first response.
  assert.equal(hanging.received.length, 7)
  // A stop is not a failed attempt: the next process sends the message again.
  const [first] = await logOf(slow[0]!.id)
  assert.deepEqual([first!.state, first!.attempts], ['waiting', []])
})

test('organizations whose receivers never respond do not take all lanes', async (t) => {
  const { control, clock, dispatcher, happen, register } = await openWebhooks(t)
  const [hanging, healthy] = [await openReceiver(t), await openReceiver(t)]
  hanging.respond = () => {}
  const { id } = await register(hanging)
  const { db } = control
  const template = await db.selectFrom('webhooks').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  const at = clock().toISOString()
  // Eighty webhooks that have failed before, of ten organizations, and twenty new ones of another.
  for (let organization = 0; organization < 11; organization++) {
    const organizationId = `org_${organization}`
    const row = { id: organizationId, name: 'X', credits: 0, created_at: at }
    await db
      .insertInto('organizations')
      .values({ ...row, suspended_at: null, suspend_reason: null, closed_at: null })
      .execute()
    for (let webhook = 0; webhook < (organization === 10 ? 20 : 8); webhook++) {
      const webhookId = `${organizationId}_${webhook}`
      const failing_since = organization === 10 ? null : at
      const values = { ...template, id: webhookId, organization_id: organizationId, failing_since }
      await db.insertInto('webhooks').values(values).execute()
      await db.transaction().execute((tx) => queuePayload(tx, clock(), 'webhook.test', '{}', [webhookId]))
    }
  }
  const sender = dispatcher({ timeoutMs: 60_000 })
  sender.poll()
  // Half of the 64 lanes, and eight of the organization whose webhooks are new.
  await until('the lanes', () => hanging.received.length === 40)
  await register(healthy)
  await happen('key_1')
  await until('the message', () => {
    sender.poll()
    return healthy.received.length === 1 && hanging.received.length > 40
  })
  assert.equal(hanging.received.length, 41, 'that of the platform is the only one that was added')
})

test('a receiver that is too slow, redirects, is gone or is inside the network has failed', async (t) => {
  const { control, webhooks, dispatcher, happen, register, logOf } = await openWebhooks(t)
  const [slow, redirecting, gone, target] = [
    await openReceiver(t),
    await openReceiver(t),
    await openReceiver(t),
    await openReceiver(t),
  ]
  slow.respond = () => {}
  redirecting.respond = (response) => void response.writeHead(307, { location: target.url }).end()
  gone.respond = (response) => void response.writeHead(410).end()
  const inside = { url: target.url.replace('127.0.0.1', 'localhost') }
  const closed = { url: 'http://127.0.0.1:1/' }
  const ids = []
  for (const each of [slow, redirecting, gone, closed]) ids.push((await register(each)).id)
  const sender = dispatcher({ timeoutMs: 200 })
  await happen('key_1')
  sender.poll()
  await sender.idle()
  const errors = await Promise.all(ids.map(async (id) => (await logOf(id))[0]!.attempts[0]))
  assert.deepEqual(
    errors.map((attempt) => [attempt!.status, attempt!.error]),
    [
      [null, 'The receiver did not respond in time.'],
      [307, 'The receiver redirects, which is refused.'],
      [410, null],
      [null, 'The connection was refused.'],
    ],
  )
  assert.equal((await webhooks.find(PLATFORM, ids[2]!)).status, 'paused')
  assert.equal((await webhooks.find(PLATFORM, ids[1]!)).status, 'failing')

  // The name is resolved at each attempt, so a name that is given an internal address later is refused too.
  const { id } = await register(inside)
  await control.db.updateTable('webhooks').set({ paused_at: 'x' }).where('id', '<>', id).execute()
  await happen('key_2')
  const strict = dispatcher({ allowInternal: false })
  strict.poll()
  await strict.idle()
  const [refused] = await logOf(id)
  assert.match(refused!.attempts[0]!.error!, /inside the network/)
  assert.equal(target.received.length, 0)
})

test('a failed attempt is followed by a pause, which a member ends', async (t) => {
  const { webhooks, dispatcher, happen, register } = await openWebhooks(t)
  const receiver = await openReceiver(t)
  receiver.respond = (response) => void response.writeHead(500).end()
  const { id } = await register(receiver)
  const sender = dispatcher({ restMs: HOUR })
  const send = async () => {
    sender.poll()
    await sender.idle()
    return receiver.received.length
  }
  for (const key of ['key_1', 'key_2', 'key_3']) await happen(key)
  assert.deepEqual([await send(), await send()], [1, 1])
  receiver.respond = (response) => void response.writeHead(204).end()
  await webhooks.test(PLATFORM, id)
  assert.equal(await send(), 4)
})

for (const database of databaseKinds) {
  test(`two processes send each message once, in order (${database})`, async (t) => {
    const { dispatcher, happen, register, logOf } = await openWebhooks(t, database)
    const receivers = [await openReceiver(t), await openReceiver(t), await openReceiver(t)]
    const ids: string[] = []
    for (const each of receivers) ids.push((await register(each)).id)
    const senders = [dispatcher(), dispatcher()]
    for (let key = 0; key < 10; key++) {
      await happen(`key_${key}`)
      for (const sender of senders) sender.poll()
    }
    await until('all messages', async () => {
      for (const sender of senders) sender.poll()
      const logs = await Promise.all(ids.map(logOf))
      return logs.every((log) => log.length === 10 && log.every(({ state }) => state === 'delivered'))
    })
    for (const { received } of receivers) {
      const keys = received.map(({ body }) => body.data.keyId)
      assert.deepEqual(keys, [...keys].sort())
      assert.equal(keys.length, 10)
    }
  })
}

test('attempts are spread over more than a day, with jitter', () => {
  const now = new Date('2026-01-01T00:00:00Z')
  for (const random of [() => 0, () => 0.999]) {
    let time = now
    let failures = 1
    for (let next = nextAttempt(1, time, random); next !== null; next = nextAttempt(++failures, time, random))
      time = next
    const days = (time.getTime() - now.getTime()) / DAY
    assert.ok(days > 1 && days < 1.5, `${failures} attempts over ${days} days`)
  }
  assert.notEqual(nextAttempt(3, now, () => 0)!.getTime(), nextAttempt(3, now, () => 0.9)!.getTime())
})
