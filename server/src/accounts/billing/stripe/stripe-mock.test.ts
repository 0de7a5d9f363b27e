import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { type TestContext, test } from 'node:test'
import { needs } from '../../../../../scripts/test-run/needs.ts'
import { newId } from '../../../base/id.ts'
import { cleanUp } from '../../../testing/cleanup.ts'
import { until } from '../../../testing/until.ts'
import type { OrderDraft } from '../providers/payment-provider.ts'
import { StripeProvider } from './stripe-provider.ts'

needs('tools')

/** stripe-mock checks requests by Stripe's own definition. `npm test` compiles it if the machine has a recent Go. */
const program = process.env['WAYLEAVE_TEST_STRIPE_MOCK']
const skip = program
  ? false
  : (process.env['WAYLEAVE_TEST_STRIPE_MOCK_LACK'] ?? 'WAYLEAVE_TEST_STRIPE_MOCK is not set')

async function openStripeMock(t: TestContext): Promise<string> {
  const port = await new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
  const child = spawn(program!, ['-http-addr', `127.0.0.1:${port}`], { stdio: 'ignore' })
  cleanUp(t, () => void child.kill())
  const url = `http://127.0.0.1:${port}`
  await until(`stripe-mock listens`, () =>
    fetch(url).then(
      () => true,
      () => false,
    ),
  )
  return url
}

test('every request to Stripe is valid by its own definition', { skip }, async (t) => {
  const api = await openStripeMock(t)
  const settings = {
    secretKey: 'sk_test_mock',
    webhookSecret: 'whsec_mock',
    api,
    hasTax: false,
    timeoutMs: 10_000,
  }
  const stripe = new StripeProvider(settings)
  const taxed = new StripeProvider({ ...settings, hasTax: true })
  const draft: OrderDraft = {
    id: newId('ord'),
    organizationId: newId('org'),
    productName: 'Hundred credits',
    quantity: 2,
    price: 1900,
    currency: 'EUR',
    period: null,
    email: 'ada@example.org',
    customer: null,
    returnUrl: 'https://data.example.org/billing?order=1',
  }
  for (const provider of [stripe, taxed])
    for (const period of [null, 'month', 'year'] as const) {
      const { url, isPaid } = await provider.begin({ ...draft, id: newId('ord'), period })
      assert.match(url, /^https:/)
      assert.equal(isPaid, false)
      await provider.begin({ ...draft, id: newId('ord'), period, customer: 'cus_1' })
    }
  const order = { id: draft.id, amount: 3800, currency: 'EUR', payment_reference: 'pi_1', refunded_amount: 0 }
  for (const reference of ['cs_1', 'in_1']) {
    const payment = await stripe.paymentOf({ ...order, reference })
    assert.ok(payment && Number.isSafeInteger(payment.amount))
  }
  await stripe.refund({ ...order, reference: 'cs_1' }, 100)
  await stripe.refund({ ...order, reference: 'cs_1' }, 3800)
  await stripe.cancelPlan('sub_1', 'at-end')
  await stripe.cancelPlan('sub_1', 'now')
  const plan = { productId: newId('prd'), revision: 2, name: 'City', price: 9900, currency: 'EUR' }
  for (const cancelsAtEnd of [false, true])
    await stripe.repricePlan('sub_1', { ...plan, period: 'month', cancelsAtEnd })
  assert.match(await stripe.portal('cus_1', 'https://data.example.org/'), /^https:/)
  assert.equal(typeof (await stripe.planOf('sub_1')).isEnded, 'boolean')
  assert.equal(await stripe.orderOfPayment('pi_1'), null)
})
