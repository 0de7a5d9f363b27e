import { setTimeout as sleep } from 'node:timers/promises'
import type { Drill } from '../drill.ts'
import { Installation } from '../environment/installation.ts'
import { createDatabase } from '../environment/postgres-database.ts'
import { PrivateRedis } from '../environment/private-redis.ts'
import { createKey } from '../load/key-operations.ts'
import { workingKeys } from '../promises/promises.ts'
import { openWorld, type World } from '../world.ts'

const NODES = 2
const RATE_PER_MINUTE = 60
const BURST = 60

const phases = ['frozen', 'killed midway', 'restarted', 'frozen midway', 'killed', 'healthy'] as const
type Phase = (typeof phases)[number]

/** Redis hangs, dies and comes back under load. The limits must hold throughout. */
export const drill: Drill = {
  title: 'Redis is frozen, killed and started again under load',
  rounds: { long: 24, short: 3 },
  maxMinutes: 30,
  coveredBy: 'server/src/base/limits/redis-limiter.test.ts',
  async run(run) {
    const redis = await PrivateRedis.start(run)
    const installation = new Installation(run, {
      databaseUrl: await createDatabase(run),
      environment: {
        WAYLEAVE_REDIS_URL: redis.url,
        WAYLEAVE_KEY_RATE: String(RATE_PER_MINUTE),
        WAYLEAVE_KEY_BURST: String(BURST),
      },
    })
    for (let i = 0; i < NODES; i++) await installation.startNode()
    const world = await openWorld(installation)
    while (run.nextRound()) {
      const phase = phases[(run.rounds - 1) % phases.length]!
      await exhaustLimit(world, redis, phase)
    }
  },
}

/** Sends far more requests than a new key may make, and counts those that were allowed. */
async function exhaustLimit(world: World, redis: PrivateRedis, phase: Phase): Promise<void> {
  const { run, promises, installation } = world
  await createKey(world)
  const { id, secret, name } = workingKeys(promises).at(-1)!
  const began = performance.now()
  if (phase === 'frozen') redis.freeze()
  if (phase === 'killed' || phase === 'restarted') await redis.kill()
  if (phase === 'restarted') await redis.start()
  const count = run.short ? 300 : 1500
  const isMidway = phase.endsWith('midway')
  const responses = Array.from({ length: count }, async (_, i) => {
    // Half of the requests are sent before the change and half after it.
    if (isMidway && i >= count / 2) await sleep(300)
    return world.sendWithKey(id, secret, '/v1/datasets', { node: installation.nodes[i % NODES]! })
  })
  if (isMidway) {
    await sleep(150)
    if (phase === 'frozen midway') redis.freeze()
    else await redis.kill()
  }
  const statuses = (await Promise.all(responses)).map(({ status }) => status)
  const minutes = (performance.now() - began) / 60_000
  const allowed = statuses.filter((status) => status === 200).length
  // One limit is counted in Redis, and one in each node that has to work without Redis.
  const limit = Math.ceil(BURST + RATE_PER_MINUTE * minutes) + 1
  const bound = limit * (isMidway ? NODES + 1 : NODES)
  const promised = `at most ${isMidway ? NODES + 1 : NODES} times the limit is let through while Redis is ${phase}`
  run.expect(allowed <= bound, promised, `${allowed} of ${count} requests, the bound is ${bound}`)
  run.expect(allowed >= 1, `${name} is let through at all while Redis is ${phase}`, 'no request')
  // A node may also refuse connections when there are too many.
  const others = statuses.filter((status) => ![200, 429, 503].includes(status))
  run.expect(others.length === 0, `every response is 200, 429 or 503 while Redis is ${phase}`, `${others[0]}`)
  if (phase.startsWith('frozen')) redis.thaw()
  if (phase.startsWith('killed')) await redis.start()
  // Long enough for the nodes to reconnect to Redis.
  await sleep(2500)
}
