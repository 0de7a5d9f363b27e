import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY } from '../../../base/clock.ts'
import { operator } from '../../../base/events/events.ts'
import { grantOf } from '../../../testing/account.ts'
import { points, publishText } from '../../../testing/publish.ts'
import { nextMail, signIn } from '../../../testing/sign-in.ts'
import { databaseKinds, testOnce } from '../../../testing/test-server.ts'
import { ledgerOf, openShop, PACK, PLAN, requireSoundBooks } from '../billing.test-kit.ts'
import { periodEnd } from './plan-periods.ts'
import { prorate } from './plan-upgrades.ts'

test('a period ends on the same day of the month, or on the last one', () => {
  const ends = (anchor: string, period: 'month' | 'year', count: number) =>
    Array.from({ length: count }, (_, i) =>
      periodEnd(new Date(anchor), period, i + 1)
        .toISOString()
        .slice(0, 10),
    )
  assert.deepEqual(ends('2027-01-31T10:00:00Z', 'month', 3), ['2027-02-28', '2027-03-31', '2027-04-30'])
  assert.deepEqual(ends('2027-12-15T10:00:00Z', 'month', 2), ['2028-01-15', '2028-02-15'])
  assert.deepEqual(ends('2028-02-29T10:00:00Z', 'year', 4), [
    '2029-02-28',
    '2030-02-28',
    '2031-02-28',
    '2032-02-29',
  ])
})

test('an upgrade costs the difference of the prices for the rest of the period', () => {
  const [small, large] = [
    { price: 4900, credits: 50 },
    { price: 9900, credits: 500 },
  ]
  const at = (now: number) => prorate(small, large, { start: 0, end: 1000, now })
  assert.deepEqual(at(0), { amount: 5000, credits: 450 })
  assert.deepEqual(at(500), { amount: 2500, credits: 225 })
  assert.deepEqual(at(999), { amount: 5, credits: 0 })
  assert.deepEqual(at(2000), { amount: 0, credits: 0 })
  assert.deepEqual(prorate(large, { price: 9901, credits: 0 }, { start: 0, end: 2, now: 1 }), {
    amount: 1,
    credits: 0,
  })
})

