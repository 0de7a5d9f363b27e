import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WEBHOOK_SECRET } from '../../../../../scripts/test-servers/stripe-simulation.ts'
import { DAY, HOUR } from '../../../base/clock.ts'
import { operator } from '../../../base/events/events.ts'
import { nextMail } from '../../../testing/sign-in.ts'
import { SignedStripe } from '../../../testing/signed-stripe.ts'
import { databaseKinds, testOnce } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'
import { ledgerOf, openShop, PACK, requireSoundBooks } from '../billing.test-kit.ts'
import { openStripeShop } from './stripe.test-kit.ts'

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

  test(`a refund that is reported before its payment leaves the books right (${database})`, async (t) => {
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
        // The money of the dispute that was lost.
        ['reversal', 0],
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
