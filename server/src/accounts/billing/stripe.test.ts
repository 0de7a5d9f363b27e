import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { DAY, HOUR } from '../../base/clock.ts'
import { operator } from '../../base/events/events.ts'
import { nextMail } from '../../testing/sign-in.ts'
import { type DatabaseKind, databaseKinds, testOnce } from '../../testing/test-server.ts'
import { ledgerOf, openShop, PACK, PLAN, requireSoundBooks } from './billing.test-kit.ts'
import { StripeSimulation, WEBHOOK_SECRET } from './stripe-simulation.test-kit.ts'

async function openStripeShop(t: TestContext, database: DatabaseKind = 'sqlite') {
  const stripe = await new StripeSimulation().open(t)
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
    assert.equal((await stripe.sessionEvent(service, session)).status, 200)
    assert.equal(await stateOf(id), 'open')
    stripe.pay(session)
    const same = { id: 'evt_same' }
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => stripe.sessionEvent(service, session, same)),
    )
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    await Promise.all(Array.from({ length: 6 }, () => stripe.sessionEvent(service, session)))
    assert.equal(await stateOf(id), 'paid')
    assert.deepEqual(await ledgerOf(service, account), [['purchase', 100, 100]])
    await requireSoundBooks(service)
  })

  test(`a refund that is told before the payment leaves the books right (${database})`, async (t) => {
    const { service, account, add, stripe, order, stateOf } = await openStripeShop(t, database)
    const { id, session } = await order((await add(PACK)).id)
    const intent = stripe.pay(session)
    intent.refunded = 950
    assert.equal((await stripe.paymentEvent(service, 'charge.refunded', intent)).status, 200)
    assert.deepEqual(await ledgerOf(service, account), [
      ['purchase', 100, 100],
      ['reversal', -50, 50],
    ])
    await stripe.sessionEvent(service, session)
    intent.refunded = 1900
    await stripe.paymentEvent(service, 'charge.refunded', intent)
    await stripe.paymentEvent(service, 'charge.refunded', intent)
    assert.equal(await stateOf(id), 'refunded')
    assert.equal((await ledgerOf(service, account)).at(-1)?.[2], 0)
    await requireSoundBooks(service)
  })

  test(`a dispute withdraws the credits, and a won one returns them (${database})`, async (t) => {
    const { service, account, add, stripe, order, stateOf } = await openStripeShop(t, database)
    const { id, session } = await order((await add(PACK)).id)
    const intent = stripe.pay(session)
    await stripe.sessionEvent(service, session)
    await service.parts.ledger.setCredits(operator, account.organizationId, 20)
    const tell = async (status: string) => {
      intent.dispute = status
      await stripe.paymentEvent(service, 'charge.dispute.updated', intent)
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
    await stripe.sessionEvent(service, less.session)
    const other = await order(pack.id)
    stripe.pay(other.session, { currency: 'usd' })
    await stripe.sessionEvent(service, other.session)
    await stripe.sessionEvent(service, other.session)
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
    await stripe.sessionEvent(service, left.session)
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
    await stripe.invoiceEvent(service, first)
    await stripe.sessionEvent(service, session)
    await stripe.invoiceEvent(service, first)
    assert.deepEqual(await ledgerOf(service, account), [['purchase', 50, 50]])
    const started = await current()
    assert.equal(started.reference, session.subscription)
    pass(new Date(started.period_end).getTime() - clock().getTime() + 1000)
    const second = stripe.renew(session)
    await Promise.all([stripe.invoiceEvent(service, second), stripe.invoiceEvent(service, second)])
    await stripe.invoiceEvent(service, second)
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
    await stripe.invoiceEvent(service, second, 'invoice.payment_failed')
    assert.equal((await current()).state, 'active')
    // A failed renewal, without a payment in the days of grace.
    await stripe.invoiceEvent(service, stripe.renew(session, 'open'), 'invoice.payment_failed')
    assert.equal((await current()).state, 'past-due')
    pass(8 * DAY)
    await plans.renewDue()
    assert.equal((await current()).state, 'ended')
    assert.equal(stripe.subscriptions.get(session.subscription!)!.status, 'canceled')
    const { addOns } = await service.parts.organizations.find(account.organizationId)
    assert.deepEqual(addOns, [])
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
      const { status, body } = await stripe.sessionEvent(service, session, wrong)
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
      assert.equal((await stripe.sessionEvent(service, session, event)).status, 503)
      stripe.mode = 'work'
      assert.equal((await get('orders')).body.data.length, 1)
      assert.equal((await stripe.sessionEvent(service, session, event)).status, 200)
      assert.equal(await stateOf(id), 'paid')
      assert.ok(!service.logLines.join('').includes('sk_test_simulation'))
    },
  )
}
