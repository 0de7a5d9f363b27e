import { setTimeout as sleep } from 'node:timers/promises'
import { StripeSimulation } from '../../../scripts/test-servers/stripe-simulation.ts'
import type { Drill, DrillRun } from '../drill.ts'
import { Installation } from '../environment/installation.ts'
import { createDatabase } from '../environment/postgres-database.ts'
import { Shop } from '../load/billing-operations.ts'
import { download } from '../load/download-operations.ts'
import { prepare } from '../load/workload.ts'
import { openWorld, type World } from '../world.ts'
import { restart } from './kills.ts'

const CLIENTS = 4
const VERIFY_EVERY = 10

/**
 * SIGKILL while customers buy, plans are renewed, upgraded and changed, and payments are refunded and disputed at a
 * simulated Stripe. On PostgreSQL with two nodes.
 */
export const drill: Drill = {
  title: 'SIGKILL between purchases, renewals, upgrades, refunds, disputes and downloads',
  rounds: { long: 100, short: 2 },
  maxMinutes: 60,
  coveredBy: 'server/src/accounts/billing/orders/books.test.ts',
  async run(run) {
    const stripe = new StripeSimulation()
    run.cleanUp(await stripe.listen())
    const nodes = run.database === 'postgres' ? 2 : 1
    const world = await openShopWorld(run, stripe, nodes)
    const shop = new Shop(world, stripe)
    await shop.prepare()
    while (run.nextRound()) {
      await interrupt(world, shop)
      await restart(world, nodes)
      await world.keepSignedIn()
      await shop.deliverAll()
      await shop.check()
      if (run.rounds % VERIFY_EVERY === 0) await verify(world)
    }
    await verify(world)
  },
}

async function openShopWorld(run: DrillRun, stripe: StripeSimulation, nodes: number): Promise<World> {
  const environment = {
    WAYLEAVE_PAYMENTS: 'stripe',
    WAYLEAVE_STRIPE_SECRET_KEY: stripe.settings().stripeSecretKey,
    WAYLEAVE_STRIPE_WEBHOOK_SECRET: stripe.settings().stripeWebhookSecret,
    WAYLEAVE_STRIPE_API: stripe.url,
  }
  const databaseUrl = run.database === 'postgres' ? await createDatabase(run) : null
  const installation = new Installation(run, { environment, databaseUrl })
  for (let i = 0; i < nodes; i++) await installation.startNode()
  const world = await openWorld(installation, { tables: 3 })
  world.maxRows = 100
  await prepare(world)
  return world
}

/** Lets clients work for a while, then kills the server. */
async function interrupt(world: World, shop: Shop): Promise<void> {
  let isStopping = false
  const work = async () => {
    while (!isStopping) await (world.run.random.chance(0.2) ? download(world) : shop.act())
  }
  const clients = Array.from({ length: CLIENTS }, work)
  await sleep(world.run.random.integer(20, 600))
  isStopping = true
  await Promise.all(world.installation.nodes.map((node) => world.installation.killNode(node)))
  await Promise.all(clients)
}

/** The books agree with each other: balances, ledger, orders, invoices. */
async function verify(world: World): Promise<void> {
  const { code, stdout } = await world.installation.command(['verify'])
  world.run.expect(code === 0, 'the books are sound', () => stdout.slice(0, 500))
}
