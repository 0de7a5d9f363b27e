import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { InvoiceRecord } from '@wayleave/contract/records'
import { operator } from '../../../base/events/events.ts'
import { newId } from '../../../base/id.ts'
import { nextMail, signIn } from '../../../testing/sign-in.ts'
import { databaseKinds, openTestServer, testOnce } from '../../../testing/test-server.ts'
import { ledgerOf, openShop, PACK, PLAN, requireSoundBooks } from '../billing.test-kit.ts'

for (const database of databaseKinds) {
  test(`a pack that is paid adds its credits with one ledger row and an invoice (${database})`, async (t) => {
    const { service, account, add, buy, get } = await openShop(t, { database })
    const pack = await add(PACK)
    const listed = await get('products')
    assert.deepEqual(
      listed.body.data.map((product: { id: string }) => product.id),
      [pack.id],
    )
    const bought = await buy(pack.id, { quantity: 2 })
    assert.equal(bought.status, 201, bought.text)
    assert.equal(bought.body.state, 'paid')
    const { body: order } = await get(`orders/${bought.body.orderId}`)
    assert.deepEqual(
      [order.state, order.amount, order.currency, order.credits, order.quantity, order.productName],
      ['paid', 3800, 'EUR', 200, 2, 'Hundred credits'],
    )
    assert.deepEqual(await ledgerOf(service, account), [['purchase', 200, 200]])
    const me = await service.request('GET', '/v1/organization/me', { token: account.token })
    assert.equal(me.body.credits.balance, 200)
    const events = await service.parts.database.db
      .selectFrom('events')
      .select('action')
      .where('subject', '=', `order:${order.id}`)
      .orderBy('id')
      .execute()
    assert.deepEqual(
      events.map(({ action }) => action),
      ['order.opened', 'order.paid'],
    )
    await requireSoundBooks(service)
  })

  test(`an order by invoice is open until it is marked as paid, and is booked once (${database})`, async (t) => {
    const { service, account, add, buy, get } = await openShop(t, { database })
    const pack = await add(PACK)
    const { body } = await buy(pack.id, { provider: 'invoice' })
    assert.equal(body.state, 'open')
    assert.deepEqual(await ledgerOf(service, account), [])
    const { orders } = service.parts.billing
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, () => orders.markPaid(operator, body.orderId)),
    )
    assert.ok(results.some(({ status }) => status === 'fulfilled'))
    assert.deepEqual(await ledgerOf(service, account), [['purchase', 100, 100]])
    await assert.rejects(orders.markPaid(operator, body.orderId), { code: 'conflict' })
    assert.equal((await get(`orders/${body.orderId}`)).body.state, 'paid')
    await requireSoundBooks(service)
  })

  test(`of two refunds at the same time, none is lost (${database})`, async (t) => {
    const { service, add, buy } = await openShop(t, { database })
    const { orderId } = (await buy((await add(PACK)).id)).body
    const { orders } = service.parts.billing
    const results = await Promise.allSettled(
      [300, 500].map((amount) => orders.refund(operator, orderId, amount)),
    )
    const booked = results.map((result, i) => (result.status === 'fulfilled' ? [300, 500][i]! : 0))
    const [order] = await orders.all({ id: orderId, limit: 1 })
    assert.equal(
      order!.refundedAmount,
      booked.reduce((sum, amount) => sum + amount, 0),
    )
    await requireSoundBooks(service)
  })

  test(`of two orders of a plan at the same time, one is paid (${database})`, async (t) => {
    const { add, buy, get } = await openShop(t, { database })
    const plan = await add(PLAN)
    const statuses = (await Promise.all([1, 2, 3].map(() => buy(plan.id)))).map(({ status }) => status).sort()
    assert.deepEqual(statuses, [201, 409, 409])
    assert.equal((await get('orders')).body.data.length, 1)
  })

  testOnce(
    database,
    'an order by invoice that is cancelled has a credit note, and nothing is due',
    async (t) => {
      const settings = { invoiceTaxPercent: 19 }
      const { service, add, buy, get } = await openShop(t, { settings })
      const pack = await add(PACK)
      const { orderId } = (await buy(pack.id, { provider: 'invoice' })).body
      await service.parts.billing.orders.cancel(operator, orderId, 'Not wanted.')
      const invoices = (await get('invoices')).body.data as InvoiceRecord[]
      assert.deepEqual(
        invoices
          .map(({ kind, amount, dueAt, paidAt, invoiceId }) => [kind, amount, dueAt, paidAt, invoiceId])
          .sort(),
        [
          ['credit-note', 2261, null, null, 'INV-000001'],
          ['invoice', 2261, null, null, null],
        ],
      )
      await requireSoundBooks(service)
    },
  )

  testOnce(database, 'an organization has at most 50 orders that are not paid', async (t) => {
    const { service, account, add, buy } = await openShop(t)
    const { id: productId } = await add(PACK)
    const { orders } = service.parts.billing
    const { userId, organizationId } = account
    const caller = { userId, organizationId, email: 'ada@example.org', origin: operator }
    const order = () => orders.checkout(caller, organizationId, { productId, provider: 'invoice' })
    const first = await order()
    for (let count = 1; count < 50; count++) await order()
    const refused = await buy(productId, { provider: 'invoice' })
    assert.deepEqual([refused.status, refused.body.code], [409, 'conflict'], refused.text)
    await orders.cancel(operator, first.orderId, 'Not wanted.')
    assert.equal((await buy(productId, { provider: 'invoice' })).status, 201)
  })

  test(`invoice numbers have no gaps, also if orders fail and run at once (${database})`, async (t) => {
    const { service, add, buy, get } = await openShop(t, { database })
    const pack = await add(PACK)
    await Promise.all(Array.from({ length: 10 }, () => buy(pack.id)))
    // A transaction that is rolled back after it took a number.
    const { db } = service.parts.database
    const { nextInvoiceNumber } = await import('../invoices/invoice-store.ts')
    const failed = db.transaction().execute(async (tx) => {
      await nextInvoiceNumber(tx, 'INV-')
      throw new Error('rolled back')
    })
    await assert.rejects(failed, /rolled back/)
    await buy(pack.id)
    const ids = (await get('invoices')).body.data.map(({ id }: { id: string }) => id).sort()
    assert.deepEqual(
      ids,
      Array.from({ length: 11 }, (_, i) => `INV-${String(i + 1).padStart(6, '0')}`),
    )
  })

  test(`a refund takes back the same part of the credits and may make the balance negative (${database})`, async (t) => {
    const settings = { invoiceTaxPercent: 7 }
    const { service, account, add, buy, get } = await openShop(t, { database, settings })
    const pack = await add(PACK)
    const { orderId } = (await buy(pack.id)).body
    const { orders } = service.parts.billing
    await service.parts.ledger.setCredits(operator, account.organizationId, 30)
    const part = await orders.refund(operator, orderId, 500)
    // 26.3 of 100 credits, rounded down.
    assert.deepEqual([part.state, part.refundedAmount, part.withdrawnCredits], ['paid', 500, 26])
    const rest = await orders.refund(operator, orderId)
    assert.deepEqual([rest.state, rest.refundedAmount, rest.withdrawnCredits], ['refunded', 1900, 100])
    assert.deepEqual(await ledgerOf(service, account), [
      ['purchase', 100, 100],
      ['correction', -70, 30],
      ['reversal', -26, 4],
      ['reversal', -74, -70],
    ])
    await assert.rejects(orders.refund(operator, orderId), { code: 'conflict' })
    // Each refund has a credit note; their taxes add up to the tax of the invoice.
    const notes = (await get('invoices')).body.data as InvoiceRecord[]
    assert.deepEqual(notes.map(({ id, kind, invoiceId, amount }) => [id, kind, invoiceId, amount]).sort(), [
      ['CN-000001', 'credit-note', 'INV-000001', 535],
      ['CN-000002', 'credit-note', 'INV-000001', 1498],
      ['INV-000001', 'invoice', null, 2033],
    ])
    const pdf = await get('invoices/CN-000001.pdf')
    assert.deepEqual([pdf.status, pdf.headers.get('content-type')], [200, 'application/pdf'])
    // A grant continues from the negative balance.
    assert.equal(await service.parts.ledger.grantCredits(operator, account.organizationId, 100), 30)
    await requireSoundBooks(service)
  })

  testOnce(database, 'an order keeps the price that it was made with', async (t) => {
    const { service, add, buy, get } = await openShop(t)
    const pack = await add(PACK)
    const first = (await buy(pack.id, { provider: 'invoice' })).body.orderId
    const changed = await service.parts.products.change(operator, pack.id, { price: 2900, name: 'Dearer' })
    assert.deepEqual([changed.revision, changed.price, changed.credits], [2, 2900, 100])
    const second = (await buy(pack.id, { provider: 'invoice' })).body.orderId
    const amountOf = async (id: string) => (await get(`orders/${id}`)).body.amount
    assert.deepEqual([await amountOf(first), await amountOf(second)], [1900, 2900])
    await service.parts.products.retire(operator, pack.id)
    assert.equal((await buy(pack.id)).status, 409)
    assert.deepEqual((await get('products')).body.data, [])
  })

  testOnce(
    database,
    'buying needs BILLING_MANAGE, looking BILLING_VIEW, and others see nothing',
    async (t) => {
      const { service, account, add, buy } = await openShop(t)
      const pack = await add(PACK)
      const { orderId } = (await buy(pack.id)).body
      const { members } = service.parts
      await signIn(service, 'bob@example.org')
      await members.add(operator, account.organizationId, 'bob@example.org', ['BILLING_VIEW'])
      const bob = await signIn(service, 'bob@example.org')
      const eve = await signIn(service, 'eve@example.org')
      const ask = (method: string, path: string, token: string | undefined, body?: unknown) =>
        service
          .request(method, `/v1/billing/${path}`, { ...(token && { token }), body })
          .then((r) => r.status)
      assert.equal(await ask('POST', 'checkout', bob.token, { productId: pack.id }), 403)
      assert.equal(await ask('POST', 'subscription/cancel', bob.token), 403)
      assert.equal(await ask('PATCH', 'profile', bob.token, { company: 'X' }), 403)
      assert.equal(await ask('GET', `orders/${orderId}`, bob.token), 200)
      assert.equal(await ask('GET', `orders/${orderId}`, eve.token), 404)
      assert.equal(await ask('GET', 'invoices/INV-000001.pdf', bob.token), 200)
      assert.equal(await ask('GET', 'invoices/INV-000001.pdf', eve.token), 404)
      assert.equal(await ask('GET', 'orders', undefined), 401)
      assert.equal(await ask('GET', `orders/${newId('ord')}`, bob.token), 404)
      const key = { key: account.key }
      assert.equal((await service.request('GET', '/v1/billing/orders', key)).status, 401)
    },
  )

  testOnce(
    database,
    'mails are stored with the booking, and a failing mailer fails no request',
    async (t) => {
      const { service, add, buy } = await openShop(t)
      const pack = await add(PACK)
      const { mailer } = service.parts.identity
      const { post, deliver } = mailer
      const fail = () => {
        throw new Error('The mailer is broken.')
      }
      Object.assign(mailer, { post: fail, deliver: fail })
      assert.equal((await buy(pack.id)).status, 201)
      Object.assign(mailer, { post, deliver })
      await service.parts.database.db.updateTable('notices').set({ lease_until: null }).execute()
      assert.match((await nextMail(service, 'ada@example.org')).source, /Your payment has arrived/)
    },
  )

  testOnce(database, 'without a payment provider nothing of billing exists', async (t) => {
    const service = await openTestServer(t)
    const { token } = await signIn(service, 'ada@example.org')
    for (const path of ['/v1/billing/products', '/v1/billing/orders', '/v1/admin/products'])
      assert.equal(
        (await fetch(service.url + path, { headers: { authorization: `Bearer ${token}` } })).status,
        404,
      )
  })

  testOnce(database, 'the demo provider is refused beyond loopback', async (t) => {
    const settings = { payments: ['demo'] as ['demo'], host: '0.0.0.0', allowOutbox: true }
    await assert.rejects(openTestServer(t, { settings }), /loopback only/)
  })
}
