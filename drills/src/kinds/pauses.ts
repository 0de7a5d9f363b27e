import { setTimeout as sleep } from 'node:timers/promises'
import type { Drill } from '../drill.ts'
import { Installation, type ServerNode } from '../environment/installation.ts'
import { createDatabase } from '../environment/postgres-database.ts'
import { signalProcess } from '../environment/processes.ts'
import { createKey } from '../load/key-operations.ts'
import { workingKeys } from '../promises/promises.ts'
import { openWorld, type World } from '../world.ts'

const KEYS = 6
/** A request waits until the node resumes, and then in its queue. */
const WITHIN_MS = 60_000

/** A paused node, like a virtual machine during a migration, must not serve revoked keys afterwards. */
export const drill: Drill = {
  title: 'one of two nodes stands still while keys are revoked through the other',
  rounds: { long: 40, short: 1 },
  maxMinutes: 30,
  coveredBy: 'server/src/base/database/changes/changes-model.test.ts',
  async run(run) {
    const installation = new Installation(run, { databaseUrl: await createDatabase(run) })
    for (let i = 0; i < 2; i++) await installation.startNode()
    const world = await openWorld(installation)
    while (run.nextRound()) {
      for (let i = 0; i < KEYS; i++) await createKey(world)
      const [paused, other] = run.random.sample(installation.nodes, 2) as [ServerNode, ServerNode]
      await revokeDuringPause(world, paused, other)
    }
  },
}

async function revokeDuringPause(world: World, paused: ServerNode, other: ServerNode): Promise<void> {
  const { run, promises } = world
  const keys = workingKeys(promises)
  // Both nodes have verified the keys, so that their caches could serve them.
  for (const node of [paused, other]) {
    for (const key of keys) {
      const { status } = await world.sendWithKey(key.id, key.secret, '/v1/datasets', { node })
      run.expect(status === 200, `key ${key.name} works on every node`, `${status} on ${node.name}`)
    }
  }
  const pauseMs = run.random.integer(500, run.short ? 3000 : 10_000)
  const requests: Promise<void>[] = []
  signalProcess(paused.pid, 'SIGSTOP')
  const resumed = sleep(pauseMs).then(() => signalProcess(paused.pid, 'SIGCONT'))
  const revocations = keys.map(async (key) => {
    await sleep(run.random.integer(0, pauseMs))
    const token = promises.accounts[key.account]!.accessToken
    const change = run.random.pick(['revoke', 'rotate'] as const)
    const { status } = await world.send('POST', `/v1/api-keys/${key.id}/${change}`, {
      token,
      node: other,
      withinMs: WITHIN_MS,
    })
    const isDone = run.expect(
      status === 200,
      `the ${change} of a key ends while a node stands still`,
      `${status}`,
    )
    if (!isDone) return
    // Only requests that were sent after the acknowledgement count.
    for (const node of [paused, other]) {
      requests.push(
        expectRefusedFor(world, node, key.secret, `${key.name} after its ${change} was acknowledged`),
      )
    }
  })
  await Promise.all([...revocations, resumed])
  await Promise.all(requests)
  for (const key of keys) Object.assign(key, { state: 'revoked', secret: null })
}

/** Repeats the request for a second after the first response, to include the moment of resuming. */
async function expectRefusedFor(
  world: World,
  node: ServerNode,
  secret: string,
  whose: string,
): Promise<void> {
  const { run } = world
  let until = Number.POSITIVE_INFINITY
  while (performance.now() < until) {
    const { status } = await world.send('GET', '/v1/datasets', { key: secret, node, withinMs: WITHIN_MS })
    run.expect(status === 401, `the secret of ${whose} gets 401 on every node`, `${status}`)
    if (until === Number.POSITIVE_INFINITY) until = performance.now() + 1000
    await sleep(20)
  }
}
