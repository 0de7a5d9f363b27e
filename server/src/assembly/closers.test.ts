import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeLogger } from '../http/observability/logger.ts'
import { grantOf, openAccount, readAccountLedger } from '../testing/account.ts'
import { databaseKinds, openTestServer, testOnce } from '../testing/test-server.ts'
import { Closers } from './closers.ts'

test('parts are closed in reverse order of opening, and an unregistered part is named', async () => {
  const closers = new Closers()
  const closed: string[] = []
  const part = (name: string) => ({ close: async () => void closed.push(name) })
  const first = closers.use(part('first'))
  closers.defer(() => void closed.push('deferred'))
  const last = closers.use(part('last'))
  closers.requireAll({ first, last, text: 'text', nothing: null, plain: { open: true } })
  assert.throws(() => closers.requireAll({ first, forgotten: part('forgotten') }), /"forgotten"/)
  await closers.close()
  assert.deepEqual(closed, ['last', 'deferred', 'first'])
})

test('parts are closed in the opposite order, and one that hangs or fails is named and does not stop the others', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const lines: string[] = []
  const closers = new Closers(makeLogger('info', (line) => lines.push(line)))
  const closed: string[] = []
  closers.defer(() => closed.push('first'), 'the first')
  closers.defer(() => new Promise(() => {}), 'the hanging')
  closers.defer(() => Promise.reject(new Error('no')), 'the failing')
  closers.defer(() => closed.push('last'), 'the last')
  const outcome = assert.rejects(closers.close(), {
    name: 'NotClosedError',
    message: 'Not closed: the failing, the hanging.',
  })
  assert.equal(closers.close(), closers.close())
  for (let round = 0; round < 20; round++) {
    await new Promise((resolve) => setImmediate(resolve))
    t.mock.timers.tick(1000)
  }
  await outcome
  assert.deepEqual(closed, ['last', 'first'])
  assert.ok(lines.some((line) => line.includes('the hanging did not close in time')))
  assert.ok(lines.some((line) => line.includes('the failing failed to close')))
})

for (const database of databaseKinds) {
  testOnce(
    database,
    `a stop waits for a delivery that ends in a refund, while there is no usage to save, on ${database}`,
    async (t) => {
      const server = await openTestServer(t, { database })
      const account = await openAccount(server, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 5 })
      const { cashier, meter } = server.parts
      const call = { operation: 'download', table: 'places', format: 'kml' }
      const charge = await cashier.charge({ grant: grantOf(account), call, version: 1, price: 1 })
      assert.equal(charge.remaining, 4)
      await meter.flush()
      const delivery = cashier.watch(sleep(1000).then(() => charge.refund()))
      await Promise.all([server.stop(), delivery])

      const { dataDir, databaseUrl } = server.config
      const next = await openTestServer(t, { dataDir, databaseUrl: databaseUrl ?? undefined })
      const { balance, rows } = await readAccountLedger(next, account)
      assert.deepEqual(
        rows.map(({ amount }) => amount),
        [5, -1, 1],
      )
      assert.equal(balance, 5)
      const usage = await next.request('GET', `/v1/api-keys/${account.keyId}/usage`, { token: account.token })
      assert.deepEqual(usage.body.totals, { calls: 1, credits: 0 })
    },
  )
}
