import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { cases } from '../../../../../scripts/test-run/needs.ts'
import { DAY, HOUR } from '../../../base/clock.ts'
import type { Changes } from '../../../base/database/changes/changes.ts'
import { operator, system } from '../../../base/events/events.ts'
import { grantOf } from '../../../testing/account.ts'
import { SignedStripe } from '../../../testing/signed-stripe.ts'
import { databaseKinds } from '../../../testing/test-server.ts'
import { openShop, PACK, PLAN, requireSoundBooks } from '../billing.test-kit.ts'
import { type Billing, openBilling } from '../billing.ts'

/** A process that dies: before a commit, so that nothing is stored, or after it, so that nobody is told. */
class Crash extends Error {}

/** Chances are numbers from 0 to 99; the last ones crash. */
function crashing(changes: Changes, chance: () => number): Changes {
  return {
    ...changes,
    commit: async (work) => {
      const moment = chance()
      const result = await changes.commit(async (tx, changed) => {
        const worked = await work(tx, changed)
        if (moment >= 90) throw new Crash('before the commit')
        return worked
      })
      if (moment >= 80 && moment < 90) throw new Crash('after the commit')
      return result
    },
  } as Changes
}

const action = fc.record({
  kind: fc.constantFrom(
    'buy',
    'buy',
    'pay',
    'pay',
    'tell',
    'tell',
    'tell',
    'refund',
    'refund',
    'dispute',
    'download',
    'download',
    'time',
    'reconcile',
    'plan',
  ),
  pick: fc.nat(1000),
  chance: fc.nat(99),
})

type Action = typeof action extends fc.Arbitrary<infer T> ? T : never

for (const database of databaseKinds) {
  test(`the ledger is orders less refunds less charges, in any order of events (${database})`, async (t) => {
    const stripe = await new SignedStripe().open(t)
    const settings = { ...stripe.settings(), payments: ['stripe', 'demo'] as ('stripe' | 'demo')[] }
    const shop = await openShop(t, { database, settings })
    const { service, account, add, clock, pass } = shop
    const pack = await add(PACK)
    const plan = await add(PLAN)
    const { parts } = service
    let chance = 0
    const billing: Billing = openBilling({
      config: service.config,
      database: parts.database,
      changes: crashing(parts.changes, () => chance),
      clock,
      baseUrl: () => service.url,
    })
    const { userId, organizationId } = account
    const caller = { userId, organizationId, email: 'ada@example.org', origin: operator }
    let charged = 0
    let downloads = 0
    const sessions = () => [...stripe.sessions.values()].filter(({ mode }) => mode === 'payment')
    const pickOf = <T>(list: T[], pick: number): T | undefined => list[pick % Math.max(1, list.length)]
    const orderOf = async (orderId: string) => (await billing.orders.all({ id: orderId, limit: 1 }))[0]

    const act = async ({ kind, pick }: Action): Promise<void> => {
      // The newest ones, so that much happens to the same order.
      const session = pickOf(sessions().slice(-3), pick)
      const intent = session?.intent ? stripe.intents.get(session.intent) : undefined
      switch (kind) {
        case 'buy':
          return void (await billing.orders.checkout(caller, organizationId, {
            productId: pack.id,
            quantity: (pick % 3) + 1,
            provider: 'stripe',
          }))
        case 'plan':
          return void (await billing.orders.checkout(caller, organizationId, {
            productId: plan.id,
            provider: 'demo',
          }))
        case 'pay':
          if (session?.status === 'open') stripe.pay(session)
          return
        case 'tell': {
          const order = session && (await orderOf(session.orderId))
          const stored = order && {
            id: order.id,
            amount: order.amount,
            currency: order.currency,
            reference: session.id,
          }
          const payment = stored && (await billing.providers[0]!.paymentOf(stored))
          const event = { id: `stripe:${pick}-${session?.id}`, kind: 'test' }
          if (order && payment) await billing.orders.apply(system, order.id, payment, event)
          return
        }
        case 'refund':
          if (intent) intent.refunded = Math.min(intent.amount, intent.refunded + (pick % 900))
          return
        case 'dispute':
          if (intent) intent.dispute = ['needs_response', 'won', 'lost'][pick % 3]!
          return
        case 'download': {
          const call = { operation: 'download', table: `t${downloads++}`, format: 'csv' }
          const price = (pick % 60) + 1
          const charge = await parts.cashier.charge({ grant: grantOf(account), call, version: 1, price })
          charged += price
          if (pick % 5 > 0) return
          await charge.refund()
          charged -= price
          return
        }
        case 'time':
          pass(pick % 2 ? HOUR : 20 * DAY)
          return billing.plans.renewDue()
        case 'reconcile':
          return billing.stripeEvents!.reconcile()
      }
    }

    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 10, maxLength: 40 }), async (actions) => {
        for (const step of actions) {
          chance = step.chance
          await act(step).catch((error: unknown) => {
            const { code } = error as { code?: string }
            if (!(error instanceof Crash) && !['credits-exhausted', 'conflict'].includes(code ?? ''))
              throw error
          })
        }
        chance = 0
        await settleAll()
        await requireSoundBooks(service)
        const { credits } = await parts.organizations.find(organizationId)
        assert.equal(credits, (await expectedCredits()) - charged)
      }),
      { numRuns: cases(15), seed: 20261118, endOnFailure: true },
    )

    /** In the end everything is told: what Stripe knows of each payment is applied once more. */
    async function settleAll(): Promise<void> {
      for (const session of sessions()) {
        const order = await orderOf(session.orderId)
        if (!order) continue
        const { id, amount, currency } = order
        const payment = await billing.providers[0]!.paymentOf({ id, amount, currency, reference: session.id })
        await billing.orders.apply(system, id, payment!)
      }
    }

    /** From what Stripe knows, and for plans from the orders and what lapsed. */
    async function expectedCredits(): Promise<number> {
      let sum = 0
      for (const session of sessions()) {
        const intent = session.intent ? stripe.intents.get(session.intent) : undefined
        if (!intent || !(await orderOf(session.orderId))) continue
        const credits = (session.amount / PACK.price) * PACK.credits!
        const order = (await orderOf(session.orderId))!
        const isWithdrawn = order.state === 'refunded' || intent.dispute === 'needs_response'
        sum += isWithdrawn ? 0 : credits - Math.floor((credits * intent.refunded) / intent.amount)
        // A lost dispute and a refund of everything are final.
        if (intent.dispute === 'lost' || intent.refunded === intent.amount)
          assert.equal(order.state, 'refunded')
      }
      const { db } = parts.database
      const plans = await db.selectFrom('orders').selectAll().where('provider', '=', 'demo').execute()
      for (const order of plans) if (order.paid_at !== null) sum += order.credits - order.withdrawn_credits
      const lapses = await db.selectFrom('ledger').select('amount').where('kind', '=', 'lapse').execute()
      return lapses.reduce((total, { amount }) => total + amount, sum)
    }
  })
}
