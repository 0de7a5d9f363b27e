import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { WEBHOOK_EVENTS } from '@wayleave/contract/webhook-events'
import { Webhook } from 'standardwebhooks'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { operator } from '../../base/events/events.ts'
import { createKey, openAccount } from '../../testing/account.ts'
import { cleanUp } from '../../testing/cleanup.ts'
import { documentedExamples } from '../../testing/documented-examples.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { points, publishText } from '../../testing/publish.ts'
import { nextMail, signIn } from '../../testing/sign-in.ts'
import { databaseKinds, openTestServer, type TestServer } from '../../testing/test-server.ts'
import { until } from '../../testing/until.ts'
import { openReceiver, type ReceivedMessage, type WebhookReceiver } from '../../testing/webhook-receiver.ts'
import { newWebhookSecret, signedHeaders } from './signature.ts'

const INTERNAL = { allowInternalAddresses: true }

/** Verified by the library of the specification, which throws if the signature is wrong. */
function verify(secret: string, { payload, headers }: ReceivedMessage): void {
  new Webhook(secret).verify(payload, headers)
}

async function createWebhook(
  service: TestServer,
  token: string,
  url: string,
  events: readonly string[] = WEBHOOK_EVENTS,
  path = '/v1/webhooks',
): Promise<{ id: string; secret: string }> {
  const created = await service.request('POST', path, { token, body: { url, events } })
  assert.equal(created.status, 201, created.text)
  return created.body
}

const messageOf = (receiver: WebhookReceiver, type: string, count = 1) =>
  until(`${type} at the receiver`, () => {
    const messages = receiver.received.filter(({ body }) => body.type === type)
    return messages.length >= count && messages[count - 1]
  })

for (const database of databaseKinds) {
  test(`an organization gets its own events, and the platform all, signed (${database})`, async (t) => {
    const settings = { ...INTERNAL, admins: ['root@example.org'] }
    const service = await openTestServer(t, { database, settings })
    const [own, others, platform] = [await openReceiver(t), await openReceiver(t), await openReceiver(t)]
    const ada = await openAccount(service, 'ada@example.org')
    const bob = await openAccount(service, 'bob@example.org')
    const root = await signIn(service, 'root@example.org')
    const { secret } = await createWebhook(service, ada.token, own.url)
    await createWebhook(service, bob.token, others.url)
    const admin = await createWebhook(service, root.token, platform.url, WEBHOOK_EVENTS, '/v1/admin/webhooks')

    const { id, secret: keySecret } = await createKey(service, ada, ['read'], 'organization')
    const message = await messageOf(own, 'key.created')
    verify(secret, message)
    verify(admin.secret, await messageOf(platform, 'key.created'))
    assert.throws(() => verify(admin.secret, message))
    const { organizationId } = ada
    assert.deepEqual(message.body.data, {
      organizationId,
      keyId: id,
      name: 'Test',
      scope: 'organization',
      permissions: ['read'],
      expiresAt: null,
    })
    assert.ok(!message.payload.includes(keySecret))
    assert.match(message.headers['webhook-id']!, /^msg_/)

    await service.request('POST', `/v1/api-keys/${id}/rotate`, { token: ada.token })
    await service.request('POST', `/v1/api-keys/${id}/revoke`, { token: ada.token })
    await service.parts.members.add(operator, organizationId, 'eve@example.org', [])
    for (const type of ['key.rotated', 'key.revoked', 'member.added']) await messageOf(own, type)
    // A message of the other organization arrives, so those of this one would have.
    await createKey(service, bob, ['read'])
    await messageOf(others, 'key.created')
    assert.ok(others.received.every(({ body }) => body.data.organizationId === bob.organizationId))
    assert.ok(own.received.every(({ body }) => body.data.organizationId === organizationId))
  })

  test(`only receivers that may know of a dataset get its events (${database})`, async (t) => {
    const service = await openTestServer(t, { database, settings: INTERNAL })
    const [customer, stranger] = [await openReceiver(t), await openReceiver(t)]
    const ada = await openAccount(service, 'ada@example.org')
    const bob = await openAccount(service, 'bob@example.org')
    await createWebhook(service, ada.token, customer.url)
    await createWebhook(service, bob.token, stranger.url)
    const description = { visibility: 'private', title: 'Salaries' } as const
    const { publishing, grants, versions } = service.parts
    await publishText(service, 'salaries', 'a.geojson', points(3), { description })
    await grants.give(operator, 'salaries', { organizationId: ada.organizationId })
    await publishText(service, 'salaries', 'a.geojson', points(4))
    assert.deepEqual((await messageOf(customer, 'grant.given')).body.data.table, 'salaries')
    assert.deepEqual((await messageOf(customer, 'dataset.published')).body.data, {
      table: 'salaries',
      version: 2,
      rows: 4,
    })
    await publishing.describe('salaries', { title: 'All salaries' }, operator)
    await messageOf(customer, 'dataset.changed')
    await publishing.unpublish('salaries', operator)
    await messageOf(customer, 'dataset.unpublished')
    await publishText(service, 'parks', 'a.geojson', points(3))
    assert.equal((await messageOf(stranger, 'dataset.published')).body.data.table, 'parks')
    assert.ok(!JSON.stringify(stranger.received).includes('salaries'))

    // Nobody is told of a draft before it is released.
    await publishText(service, 'parks', 'a.geojson', points(4), { draft: true })
    await versions.release({ table: 'parks', origin: operator })
    await versions.rollBack({ table: 'parks', version: 1, origin: operator })
    await messageOf(stranger, 'dataset.published', 3)
    assert.deepEqual(
      stranger.received.map(({ body }) => [body.type, body.data.version]),
      [1, 2, 3].map((version) => ['dataset.published', version]),
    )
  })
}

