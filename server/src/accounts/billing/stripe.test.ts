import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { WEBHOOK_SECRET } from '../../../../scripts/test-servers/stripe-simulation.ts'
import { DAY, HOUR } from '../../base/clock.ts'
import { operator } from '../../base/events/events.ts'
import { nextMail } from '../../testing/sign-in.ts'
import { type DatabaseKind, databaseKinds, testOnce } from '../../testing/test-server.ts'
import { until } from '../../testing/until.ts'
import { ledgerOf, openShop, PACK, PLAN, requireSoundBooks } from './billing.test-kit.ts'
import { SignedStripe } from './stripe-simulation.test-kit.ts'

async function openStripeShop(t: TestContext, database: DatabaseKind = 'sqlite') {
  const stripe = await new SignedStripe().open(t)
  const shop = await openShop(t, { database, settings: stripe.settings() })
  const order = async (productId: string) => {
    const { status, body, text } = await shop.buy(productId)
    assert.equal(status, 201, text)
    return { id: body.orderId as string, session: stripe.sessionOf(body.orderId), body }
  }
  const stateOf = async (id: string) => (await shop.get(`orders/${id}`)).body.state
  return { ...shop, stripe, order, stateOf }
}

for (const database of databaseKinds) {
  test(`an event that arrives twice, at once or again, books a payment once (${database})`, async (t) => {
    const { service, account, add, stripe, order, stateOf } = await openStripeShop(t, database)
    const { id, session, body } = await order((await add(PACK)).id)
    assert.equal(body.state, 'open')
    assert.match(body.url, /^https:\/\/checkout\.example\//)
    // Before the payment, an event changes nothing.
    assert.equal((await stripe.tellSession(service, session)).status, 200)
    assert.equal(await stateOf(id), 'open')
    stripe.pay(session)
    const same = { id: 'evt_same' }
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => stripe.tellSession(service, session, same)),
    )
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    await Promise.all(Array.from({ length: 6 }, () => stripe.tellSession(service, session)))
    assert.equal(await stateOf(id), 'paid')
    assert.deepEqual(await ledgerOf(service, account), [['purchase', 100, 100]])
    await requireSoundBooks(service)
  })

  test(`a refund that is told before the payment leaves the books right (${database})`, async (t) => {
    const { service, account, add, stripe, order, stateOf } = await openStripeShop(t, database)
    const { id, session } = await order((await add(PACK)).id)
    const intent = stripe.pay(session)
    intent.refunded = 950
    assert.equal((await stripe.tellPayment(service, 'charge.refunded', intent)).status, 200)
    assert.deepEqual(await ledgerOf(service, account), [
      ['purchase', 100, 100],
      ['reversal', -50, 50],
    ])
    await stripe.tellSession(service, session)
    intent.refunded = 1900
    await stripe.tellPayment(service, 'charge.refunded', intent)
    await stripe.tellPayment(service, 'charge.refunded', intent)
    assert.equal(await stateOf(id), 'refunded')
    assert.equal((await ledgerOf(service, account)).at(-1)?.[2], 0)
    await requireSoundBooks(service)
  })

  test(`a dispute withdraws the credits, and a won one returns them (${database})`, async (t) => {
    const { service, account, add, stripe, order, stateOf } = await openStripeShop(t, database)
    const { id, session } = await order((await add(PACK)).id)
    const intent = stripe.pay(session)
    await stripe.tellSession(service, session)
    await service.parts.ledger.setCredits(operator, account.organizationId, 20)
    const tell = async (status: string) => {
      intent.dispute = status
      await stripe.tellPayment(service, 'charge.dispute.updated', intent)
      return stateOf(id)
    }
    assert.equal(await tell('needs_response'), 'held')
    assert.equal(await tell('under_review'), 'held')
    assert.equal(await tell('won'), 'paid')
    assert.equal(await tell('under_review'), 'held')
    assert.equal(await tell('lost'), 'refunded')
    assert.deepEqual(
      (await ledgerOf(service, account)).map(([kind, amount]) => [kind, amount]),
      [
        ['purchase', 100],
        ['correction', -80],
        ['reversal', -100],
        ['purchase', 100],
        ['reversal', -100],
      ],
    )
    await requireSoundBooks(service)
  })

  test(`a payment of another amount or currency is held, and a person decides (${database})`, async (t) => {
    const { service, account, add, stripe, order, stateOf } = await openStripeShop(t, database)
    const pack = await add(PACK)
    const less = await order(pack.id)
    stripe.pay(less.session, { amount: 1899 })
    await stripe.tellSession(service, less.session)
    const other = await order(pack.id)
    stripe.pay(other.session, { currency: 'usd' })
    await stripe.tellSession(service, other.session)
    await stripe.tellSession(service, other.session)
    assert.deepEqual([await stateOf(less.id), await stateOf(other.id)], ['held', 'held'])
    assert.deepEqual(await ledgerOf(service, account), [])
    assert.match((await nextMail(service, 'root@example.org')).source, /needs attention/)
    const { orders } = service.parts.billing
    assert.equal((await orders.markPaid(operator, less.id)).state, 'paid')
    assert.equal((await orders.cancel(operator, other.id, 'No.')).state, 'cancelled')
    assert.deepEqual(await ledgerOf(service, account), [['purchase', 100, 100]])
    await requireSoundBooks(service)
  })

  test(`an order whose event never arrives is booked by the reconciliation (${database})`, async (t) => {
    const { service, account, add, stripe, order, stateOf, pass } = await openStripeShop(t, database)
    const pack = await add(PACK)
    const paid = await order(pack.id)
    const left = await order(pack.id)
    stripe.pay(paid.session)
    left.session.status = 'expired'
    const { stripeEvents } = service.parts.billing
    await stripeEvents!.reconcile()
    assert.equal(await stateOf(paid.id), 'open')
    pass(HOUR / 5)
    await Promise.all([stripeEvents!.reconcile(), stripeEvents!.reconcile()])
    assert.deepEqual([await stateOf(paid.id), await stateOf(left.id)], ['paid', 'cancelled'])
    assert.deepEqual(await ledgerOf(service, account), [['purchase', 100, 100]])
    // A payment that arrives after the order was given up counts.
    stripe.pay(left.session)
    await stripe.tellSession(service, left.session)
    assert.equal(await stateOf(left.id), 'paid')
    await requireSoundBooks(service)
  })

  test(`a plan is renewed by the invoices of Stripe, once each, in any order (${database})`, async (t) => {
    const { service, account, add, stripe, order, clock, pass } = await openStripeShop(t, database)
    const plan = await add(PLAN)
    const { session } = await order(plan.id)
    stripe.pay(session)
    const first = stripe.invoices.get(session.invoice!)!
    const { db } = service.parts.database
    const current = () => db.selectFrom('subscriptions').selectAll().executeTakeFirstOrThrow()
    // The invoice is told before the session.
    await stripe.tellInvoice(service, first)
    await stripe.tellSession(service, session)
    await stripe.tellInvoice(service, first)
    assert.deepEqual(await ledgerOf(service, account), [['purchase', 50, 50]])
    const started = await current()
    assert.equal(started.reference, session.subscription)
    pass(new Date(started.period_end).getTime() - clock().getTime() + 1000)
    const second = stripe.renew(session)
    await Promise.all([stripe.tellInvoice(service, second), stripe.tellInvoice(service, second)])
    await stripe.tellInvoice(service, second)
    assert.deepEqual(await ledgerOf(service, account), [
      ['purchase', 50, 50],
      ['lapse', -50, 0],
      ['purchase', 50, 50],
    ])
    const renewed = await current()
    assert.deepEqual([renewed.periods, renewed.period_start], [2, started.period_end])
    // The third one is never told: the plan is past due until Stripe is asked.
    pass(new Date(renewed.period_end).getTime() - clock().getTime() + 1000)
    const { plans, stripeEvents } = service.parts.billing
    await plans.renewDue()
    assert.equal((await current()).state, 'past-due')
    stripe.renew(session)
    await stripeEvents!.reconcile()
    assert.deepEqual([(await current()).state, (await current()).periods], ['active', 3])
    // An attempt that failed before the invoice was paid is told late.
    await stripe.tellInvoice(service, second, 'invoice.payment_failed')
    assert.equal((await current()).state, 'active')
    // A failed renewal, without a payment in the days of grace.
    await stripe.tellInvoice(service, stripe.renew(session, 'open'), 'invoice.payment_failed')
    assert.equal((await current()).state, 'past-due')
    pass(8 * DAY)
    await plans.renewDue()
    assert.equal((await current()).state, 'ended')
    await stripeEvents!.reconcile()
    assert.equal(stripe.subscriptions.get(session.subscription!)!.status, 'canceled')
    const { addOns } = await service.parts.organizations.find(account.organizationId)
    assert.deepEqual(addOns, [])
    await requireSoundBooks(service)
  })

  test(`refunds and disputes whose events never arrive are found by the reconciliation (${database})`, async (t) => {
    const { service, account, add, stripe, order, pass } = await openStripeShop(t, database)
    const pack = await add(PACK)
    const orders = [await order(pack.id), await order(pack.id), await order(pack.id)]
    const intents = orders.map(({ session }) => stripe.pay(session))
    for (const { session } of orders) await stripe.tellSession(service, session)
    const { stripeEvents, orders: stored } = service.parts.billing
    const states = () =>
      Promise.all(orders.map(async ({ id }) => (await stored.all({ id, limit: 1 }))[0]!.state))
    await stripeEvents!.reconcile()
    assert.deepEqual(await states(), ['paid', 'paid', 'paid'])
    intents[0]!.refunded = 1900
    intents[1]!.dispute = 'needs_response'
    pass(20 * DAY)
    // A payment that Stripe does not find must not keep the others from being asked about.
    stripe.sessions.delete(orders[2]!.session.id)
    for (let round = 0; round < 4; round++) await stripeEvents!.reconcile().catch(() => {})
    assert.deepEqual(await states(), ['refunded', 'held', 'paid'])
    intents[1]!.dispute = 'won'
    for (let round = 0; round < 4; round++) await stripeEvents!.reconcile().catch(() => {})
    assert.deepEqual(await states(), ['refunded', 'paid', 'paid'])
    assert.equal((await ledgerOf(service, account)).at(-1)?.[2], 200)
    await requireSoundBooks(service)
  })

  test(`a plan that ends here ends at Stripe too, also if Stripe was down (${database})`, async (t) => {
    const { service, account, add, stripe, order } = await openStripeShop(t, database)
    const plan = await add(PLAN)
    const subscribe = async () => {
      const { id, session } = await order(plan.id)
      stripe.pay(session)
      await stripe.tellSession(service, session)
      return { id, atStripe: stripe.subscriptions.get(session.subscription!)! }
    }
    const { orders, stripeEvents } = service.parts.billing
    const refunded = await subscribe()
    await orders.refund(operator, refunded.id)
    await stripeEvents!.reconcile()
    assert.equal(refunded.atStripe.status, 'canceled')
    const closed = await subscribe()
    stripe.mode = 'fail'
    const path = `/v1/organization/${account.organizationId}`
    const deleted = await service.request('DELETE', path, { token: account.token })
    assert.equal(deleted.status, 204, deleted.text)
    await assert.rejects(stripeEvents!.reconcile())
    stripe.mode = 'work'
    assert.equal(closed.atStripe.status, 'active')
    await stripeEvents!.reconcile()
    assert.equal(closed.atStripe.status, 'canceled')
    const rows = await service.parts.database.db.selectFrom('subscriptions').select('state').execute()
    assert.deepEqual(rows, [{ state: 'ended' }, { state: 'ended' }])
    await requireSoundBooks(service)
  })

  test(`an upgrade is one payment at Stripe, and the next period has the new price (${database})`, async (t) => {
    const { service, account, add, stripe, order, clock, pass } = await openStripeShop(t, database)
    const plan = await add(PLAN)
    const larger = await add({ ...PLAN, name: 'City', price: 9900, credits: 150 })
    const { token } = account
    const post = (path: string, body?: object) =>
      service.request('POST', `/v1/billing/${path}`, { token, body })
    assert.equal((await post('portal')).status, 404)
    const { session } = await order(plan.id)
    stripe.pay(session)
    await stripe.tellSession(service, session)
    assert.equal((await post('portal')).body.url, 'https://portal.example/cus_1')
    const upgrade = await post('subscription/upgrade', { productId: larger.id })
    assert.deepEqual([upgrade.status, upgrade.body.state], [201, 'open'], upgrade.text)
    const paid = stripe.sessionOf(upgrade.body.orderId)
    assert.deepEqual([paid.mode, paid.amount], ['payment', 5000])
    stripe.pay(paid)
    await Promise.all([stripe.tellSession(service, paid), stripe.tellSession(service, paid)])
    assert.match((await nextMail(service, 'ada@example.org')).source, /payment has arrived/)
    assert.match((await nextMail(service, 'ada@example.org')).source, /plan was upgraded/)
    const { db } = service.parts.database
    const current = () => db.selectFrom('subscriptions').selectAll().executeTakeFirstOrThrow()
    assert.deepEqual([(await current()).product_id, (await current()).to_reprice], [larger.id, 1])
    const { stripeEvents } = service.parts.billing
    await stripeEvents!.reconcile()
    assert.deepEqual(
      [(await current()).to_reprice, stripe.subscriptions.get(session.subscription!)!.price],
      [0, 9900],
    )
    pass(Date.parse((await current()).period_end) - clock().getTime() + 1000)
    await stripe.tellInvoice(service, stripe.renew(session))
    assert.deepEqual(await ledgerOf(service, account), [
      ['purchase', 50, 50],
      ['purchase', 100, 150],
      ['lapse', -100, 50],
      ['lapse', -50, 0],
      ['purchase', 150, 150],
    ])
    await requireSoundBooks(service)
  })

  test(`a plan that is cancelled inside Stripe is cancelled here (${database})`, async (t) => {
    const { add, service, stripe, order, get } = await openStripeShop(t, database)
    const { session } = await order((await add(PLAN)).id)
    stripe.pay(session)
    await stripe.tellSession(service, session)
    const { stripeEvents } = service.parts.billing
    const atStripe = stripe.subscriptions.get(session.subscription!)!
    const cancels = async () => (await get('subscription')).body.cancelsAtEnd
    for (const cancelsAtEnd of [true, false]) {
      atStripe.cancelsAtEnd = cancelsAtEnd
      await stripeEvents!.reconcile()
      assert.equal(await cancels(), cancelsAtEnd)
    }
    atStripe.cancelsAtEnd = true
    const object = { id: session.subscription!, object: 'subscription' }
    await stripe.send(service, { type: 'customer.subscription.updated', object })
    assert.equal(await cancels(), true)
    atStripe.status = 'canceled'
    await stripeEvents!.reconcile()
    assert.equal((await get('subscription')).status, 404)
    await requireSoundBooks(service)
  })

  testOnce(database, 'events that are not genuine are 400 and change nothing', async (t) => {
    const { service, account, add, stripe, order, stateOf } = await openStripeShop(t)
    const { id, session } = await order((await add(PACK)).id)
    stripe.pay(session)
    const old = Math.floor(Date.now() / 1000) - 400
    for (const wrong of [
      { secret: 'whsec_other' },
      { livemode: true },
      { account: 'acct_other' },
      { timestamp: old },
      { payload: '{"id":"evt_1","object":"event","livemode":false,"type":"x","data":{"object":{}}}' },
    ]) {
      const { status, body } = await stripe.tellSession(service, session, wrong)
      assert.deepEqual([status, body.code], [400, 'event-refused'], JSON.stringify(wrong))
    }
    const unsigned = await service.request('POST', '/v1/billing/events/stripe', { body: {} })
    assert.equal(unsigned.status, 400)
    const keyed = await service.request('POST', '/v1/billing/events/stripe', {
      body: {},
      headers: { 'idempotency-key': 'a' },
    })
    assert.equal(keyed.status, 400)
    assert.equal(await stateOf(id), 'open')
    assert.deepEqual(await ledgerOf(service, account), [])
    const log = service.logLines.join('')
    assert.ok(!log.includes('sk_test_simulation') && !log.includes(WEBHOOK_SECRET))
  })

  testOnce(database, 'a Stripe that never responds makes a checkout 503 and nothing else wait', async (t) => {
    const settings = { stripeTimeout: 1 }
    const stripe = await new SignedStripe().open(t)
    const { add, buy, get } = await openShop(t, { settings: { ...stripe.settings(), ...settings } })
    const pack = await add(PACK)
    stripe.mode = 'hang'
    const events: string[] = []
    const checkouts = [1, 2, 3].map(async () => {
      const { status, body } = await buy(pack.id)
      events.push(`checkout ${status} ${body.code}`)
    })
    // Asked for while all checkouts wait for Stripe, and returned before any of them.
    await until('the checkouts reach Stripe', async () => stripe.waiting === 3)
    for (const path of ['orders', 'products', 'profile']) events.push(`${(await get(path)).status}`)
    await Promise.all(checkouts)
    const refused = 'checkout 503 payment-unavailable'
    assert.deepEqual(events, ['200', '200', '200', refused, refused, refused])
    stripe.mode = 'work'
    assert.deepEqual((await get('orders')).body.data, [])
  })

  testOnce(
    database,
    'while Stripe is down, a checkout is 503 and leaves nothing, and events are sent again',
    async (t) => {
      const { service, add, buy, stripe, order, stateOf, get } = await openStripeShop(t)
      const pack = await add(PACK)
      const { id, session } = await order(pack.id)
      stripe.pay(session)
      stripe.mode = 'fail'
      const refused = await buy(pack.id)
      assert.deepEqual([refused.status, refused.body.code], [503, 'payment-unavailable'])
      assert.ok(refused.headers.get('retry-after'))
      const event = { id: 'evt_again' }
      assert.equal((await stripe.tellSession(service, session, event)).status, 503)
      stripe.mode = 'work'
      assert.equal((await get('orders')).body.data.length, 1)
      assert.equal((await stripe.tellSession(service, session, event)).status, 200)
      assert.equal(await stateOf(id), 'paid')
      assert.ok(!service.logLines.join('').includes('sk_test_simulation'))
    },
  )
}
