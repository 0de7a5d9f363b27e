import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { DAY, MINUTE, plus, SECOND } from '../../base/clock.ts'
import { operator } from '../../base/events/events.ts'
import { Problem } from '../../base/problem.ts'
import { openAccount } from '../../testing/account.ts'
import { type DatabaseKind, databaseKinds, openTestServer } from '../../testing/test-server.ts'

const ORGANIZATIONS = '/v1/admin/organizations'

async function open(t: TestContext, database: DatabaseKind) {
  let now = new Date('2026-11-15T12:00:00Z')
  const service = await openTestServer(t, { database, clock: () => now })
  const { keys, administration } = service.parts
  const admin = await keys.createPlatform(operator, { name: 'Shop', permissions: ['admin'] })
  const post = (path: string, body: unknown, key?: string, secret = admin.secret) =>
    service.request('POST', path, {
      key: secret,
      body,
      headers: key === undefined ? {} : { 'idempotency-key': key },
    })
  const names = async () => (await administration.organizations()).map(({ name }) => name).sort()
  const pass = (milliseconds: number) => {
    now = plus(now, milliseconds)
  }
  return { service, admin, post, names, pass, clock: () => now }
}

for (const database of databaseKinds) {
  test(`a repeated request gets the stored response and is carried out once (${database})`, async (t) => {
    const { service, post, names, pass } = await open(t, database)
    const first = await post(ORGANIZATIONS, { name: 'One' }, 'a')
    assert.equal(first.status, 201, first.text)
    assert.equal(first.headers.get('idempotency-replayed'), null)
    const again = await post(ORGANIZATIONS, { name: 'One' }, 'a')
    assert.deepEqual([again.status, again.text], [201, first.text])
    assert.equal(again.headers.get('idempotency-replayed'), 'true')
    assert.equal(again.headers.get('content-type'), first.headers.get('content-type'))
    assert.deepEqual(await names(), ['One'])

    // The same key for anything else.
    const credits = `${ORGANIZATIONS}/${first.body.id}/credits`
    for (const other of [
      await post(ORGANIZATIONS, { name: 'Two' }, 'a'),
      await post(credits, { add: 5 }, 'a'),
    ]) {
      assert.deepEqual([other.status, other.body.code], [409, 'idempotency-mismatch'])
    }
    for (let round = 0; round < 3; round++) {
      const granted = await post(credits, { add: 5 }, 'b')
      assert.deepEqual([granted.status, granted.body.credits.balance], [200, 5])
    }
    // A refusal is a response too.
    const unknown = `${ORGANIZATIONS}/org_0000000000000000000A/credits`
    for (let round = 0; round < 2; round++) assert.equal((await post(unknown, { add: 5 }, 'c')).status, 404)

    // Another caller's key of the same name, and requests without one, are requests of their own.
    const { keys } = service.parts
    const other = await keys.createPlatform(operator, { name: 'ERP', permissions: ['admin'] })
    assert.equal((await post(ORGANIZATIONS, { name: 'Three' }, 'a', other.secret)).status, 201)
    for (let round = 0; round < 2; round++) await post(ORGANIZATIONS, { name: 'Same' })
    assert.deepEqual(await names(), ['One', 'Same', 'Same', 'Three'])

    pass(DAY - SECOND)
    assert.equal((await post(ORGANIZATIONS, { name: 'One' }, 'a')).body.id, first.body.id)
    pass(SECOND)
    assert.notEqual((await post(ORGANIZATIONS, { name: 'One' }, 'a')).body.id, first.body.id)
  })

  test(`one of many equal requests at the same time is carried out (${database})`, async (t) => {
    const { post, names } = await open(t, database)
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => post(ORGANIZATIONS, { name: 'One' }, 'a')),
    )
    for (const { status, body, headers } of answers) {
      if (status === 201) continue
      assert.deepEqual([status, body.code], [409, 'idempotency-in-progress'])
      assert.equal(headers.get('retry-after'), '1')
    }
    assert.ok(answers.some(({ status }) => status === 201))
    assert.deepEqual(await names(), ['One'])
    assert.equal((await post(ORGANIZATIONS, { name: 'One' }, 'a')).status, 201)
  })

  test(`an attempt that died is repeated if it changed nothing, and never if it did (${database})`, async (t) => {
    const { service, names, pass } = await open(t, database)
    const { idempotentRequests: requests, organizations } = service.parts
    const request = { actor: 'key:a', key: 'a', content: 'POST /a' }
    const begin = async () => {
      const begun = await requests.begin(request)
      assert.ok('attempt' in begun)
      return begun.attempt
    }
    const code = async (work: Promise<unknown>) =>
      work.then(
        () => null,
        (error: unknown) => (error instanceof Problem ? error.code : error),
      )
    const create = (attempt: Awaited<ReturnType<typeof begin>>, name: string) =>
      organizations.create({ ...operator, attempt }, name)

    const slow = await begin()
    assert.equal(await code(requests.begin(request)), 'idempotency-in-progress')
    pass(MINUTE)
    const next = await begin()
    // The first one was not dead but slow: its transaction is rolled back.
    assert.equal(await code(create(slow, 'Slow')), 'idempotency-in-progress')
    const { id } = await create(next, 'Next')
    assert.equal(await code(create(slow, 'Slow')), 'idempotency-in-progress')
    assert.deepEqual(await names(), ['Next'])

    // The process dies before the response is stored.
    assert.equal(await code(requests.begin(request)), 'idempotency-in-progress')
    pass(MINUTE)
    const lost = await requests.begin(request).catch((error: unknown) => error)
    assert.ok(lost instanceof Problem)
    assert.equal(lost.code, 'idempotency-response-lost')
    assert.match(lost.message, new RegExp(`organization:${id}`))

    // A failure of the service releases the key only if nothing was changed.
    await requests.fail(next)
    assert.equal(await code(requests.begin(request)), 'idempotency-response-lost')
    const other = { ...request, key: 'b' }
    const failed = await requests.begin(other)
    assert.ok('attempt' in failed)
    await requests.fail(failed.attempt)
    assert.ok('attempt' in (await requests.begin(other)))
  })
}