test('a rotated secret signs beside the old one until the overlap ends', async (t) => {
  const service = await openTestServer(t, {
    settings: { ...INTERNAL, secretKey: 'a secret of the operator' },
  })
  const receiver = await openReceiver(t)
  const ada = await openAccount(service, 'ada@example.org')
  const { id, secret } = await createWebhook(service, ada.token, receiver.url)
  const path = `/v1/webhooks/${id}`
  const stored = await service.parts.database.db.selectFrom('webhooks').select('secret').executeTakeFirst()
  assert.ok(!stored!.secret.includes(secret.slice(6)))
  const post = async (action: string, body?: object) => {
    const answer = await service.request('POST', `${path}/${action}`, { token: ada.token, body })
    assert.ok(answer.status === 200 || answer.status === 202, answer.text)
    return answer.body
  }
  const { secret: second } = await post('rotate')
  const { id: messageId } = await post('test')
  const first = await messageOf(receiver, 'webhook.test')
  for (const either of [secret, second]) verify(either, first)
  assert.equal(first.headers['webhook-id'], messageId)

  const { secret: third } = await post('rotate', { overlapSeconds: 0 })
  await until('the log', async () => {
    const { body } = await service.request('GET', `${path}/deliveries`, { token: ada.token })
    return body.data[0].state === 'delivered'
  })
  await post(`deliveries/${messageId}/redeliver`)
  const again = await messageOf(receiver, 'webhook.test', 2)
  verify(third, again)
  for (const old of [secret, second]) assert.throws(() => verify(old, again))
  assert.deepEqual([again.headers['webhook-id'], again.payload], [messageId, first.payload])
  for (const text of [secret, second, third]) assert.ok(!service.logLines.join().includes(text))
})

test('a webhook tells how its last messages went, also of one that is tried again', async (t) => {
  const service = await openTestServer(t, { settings: INTERNAL })
  const receiver = await openReceiver(t)
  const ada = await openAccount(service, 'ada@example.org')
  const { id } = await createWebhook(service, ada.token, receiver.url)
  const record = async () => {
    const { body } = await service.request('GET', `/v1/webhooks/${id}`, { token: ada.token })
    return body
  }
  const sent = async () => {
    await service.request('POST', `/v1/webhooks/${id}/test`, { token: ada.token })
    await until('an attempt', async () => !(await record()).recent.includes('waiting'))
  }
  const { recent, lastAttempt } = await record()
  assert.deepEqual([recent, lastAttempt], [[], null])
  await sent()
  const delivered = await record()
  assert.deepEqual([delivered.recent, delivered.lastAttempt.status], [['delivered'], 204])
  const list = await service.request('GET', '/v1/webhooks', { token: ada.token })
  assert.deepEqual(list.body.data, [delivered])
  receiver.respond = (response) => void response.writeHead(500).end()
  await sent()
  const failed = await record()
  assert.deepEqual([failed.status, failed.recent], ['failing', ['failed', 'delivered']])
  assert.deepEqual([failed.lastAttempt.status, failed.lastAttempt.error], [500, null])
})