for (const database of databaseKinds) {
  test(`a plan gives add-ons and credits for each period, and what is left lapses (${database})`, async (t) => {
    const { service, account, add, buy, get, clock, pass } = await openShop(t, { database })
    const pack = await add(PACK)
    const plan = await add(PLAN)
    await buy(pack.id)
    assert.equal((await get('subscription')).status, 404)
    assert.equal((await buy(plan.id)).body.state, 'paid')
    const { body: subscription } = await get('subscription')
    assert.deepEqual(
      [subscription.state, subscription.productName, subscription.cancelsAtEnd, subscription.addOns],
      ['active', 'Town plan', false, ['API_ACCESS']],
    )
    const addOns = async () => (await service.parts.organizations.find(account.organizationId)).addOns
    assert.deepEqual(await addOns(), ['API_ACCESS'])
    // A second plan is refused while there is one.
    assert.equal((await buy(plan.id)).status, 409)
    const call = { operation: 'download', table: 'places', format: 'csv' }
    await service.parts.cashier.charge({ grant: grantOf(account), call, version: 1, price: 20 })
    const { plans } = service.parts.billing
    const nextPeriod = () =>
      service.parts.database.db
        .selectFrom('subscriptions')
        .select('period_end')
        .executeTakeFirstOrThrow()
        .then(({ period_end }) => pass(Date.parse(period_end) - clock().getTime() + 1000))
    await plans.renewDue()
    await nextPeriod()
    await Promise.all([plans.renewDue(), plans.renewDue()])
    // The credits of the plan were spent first: 30 of its 50 lapse, and those of the pack stay.
    assert.deepEqual(await ledgerOf(service, account), [
      ['purchase', 100, 100],
      ['purchase', 50, 150],
      ['download', -20, 130],
      ['lapse', -30, 100],
      ['purchase', 50, 150],
    ])
    const caller = { userId: account.userId, organizationId: account.organizationId, origin: operator }
    assert.equal((await plans.cancel(caller, account.organizationId)).cancelsAtEnd, true)
    await plans.renewDue()
    assert.deepEqual(await addOns(), ['API_ACCESS'])
    await nextPeriod()
    await plans.renewDue()
    assert.deepEqual(await addOns(), [])
    assert.equal((await ledgerOf(service, account)).at(-1)?.[2], 100)
    await requireSoundBooks(service)
  })

  test(`a renewal by invoice has days of grace, and the plan ends without a payment (${database})`, async (t) => {
    const { service, account, add, buy, clock, pass } = await openShop(t, { database })
    const plan = await add({ ...PLAN, keepsCredits: true })
    const { orderId } = (await buy(plan.id, { provider: 'invoice' })).body
    const { plans, orders } = service.parts.billing
    const { db } = service.parts.database
    const current = () => db.selectFrom('subscriptions').selectAll().executeTakeFirst()
    assert.equal(await current(), undefined)
    await orders.markPaid(operator, orderId)
    const nextPeriod = async () => pass(Date.parse((await current())!.period_end) - clock().getTime() + 1000)
    await nextPeriod()
    await plans.renewDue()
    await plans.renewDue()
    assert.equal((await current())?.state, 'past-due')
    const open = await orders.all({ state: 'open', limit: 10 })
    assert.equal(open.length, 1)
    pass(3 * DAY)
    await plans.renewDue()
    await orders.markPaid(operator, open[0]!.id)
    const renewed = (await current())!
    assert.deepEqual([renewed.state, renewed.periods], ['active', 2])
    // Credits of this plan are kept.
    assert.deepEqual(await ledgerOf(service, account), [
      ['purchase', 50, 50],
      ['purchase', 50, 100],
    ])
    await nextPeriod()
    await plans.renewDue()
    pass(8 * DAY)
    await plans.renewDue()
    assert.equal((await current())?.state, 'ended')
    assert.deepEqual(await orders.all({ state: 'open', limit: 10 }), [])
    assert.equal((await orders.all({ state: 'cancelled', limit: 10 })).length, 1)
    await requireSoundBooks(service)
  })

  test(`a refund of the current period ends the plan and takes no credits twice (${database})`, async (t) => {
    const { service, account, add, buy, clock, pass } = await openShop(t, { database })
    const plan = await add(PLAN)
    const first = (await buy(plan.id)).body.orderId
    const { plans, orders } = service.parts.billing
    pass(Date.parse((await orders.all({ id: first, limit: 1 }))[0]!.periodEnd!) - clock().getTime() + 1000)
    await plans.renewDue()
    // The credits of the first period have lapsed.
    const old = await orders.refund(operator, first)
    assert.deepEqual([old.state, old.withdrawnCredits], ['refunded', 0])
    const [second] = await orders.all({ state: 'paid', limit: 1 })
    await orders.refund(operator, second!.id)
    assert.deepEqual(await ledgerOf(service, account), [
      ['purchase', 50, 50],
      ['lapse', -50, 0],
      ['purchase', 50, 50],
      // Money without credits.
      ['reversal', 0, 50],
      ['reversal', -50, 0],
    ])
    assert.deepEqual((await service.parts.organizations.find(account.organizationId)).addOns, [])
    await requireSoundBooks(service)
  })

  test(`a plan sets rate, features, keys and members while it lasts (${database})`, async (t) => {
    const { service, account, add, buy } = await openShop(t, { database })
    await publishText(service, 'places', 'a.geojson', points(9), {})
    const limits = { requestsPerMinute: 40, featuresPerDay: 5, keys: 2, members: 2 }
    const plan = await add({ ...PLAN, addOns: ['GIS_ACCESS'], limits })
    await assert.rejects(async () => add({ ...PACK, limits }), { code: 'invalid-input' })
    const { token, organizationId, key } = account
    const items = () => service.request('GET', '/v1/ogc/collections/places/items?limit=5', { key })
    const { body } = await buy(plan.id)
    assert.equal(body.state, 'paid')
    const first = await items()
    assert.deepEqual([first.status, first.body.features.length], [200, 5])
    assert.match(first.headers.get('ratelimit-policy')!, /q=40;/)
    assert.equal((await items()).status, 429)
    const newKey = () =>
      service.request('POST', `/v1/api-keys/organization/${organizationId}`, {
        token,
        body: { name: 'Another', permissions: ['read'] },
      })
    const created = await Promise.all([newKey(), newKey()])
    assert.deepEqual(created.map(({ status }) => status).sort(), [201, 409])
    const personal = { token, body: { name: 'Mine', permissions: ['read'] } }
    const refused = await service.request('POST', '/v1/api-keys/personal', personal)
    assert.deepEqual([refused.status, refused.body.code], [409, 'key-limit-reached'])
    const invite = (email: string) =>
      service.request('POST', `/v1/organization/${organizationId}/invitations`, {
        token,
        body: { email, permissions: [] },
      })
    assert.equal((await invite('bob@example.org')).status, 201)
    assert.equal((await invite('cyd@example.org')).body.code, 'member-limit-reached')
    // An operator is not limited; the invitation finds no room then.
    await service.parts.members.add(operator, organizationId, 'dan@example.org')
    const { token: invitation } = await nextMail(service, 'bob@example.org')
    const bob = await signIn(service, 'bob@example.org')
    const accepted = await service.request('POST', '/v1/invitations/accept', {
      token: bob.token,
      body: { token: invitation },
    })
    assert.deepEqual([accepted.status, accepted.body.code], [409, 'member-limit-reached'])
    await service.parts.billing.orders.refund(operator, body.orderId)
    await service.parts.administration.setAddOns(operator, organizationId, () => ['GIS_ACCESS'])
    assert.equal((await newKey()).status, 201)
    const after = await items()
    assert.equal(after.status, 200, after.text)
    assert.doesNotMatch(after.headers.get('ratelimit-policy')!, /q=40;/)
    assert.equal((await invite('cyd@example.org')).status, 201)
  })

  test(`an upgrade holds at once for the rest of the period, and a refund takes it back (${database})`, async (t) => {
    const { service, account, add, clock, pass } = await openShop(t, { database })
    const plan = await add(PLAN)
    const larger = await add({ ...PLAN, name: 'City', price: 9900, credits: 550, addOns: ['GIS_ACCESS'] })
    const yearly = await add({ ...PLAN, name: 'Year', price: 99_000, period: 'year' })
    const caller = {
      userId: account.userId,
      organizationId: account.organizationId,
      email: 'ada@example.org',
      origin: operator,
    }
    const id = account.organizationId
    const { orders, upgrades, plans } = service.parts.billing
    await orders.checkout(caller, id, { productId: plan.id })
    const { db } = service.parts.database
    const current = () => db.selectFrom('subscriptions').selectAll().executeTakeFirstOrThrow()
    const { period_start, period_end } = await current()
    pass((Date.parse(period_end) - Date.parse(period_start)) / 2)
    assert.deepEqual(await upgrades.list(caller, id), [
      { productId: larger.id, currency: 'EUR', amount: 2500, credits: 250 },
    ])
    await assert.rejects(upgrades.order(caller, id, { productId: yearly.id }), { code: 'conflict' })
    const started = await upgrades.order(caller, id, { productId: larger.id })
    assert.equal(started.state, 'paid')
    await assert.rejects(upgrades.order(caller, id, { productId: plan.id }), { code: 'conflict' })
    const organization = () => service.parts.organizations.find(id)
    assert.deepEqual(
      [(await organization()).addOns, (await current()).product_id],
      [['GIS_ACCESS'], larger.id],
    )
    const [invoice] = (await service.parts.billing.profiles.invoices(caller, id)).slice(0, 1)
    assert.equal(invoice!.amount, 2500)
    await orders.refund(operator, started.orderId)
    assert.deepEqual([(await organization()).addOns, (await current()).product_id], [['API_ACCESS'], plan.id])
    await upgrades.order(caller, id, { productId: larger.id })
    const call = { operation: 'download', table: 'places', format: 'csv' }
    await service.parts.cashier.charge({ grant: grantOf(account), call, version: 1, price: 60 })
    pass(Date.parse(period_end) - clock().getTime() + 1000)
    await plans.renewDue()
    // 50 and 10 of 250 are spent; the next period has the price and the credits of the larger plan.
    assert.deepEqual(await ledgerOf(service, account), [
      ['purchase', 50, 50],
      ['purchase', 250, 300],
      ['reversal', -250, 50],
      ['purchase', 250, 300],
      ['download', -60, 240],
      ['lapse', -240, 0],
      ['purchase', 550, 550],
    ])
    assert.equal((await orders.all({ limit: 1 }))[0]!.amount, 9900)
    await requireSoundBooks(service)
  })

  testOnce(database, 'an upgrade that is paid too late is held', async (t) => {
    const { service, account, add, clock, pass } = await openShop(t, {
      settings: { payments: ['invoice', 'demo'] },
    })
    const plan = await add(PLAN)
    const larger = await add({ ...PLAN, name: 'City', price: 9900 })
    const { userId, organizationId } = account
    const caller = { userId, organizationId, email: 'ada@example.org', origin: operator }
    const { orders, upgrades, plans } = service.parts.billing
    const { orderId } = await orders.checkout(caller, organizationId, { productId: plan.id })
    await orders.markPaid(operator, orderId)
    const [first, second] = [
      await upgrades.order(caller, organizationId, { productId: larger.id }),
      await upgrades.order(caller, organizationId, { productId: larger.id }),
    ]
    await orders.markPaid(operator, first.orderId)
    // Paid twice: the plan is the larger one already.
    await assert.rejects(orders.markPaid(operator, second.orderId), /changed before the upgrade/)
    const { period_end } = await service.parts.database.db
      .selectFrom('subscriptions')
      .select('period_end')
      .executeTakeFirstOrThrow()
    pass(Date.parse(period_end) - clock().getTime() + 1000)
    await plans.renewDue()
    assert.equal((await orders.cancel(operator, second.orderId, 'Twice.')).state, 'cancelled')
    await requireSoundBooks(service)
  })

  testOnce(
    database,
    'another plan follows at the end of the period, at the price that it had when it was chosen',
    async (t) => {
      const { service, account, add, buy, clock, pass } = await openShop(t)
      const plan = await add(PLAN)
      const larger = await add({
        ...PLAN,
        name: 'City plan',
        price: 9900,
        credits: 500,
        addOns: ['GIS_ACCESS'],
      })
      const { orderId } = (await buy(plan.id)).body
      const change = await service.request('POST', '/v1/billing/subscription/change', {
        token: account.token,
        body: { productId: larger.id },
      })
      assert.deepEqual([change.status, change.body.nextProductId], [200, larger.id], change.text)
      // The price of that day holds. A change can be withdrawn also if the current plan is not sold any more.
      await service.parts.products.change(operator, larger.id, { price: 12_900 })
      await service.parts.products.retire(operator, plan.id)
      const caller = { userId: account.userId, organizationId: account.organizationId, origin: operator }
      const withdrawn = await service.parts.billing.plans.change(caller, account.organizationId, plan.id)
      assert.equal(withdrawn.nextProductId, null)
      await service.parts.billing.plans.change(caller, account.organizationId, larger.id)
      await service.parts.products.change(operator, larger.id, { price: 15_900 })
      const { plans, orders } = service.parts.billing
      pass(
        Date.parse((await orders.all({ id: orderId, limit: 1 }))[0]!.periodEnd!) - clock().getTime() + 1000,
      )
      await plans.renewDue()
      const [renewal] = await orders.all({ limit: 1 })
      assert.deepEqual([renewal!.productName, renewal!.amount], ['City plan', 12_900])
      const organization = await service.parts.organizations.find(account.organizationId)
      assert.deepEqual([organization.addOns, organization.credits], [['GIS_ACCESS'], 500])
      await requireSoundBooks(service)
    },
  )
}