test('the secret of a new key is repeated, and the database does not contain it', async (t) => {
  const { service, post } = await open(t, 'sqlite')
  const created = await post('/v1/admin/keys', { name: 'New', permissions: ['read'] }, 'a')
  assert.equal(created.status, 201)
  const again = await post('/v1/admin/keys', { name: 'New', permissions: ['read'] }, 'a')
  assert.equal(again.body.secret, created.body.secret)
  assert.equal(again.headers.get('location'), created.headers.get('location'))
  const rotate = `/v1/admin/keys/${created.body.id}/rotate`
  const rotated = await post(rotate, undefined, 'b')
  assert.equal((await post(rotate, undefined, 'b')).body.secret, rotated.body.secret)
  const rows = await service.parts.database.db.selectFrom('idempotency_keys').selectAll().execute()
  assert.equal(rows.length, 2)
  for (const { body } of [created, rotated]) assert.ok(!JSON.stringify(rows).includes(body.secret.slice(9)))
})

test('the same request for another organization of the user is another one', async (t) => {
  const settings = { payments: ['demo'] as ['demo'] }
  const service = await openTestServer(t, { settings })
  const ada = await openAccount(service, 'ada@example.org')
  const other = await openAccount(service, 'eve@example.org')
  await service.parts.members.add(operator, other.organizationId, 'ada@example.org', ['BILLING_MANAGE'])
  const body = { organizationId: other.organizationId }
  const switched = await service.request('POST', '/v1/auth/switch', { token: ada.token, body })
  const product = { kind: 'pack', name: 'Pack', price: 100, currency: 'EUR', credits: 10 } as const
  const { id: productId } = await service.parts.products.add(operator, product)
  const buy = (token: string, key: string) =>
    service.request('POST', '/v1/billing/checkout', {
      token,
      body: { productId },
      headers: { 'idempotency-key': key },
    })
  assert.equal((await buy(ada.token, 'a')).status, 201)
  const replayed = await buy(switched.body.accessToken, 'a')
  assert.deepEqual([replayed.status, replayed.body.code], [409, 'idempotency-mismatch'])
  assert.equal((await buy(switched.body.accessToken, 'b')).status, 201)
  const orders = await service.parts.database.db.selectFrom('orders').select('organization_id').execute()
  assert.deepEqual(
    orders.map((order) => order.organization_id).sort(),
    [ada.organizationId, other.organizationId].sort(),
  )
})

test('a key that is empty, too long or not plain text is 400', async (t) => {
  const { post, names } = await open(t, 'sqlite')
  for (const key of ['x'.repeat(256), 'ü', 'a b']) {
    const answer = await post(ORGANIZATIONS, { name: 'One' }, key)
    assert.deepEqual([answer.status, answer.body.code], [400, 'invalid-input'], key)
  }
  assert.deepEqual(await names(), [])
  assert.equal((await post(ORGANIZATIONS, { name: 'One' }, 'x'.repeat(255))).status, 201)
})