/** The receivers of the documentation, on a free port that they print. */
const RECEIVERS = {
  js: {
    command: process.execPath,
    flags: ['--input-type=module', '-e'],
    announced: (code: string) =>
      code.replace('createServer(', 'const server = createServer(').replace('8090', '0').trimEnd() +
      ".on('listening', () => console.log('port', server.address().port))",
    printed: "msg_1 key.created { keyId: 'key_1' }",
  },
  python: {
    command: process.env['WAYLEAVE_TEST_PYTHON'] ?? 'python3',
    flags: ['-u', '-c'],
    announced: (code: string) =>
      code.replace(
        "HTTPServer(('', 8090), Receiver)",
        "server = HTTPServer(('127.0.0.1', 0), Receiver)\nprint('port', server.server_port)\nserver",
      ),
    printed: "msg_1 key.created {'keyId': 'key_1'}",
  },
}

for (const [language, { command, flags, announced, printed }] of Object.entries(RECEIVERS)) {
  const skip = language === 'python' && lacks('python')
  test(`the ${language} receiver of the documentation refuses forged messages`, { skip }, async (t) => {
    const secret = newWebhookSecret()
    const { code } = documentedExamples().find(
      (one) => one.page === 'webhooks.md' && one.language === language,
    )!
    const child = spawn(command, [...flags, announced(code)], {
      env: { ...process.env, WEBHOOK_SECRET: secret },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    cleanUp(t, () => child.kill())
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const port = /^port (\d+)$/.exec((await lines.next()).value ?? '')![1]
    const payload = '{"type":"key.created","data":{"keyId":"key_1"}}'
    const send = async (signers: string[], at = new Date()) => {
      const headers = signedHeaders({ id: 'msg_1', at, payload }, signers)
      return (await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body: payload })).status
    }
    assert.deepEqual([await send([newWebhookSecret()]), await send([secret], new Date(0))], [400, 400])
    // While a secret is rotated, one of two signatures is right.
    assert.equal(await send([newWebhookSecret(), secret]), 204)
    assert.equal((await lines.next()).value, printed)
  })
}

test('only managers of an organization reach its webhooks', async (t) => {
  const service = await openTestServer(t, { settings: { ...INTERNAL, admins: ['root@example.org'] } })
  const ada = await openAccount(service, 'ada@example.org')
  const bob = await openAccount(service, 'bob@example.org')
  const root = await signIn(service, 'root@example.org')
  await service.parts.members.add(operator, ada.organizationId, 'eve@example.org', [])
  const eve = await signIn(service, 'eve@example.org')
  const { id } = await createWebhook(service, ada.token, 'https://hooks.example.org/a')
  const paths = ['', '/deliveries'].map((rest) => `/v1/webhooks/${id}${rest}`)
  for (const path of paths) {
    const statuses = []
    for (const { token } of [ada, bob, eve, root]) {
      statuses.push((await service.request('GET', path, { token })).status)
    }
    assert.deepEqual(statuses, [200, 404, 403, 404], path)
  }
  for (const [method, path, body] of [
    ['PATCH', '', { paused: true }],
    ['DELETE', '', undefined],
    ['POST', '/rotate', undefined],
    ['POST', '/test', undefined],
    ['POST', '/deliveries/msg_4f9QmZ1xYb7KcD2Lw8Rt/redeliver', undefined],
  ] as const) {
    const request = (token: string) =>
      service.request(method, `/v1/webhooks/${id}${path}`, { token, ...(body && { body }) })
    assert.deepEqual([(await request(bob.token)).status, (await request(eve.token)).status], [404, 403])
  }
  assert.equal((await service.request('GET', '/v1/admin/webhooks', { token: ada.token })).status, 403)
  assert.deepEqual((await service.request('GET', '/v1/admin/webhooks', { token: root.token })).body.data, [])
  const record = await service.request('GET', `/v1/webhooks/${id}`, { token: ada.token })
  assert.equal(record.body.secret, undefined)
})

