import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY } from '../../../base/clock.ts'
import { operator } from '../../../base/events/events.ts'
import type { Account } from '../../../testing/account.ts'
import { nextMail } from '../../../testing/sign-in.ts'
import { databaseKinds, testOnce } from '../../../testing/test-server.ts'
import { ledgerOf, PLAN, requireSoundBooks } from '../billing.test-kit.ts'
import { openStripeShop } from './stripe.test-kit.ts'

function callerOf({ userId, organizationId }: Account) {
  return { userId, organizationId, email: 'ada@example.org', origin: operator }
}

for (const database of databaseKinds) {
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
    const failed = stripe.invoiceEvent(stripe.renew(session, 'open'), 'invoice.payment_failed')
    const tellFailed = () => stripe.send(service, failed, { id: 'evt_failed' })
    await Promise.all([tellFailed(), tellFailed()])
    await tellFailed()
    assert.equal((await current()).state, 'past-due')
    const mail = async () => (await nextMail(service, 'ada@example.org')).source
    let text = await mail()
    while (/payment has arrived/.test(text)) text = await mail()
    assert.match(text, new RegExp(`goes on until ${(await current()).grace_until!.slice(0, 10)}`))
    pass(8 * DAY)
    await plans.renewDue()
    assert.equal((await current()).state, 'ended')
    // The failure was told once.
    assert.match(await mail(), /plan has ended/)
    await stripeEvents!.reconcile()
    assert.equal(stripe.subscriptions.get(session.subscription!)!.status, 'canceled')
    const { addOns } = await service.parts.organizations.find(account.organizationId)
    assert.deepEqual(addOns, [])
    await requireSoundBooks(service)
  })

  test(`a plan whose payment was held begins at Stripe's subscription, or ends it (${database})`, async (t) => {
    const { service, add, stripe, order } = await openStripeShop(t, database)
    const plan = await add(PLAN)
    const { orders } = service.parts.billing
    const payWrong = async () => {
      const { id, session } = await order(plan.id)
      session.amount = 100
      stripe.pay(session)
      await stripe.tellSession(service, session)
      assert.equal((await orders.all({ id, limit: 1 }))[0]!.state, 'held')
      return { id, reference: session.subscription! }
    }
    const refused = await payWrong()
    assert.equal((await orders.cancel(operator, refused.id, 'Not the price.')).state, 'cancelled')
    assert.equal(stripe.subscriptions.get(refused.reference)!.status, 'canceled')
    const accepted = await payWrong()
    assert.equal((await orders.markPaid(operator, accepted.id)).state, 'paid')
    const { db } = service.parts.database
    const { reference } = await db.selectFrom('subscriptions').selectAll().executeTakeFirstOrThrow()
    assert.equal(reference, accepted.reference)
    assert.equal(stripe.subscriptions.get(accepted.reference)!.status, 'active')
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
    // Stripe is told at once: the period may end soon.
    assert.deepEqual(
      [(await current()).product_id, stripe.subscriptions.get(session.subscription!)!.price],
      [larger.id, 9900],
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

  test(`another plan follows at the end of the period that Stripe renews (${database})`, async (t) => {
    const { service, account, add, stripe, order, get, clock, pass } = await openStripeShop(t, database)
    const city = await add({ ...PLAN, name: 'City', price: 9900, credits: 150, addOns: ['GIS_ACCESS'] })
    const town = await add(PLAN)
    const yearly = await add({ ...PLAN, name: 'Year', period: 'year' })
    const dollars = await add({ ...PLAN, name: 'Dollars', currency: 'USD' })
    const { session } = await order(city.id)
    stripe.pay(session)
    await stripe.tellSession(service, session)
    const atStripe = stripe.subscriptions.get(session.subscription!)!
    const post = (path: string, body?: object) =>
      service.request('POST', `/v1/billing/subscription/${path}`, { token: account.token, body })
    for (const other of [yearly, dollars])
      assert.equal((await post('change', { productId: other.id })).status, 409, other.name)
    const { stripeEvents } = service.parts.billing
    // While Stripe is down nothing changes, also if it was told and the response was lost.
    stripe.mode = 'fail'
    assert.equal((await post('change', { productId: town.id })).body.code, 'payment-unavailable')
    stripe.mode = 'work'
    atStripe.price = town.price
    await stripeEvents!.reconcile()
    assert.deepEqual([atStripe.price, (await get('subscription')).body.nextProductId], [9900, null])
    // A cancellation is withdrawn by the change.
    assert.equal((await post('cancel')).body.cancelsAtEnd, true)
    const change = await post('change', { productId: town.id })
    assert.deepEqual([change.status, change.body.nextProductId], [200, town.id], change.text)
    assert.deepEqual([atStripe.price, atStripe.cancelsAtEnd], [4900, false])
    // The price that was agreed to holds, whatever the product costs later.
    await service.parts.products.change(operator, town.id, { price: 5900 })
    await stripeEvents!.reconcile()
    const now = (await get('subscription')).body
    assert.deepEqual([now.productName, now.cancelsAtEnd, atStripe.price], ['City', false, 4900])
    pass(Date.parse(now.periodEnd) - clock().getTime() + 1000)
    const invoice = stripe.renew(session)
    await Promise.all([stripe.tellInvoice(service, invoice), stripe.tellInvoice(service, invoice)])
    const renewed = await service.parts.billing.plans.find(callerOf(account), account.organizationId)
    assert.deepEqual(
      [renewed.productName, renewed.amount, renewed.nextProductId, renewed.state],
      ['Town plan', 4900, null, 'active'],
    )
    const organization = await service.parts.organizations.find(account.organizationId)
    assert.deepEqual([organization.addOns, organization.credits], [['API_ACCESS'], 50])
    await requireSoundBooks(service)
  })

  testOnce(database, 'an invoice that Stripe made before a change is for the plan before it', async (t) => {
    const { service, account, add, stripe, order, clock, pass } = await openStripeShop(t, database)
    const city = await add({ ...PLAN, name: 'City', price: 9900, credits: 150 })
    const town = await add(PLAN)
    const { session } = await order(city.id)
    stripe.pay(session)
    await stripe.tellSession(service, session)
    const { plans, upgrades, stripeEvents } = service.parts.billing
    const { organizationId: id } = account
    const caller = callerOf(account)
    const nextPeriod = async () =>
      pass(Date.parse((await plans.find(caller, id)).periodEnd) - clock().getTime() + 1000)
    await nextPeriod()
    const early = stripe.renew(session)
    // Nothing is left of the period, so an upgrade would cost nothing.
    const largest = await add({ ...PLAN, name: 'Land', price: 19_900, credits: 900 })
    await assert.rejects(upgrades.order(caller, id, { productId: largest.id }), { code: 'conflict' })
    await plans.change(caller, id, town.id)
    await stripe.tellInvoice(service, early)
    const current = await plans.find(caller, id)
    assert.deepEqual([current.productName, current.nextProductId], ['City', town.id])
    await nextPeriod()
    await stripe.tellInvoice(service, stripe.renew(session))
    assert.equal((await plans.find(caller, id)).productName, 'Town plan')
    // A cancelled change leaves the price of the current plan at Stripe.
    await plans.change(caller, id, city.id)
    await plans.cancel(caller, id)
    await stripeEvents!.reconcile()
    const atStripe = stripe.subscriptions.get(session.subscription!)!
    assert.deepEqual([atStripe.price, atStripe.cancelsAtEnd], [4900, true])
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
}
