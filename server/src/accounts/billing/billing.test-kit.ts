import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { NewProduct, Product } from '@wayleave/contract/records'
import { operator } from '../../base/events/events.ts'
import { verifyDatabase } from '../../operation/verification/verify-database.ts'
import { type Account, openAccount } from '../../testing/account.ts'
import { testClock } from '../../testing/test-clock.ts'
import { openTestServer, type TestServer, type TestSettings } from '../../testing/test-server.ts'

export const PACK: NewProduct = {
  kind: 'pack',
  name: 'Hundred credits',
  price: 1900,
  currency: 'EUR',
  credits: 100,
}
export const PLAN: NewProduct = {
  kind: 'plan',
  name: 'Town plan',
  price: 4900,
  currency: 'EUR',
  credits: 50,
  period: 'month',
  addOns: ['API_ACCESS'],
}

/** A server that sells, an account that may buy, and a clock that tests set. */
export async function openShop(t: TestContext, options: TestSettings = {}) {
  const { clock, pass } = testClock()
  const settings = { payments: ['demo', 'invoice'] as ('demo' | 'invoice')[], admins: ['root@example.org'] }
  const service = await openTestServer(t, {
    clock,
    ...options,
    settings: { ...settings, ...options.settings },
  })
  const account = await openAccount(service, 'ada@example.org')
  const { products } = service.parts
  const add = (product: NewProduct): Promise<Product> => products.add(operator, product)
  const buy = (productId: string, more: object = {}) =>
    service.request('POST', '/v1/billing/checkout', { token: account.token, body: { productId, ...more } })
  const get = (path: string) => service.request('GET', `/v1/billing/${path}`, { token: account.token })
  return { service, account, add, buy, get, clock, pass }
}

/** Kind, amount and balance of each ledger row, oldest first. */
export async function ledgerOf(service: TestServer, { organizationId }: Account) {
  const rows = await service.parts.database.db
    .selectFrom('ledger')
    .select(['kind', 'amount', 'balance', 'order_id'])
    .where('organization_id', '=', organizationId)
    .orderBy('id')
    .execute()
  return rows.map(({ kind, amount, balance }) => [kind, amount, balance])
}

export async function requireSoundBooks(service: TestServer): Promise<void> {
  assert.deepEqual(await verifyDatabase(service.parts.database), [])
}
