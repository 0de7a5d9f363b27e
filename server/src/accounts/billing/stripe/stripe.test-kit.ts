import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { SignedStripe } from '../../../testing/signed-stripe.ts'
import type { DatabaseKind } from '../../../testing/test-server.ts'
import { openShop } from '../billing.test-kit.ts'

/** A shop whose payments are made at a simulated Stripe. */
export async function openStripeShop(t: TestContext, database: DatabaseKind = 'sqlite') {
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
