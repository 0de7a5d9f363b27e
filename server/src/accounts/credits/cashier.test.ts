import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOUR } from '../../base/clock.ts'
import { grantOf, openAccount } from '../../testing/account.ts'
import { openTestServer } from '../../testing/test-server.ts'

test('a refund after midnight counts for the day of the download', async (t) => {
  let now = new Date('2026-11-15T23:30:00Z')
  const service = await openTestServer(t, { clock: () => now })
  const account = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 50 })
  const { cashier } = service.parts
  const call = { operation: 'download', table: 'places', format: 'csv' }
  const charge = await cashier.charge({ grant: grantOf(account), call, version: 1, price: 10 })
  now = new Date(now.getTime() + HOUR)
  await charge.refund()
  const days = await service.parts.database.db
    .selectFrom('usage')
    .select(['date', 'calls', 'credits'])
    .where('key_id', '=', account.keyId)
    .where('operation', '=', 'download')
    .execute()
  assert.deepEqual(days, [{ date: '2026-11-15', calls: 1, credits: 0 }])
})