test('the operator manages webhooks of the platform and of organizations on the command line', async (t) => {
  const service = await openTestServer(t, { settings: INTERNAL })
  const receiver = await openReceiver(t)
  const ada = await openAccount(service, 'ada@example.org')
  const run = async (...args: string[]) => {
    const { code, json, stderr } = await runCommand(service.config, 'webhook', ...args, '--json')
    assert.equal(code, 0, stderr)
    return json
  }
  const address = 'https://hooks.example.org/a'
  const of = ['--organization', ada.organizationId]
  const platform = await run('add', address, '--events', 'all')
  assert.deepEqual(platform.events, WEBHOOK_EVENTS)
  await run('add', address, '--events', 'key.created,member.added', '--description', 'CRM', ...of)
  const listed = await run('list', ...of)
  assert.deepEqual(
    listed.data.map(({ description, events }: Record<string, unknown>) => [description, events]),
    [['CRM', ['key.created', 'member.added']]],
  )
  assert.equal((await run('list')).data[0].id, platform.id)
  for (const args of [
    ['add', address, '--events', 'all', '--organization', 'org_4f9QmZ1xYb7KcD2Lw8Rt'],
    ['delete', 'whk_4f9QmZ1xYb7KcD2Lw8Rt'],
    ['deliveries', 'x'],
  ]) {
    assert.equal((await runCommand(service.config, 'webhook', ...args)).code, 1, args.join(' '))
  }
  assert.equal((await runCommand(service.config, 'webhook', 'add', address, '--events', 'other')).code, 2)

  // The command queues, and the running server sends.
  const { id } = await createWebhook(service, ada.token, receiver.url)
  const { secret } = await run('rotate', id, '--overlap', '0')
  const { id: messageId } = await run('test', id)
  verify(secret, await messageOf(receiver, 'webhook.test'))
  await until('the log', async () => (await run('deliveries', id)).data[0].state === 'delivered')
  await run('redeliver', id, messageId)
  assert.equal((await messageOf(receiver, 'webhook.test', 2)).headers['webhook-id'], messageId)
  assert.equal((await run('pause', id)).status, 'paused')
  assert.equal((await run('resume', id)).status, 'active')

  // A receiver that is gone: the webhook is paused, and its managers get a mail, which has a link to get no more.
  receiver.respond = (response) => void response.writeHead(410).end()
  await run('test', id)
  await until('the pause', async () => (await run('list', ...of)).data.at(-1).status === 'paused')
  const { source } = await nextMail(service, 'ada@example.org')
  assert.match(source, /^Subject: .*paused/im)
  assert.match(source, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click/m)
  await run('delete', id)
  assert.equal((await service.request('GET', `/v1/webhooks/${id}`, { token: ada.token })).status, 404)
})

test('the address of a receiver is checked', async (t) => {
  const service = await openTestServer(t)
  const { token } = await openAccount(service, 'ada@example.org')
  const create = async (url: string, more: object = {}) => {
    const body = { url, events: ['key.created'], ...more }
    return (await service.request('POST', '/v1/webhooks', { token, body })).status
  }
  for (const url of [
    'http://hooks.example.org/',
    'https://user:pass@hooks.example.org/',
    'ftp://hooks.example.org/',
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://[::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://169.254.169.254/latest/meta-data',
    'hooks.example.org',
  ])
    assert.equal(await create(url), 400, url)
  // PostgreSQL stores no NUL.
  for (const more of [{ description: '\0' }, { events: [] }, { events: ['other'] }, { secret: 'mine' }])
    assert.equal(await create('https://hooks.example.org/a', more), 400, JSON.stringify(more))
  assert.equal(await create('https://hooks.example.org/a#b'), 201)
  for (let more = 1; more < 20; more++) assert.equal(await create('https://hooks.example.org/a'), 201)
  assert.equal(await create('https://hooks.example.org/a'), 409)
})
