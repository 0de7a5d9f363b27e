import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY } from '../../../base/clock.ts'
import { operator } from '../../../base/events/events.ts'
import { verifyDatabase } from '../../../operation/verification/verify-database.ts'
import { grantOf, openAccount } from '../../../testing/account.ts'
import { points, publishText } from '../../../testing/publish.ts'
import { nextMail, signIn } from '../../../testing/sign-in.ts'
import { databaseKinds, testOnce } from '../../../testing/test-server.ts'
import { openShop, PACK, PLAN } from '../billing.test-kit.ts'

for (const database of databaseKinds) {
  test(`reports and the CSV file have every order and booking (${database})`, async (t) => {
    const { service, account, add, buy } = await openShop(t, { database })
    const pack = await add({ ...PACK, name: '=Pack, "large"' })
    const { orderId } = (await buy(pack.id, { quantity: 2 })).body
    await buy(pack.id)
    await buy(pack.id, { provider: 'invoice' })
    await service.parts.billing.orders.refund(operator, orderId, 1900)
    const call = { operation: 'download', table: 'places', format: 'csv' }
    await service.parts.cashier.charge({ grant: grantOf(account), call, version: 1, price: 7 })
    const root = await signIn(service, 'root@example.org')
    const ask = (path: string, token = root.token) =>
      service.request('GET', `/v1/admin/billing/${path}`, { token })
    const range = 'since=2020-01-01T00:00:00Z&until=2100-01-01T00:00:00Z'
    const { body } = await ask(`report?${range}`)
    const sums = { currency: 'EUR', orders: 2, revenue: 5700, refunded: 1900 }
    assert.deepEqual(body.months, [{ month: new Date().toISOString().slice(0, 7), ...sums }])
    assert.deepEqual(body.products, [{ productId: pack.id, productName: '=Pack, "large"', ...sums }])
    assert.deepEqual(body.datasets, [{ table: 'places', credits: 7, publisherCredits: 0 }])
    const csv = await ask(`bookings.csv?${range}`)
    assert.equal(csv.status, 200)
    const lines = csv.text.trim().split('\r\n')
    assert.equal(lines.length, 5)
    assert.ok(lines.some((line) => line.includes('reversal') && line.includes(orderId)))
    assert.equal((await ask(`report?${range}`, account.token)).status, 403)
    assert.equal((await ask('report?since=2026-01-01T00:00:00Z&until=2025-01-01T00:00:00Z')).status, 400)
  })

  test(`a publisher gets neither the usage nor the credits of an earlier dataset of the name (${database})`, async (t) => {
    const { service, account, pass } = await openShop(t, { database, settings: { publisherShare: 50 } })
    const { cashier, ledger, organizationAdministration, publishing } = service.parts
    await ledger.setCredits(operator, account.organizationId, 100)
    const call = { operation: 'download', table: 'places', format: 'csv' }
    const buy = (version: number) => cashier.charge({ grant: grantOf(account), call, version, price: 7 })
    await publishText(service, 'places', 'a.geojson', points(3))
    await buy(1)
    await publishing.unpublish('places', operator)
    pass(2 * DAY)
    const { organizationId, token } = await openAccount(service, 'eve@example.org')
    await organizationAdministration.setPublishing(operator, organizationId, true)
    await publishText(service, 'places', 'a.geojson', points(3), { ownerId: organizationId })
    await buy(2)
    const usage = await service.request('GET', `/v1/organization/${organizationId}/datasets/usage`, { token })
    assert.deepEqual([usage.status, usage.body.totals], [200, { calls: 1, credits: 7 }])
    const root = await signIn(service, 'root@example.org')
    const range = 'since=2020-01-01T00:00:00Z&until=2100-01-01T00:00:00Z'
    const { body } = await service.request('GET', `/v1/admin/billing/report?${range}`, { token: root.token })
    assert.deepEqual(body.datasets, [{ table: 'places', credits: 14, publisherCredits: 3 }])
  })

  test(`every payment and every refund is a booking with its money, also without credits (${database})`, async (t) => {
    const { service, add, buy } = await openShop(t, { database })
    const { orders } = service.parts.billing
    const pack = await add(PACK)
    const { orderId } = (await buy(pack.id)).body
    // The second one takes no whole credit back.
    for (const amount of [300, 1, 700]) await orders.refund(operator, orderId, amount)
    const plan = await add({ ...PLAN, credits: 0 })
    await orders.refund(operator, (await buy(plan.id)).body.orderId)
    await buy((await add({ ...PLAN, credits: 0, price: 700 })).id)
    const root = await signIn(service, 'root@example.org')
    const range = 'since=2020-01-01T00:00:00Z&until=2100-01-01T00:00:00Z'
    const csv = await service.request('GET', `/v1/admin/billing/bookings.csv?${range}`, { token: root.token })
    const [heads, ...rows] = csv.text
      .trim()
      .split('\r\n')
      .map((line) => line.split(','))
    const cells = (name: string) => rows.map((row) => Number(row[heads!.indexOf(name)])).reverse()
    assert.deepEqual(cells('amount'), [1900, -300, -1, -700, 4900, -4900, 700])
    assert.deepEqual(cells('credits'), [100, -15, 0, -37, 0, 0, 0])
    const { db } = service.parts.database
    assert.deepEqual(await verifyDatabase(service.parts.database), [])
    await db.updateTable('ledger').set({ money: 1 }).where('order_id', '=', orderId).execute()
    const found = (await verifyDatabase(service.parts.database)).map(({ subject }) => subject)
    assert.deepEqual(found, [orderId])
  })

  test(`verify finds orders that do not agree with the ledger (${database})`, async (t) => {
    const { service, add, buy } = await openShop(t, { database })
    const pack = await add(PACK)
    const { orderId } = (await buy(pack.id)).body
    const { db } = service.parts.database
    const found = async () =>
      (await verifyDatabase(service.parts.database)).map(({ check, subject }) => [check, subject])
    assert.deepEqual(await found(), [])
    await db.updateTable('orders').set({ credits: 101 }).execute()
    assert.deepEqual(await found(), [['orders', orderId]])
    await db.updateTable('orders').set({ credits: 100 }).execute()
    await db.deleteFrom('invoices').execute()
    assert.deepEqual(await found(), [['orders', 'invoices INV-']])
    await db.deleteFrom('orders').execute()
    assert.ok((await found()).some(([, subject]) => subject?.startsWith('ledger row')))
  })

  testOnce(database, 'an unpaid invoice is reminded of twice', async (t) => {
    const { service, add, buy, pass } = await openShop(t)
    const pack = await add(PACK)
    await buy(pack.id, { provider: 'invoice' })
    const { orders } = service.parts.billing
    const reminders = async () =>
      (await service.parts.database.db.selectFrom('orders').select('reminders').executeTakeFirstOrThrow())
        .reminders
    await orders.remind()
    assert.equal(await reminders(), 0)
    let sent = 0
    for (const expected of [1, 2, 2]) {
      pass(15 * DAY)
      await Promise.all([orders.remind(), orders.remind()])
      assert.equal(await reminders(), expected)
      const mail = expected === sent ? null : await nextMail(service, 'ada@example.org')
      if (mail) assert.match(mail.source, /not paid yet/)
      sent = expected
    }
  })
}
