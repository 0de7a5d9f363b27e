import { setTimeout as sleep } from 'node:timers/promises'
import { TcpProxy } from '../../../scripts/test-servers/tcp-proxy.ts'
import type { Drill, DrillRun } from '../drill.ts'
import { Installation, type ServerNode } from '../environment/installation.ts'
import { createDatabase } from '../environment/postgres-database.ts'
import { waitUntil } from '../environment/processes.ts'
import { request } from '../load/http-client.ts'
import { createKey } from '../load/key-operations.ts'
import { type KeyPromise, workingKeys } from '../promises/promises.ts'
import { openWorld, type World } from '../world.ts'

const KEYS = 4
/** A node without its database must still respond, with an error. */
const READY_WITHIN_MS = 10_000
const RECOVERED_WITHIN_MS = 60_000
const STOPPED_WITHIN_MS = 30_000

const faults = ['frozen', 'dead', 'delayed'] as const
type Fault = (typeof faults)[number]

/** The network between a node and PostgreSQL freezes, dies silently, or becomes slow. */
export const drill: Drill = {
  title: 'the link between a node and PostgreSQL freezes, dies silently or becomes slow',
  rounds: { long: 24, short: 1 },
  maxMinutes: 60,
  coveredBy: 'server/src/base/database/frozen-link.test.ts',
  async run(run) {
    const databaseUrl = await createDatabase(run)
    const { proxy, url } = await TcpProxy.open(databaseUrl, (close) => run.cleanUp(close))
    const installation = new Installation(run, { databaseUrl })
    const other = await installation.startNode()
    let distant = await installation.startNode({ databaseUrl: url })
    const world = await openWorld(installation)
    while (run.nextRound()) {
      const fault = run.short ? 'dead' : run.random.pick(faults)
      const keys = await verifiedKeys(world)
      applyFault(proxy, fault, run)
      await duringFault(world, fault, keys, distant, other)
      const isStopping = fault !== 'delayed' && (run.short || run.random.chance(0.4))
      if (isStopping) {
        const hasEnded = await installation.stopNode(distant, STOPPED_WITHIN_MS)
        const promised = `SIGTERM ends a node within ${STOPPED_WITHIN_MS / 1000} s, whatever its database does`
        run.expect(hasEnded, promised, `it still ran with a link that was ${fault}`)
      }
      proxy.delayMs = 0
      proxy.set('open')
      if (isStopping) distant = await installation.startNode({ databaseUrl: url })
      await expectRecovery(world, fault, distant)
    }
  },
}

/** Keys that both nodes have verified, so that their caches could serve them. */
async function verifiedKeys(world: World) {
  for (let i = 0; i < KEYS; i++) await createKey(world)
  const keys = workingKeys(world.promises)
  for (const node of world.installation.nodes) {
    for (const { id, secret, name } of keys) {
      const { status } = await world.sendWithKey(id, secret, '/v1/datasets', { node })
      world.run.expect(status === 200, `key ${name} works on every node`, `${status} on ${node.name}`)
    }
  }
  return keys
}

function applyFault(proxy: TcpProxy, fault: Fault, run: DrillRun): void {
  if (fault === 'delayed') proxy.delayMs = run.random.integer(50, 400)
  else proxy.set(fault)
}

/** Revokes keys through the other node; once acknowledged, the disconnected node must refuse them. */
async function duringFault(
  world: World,
  fault: Fault,
  keys: (KeyPromise & { id: string; secret: string })[],
  distant: ServerNode,
  other: ServerNode,
): Promise<void> {
  const { run, promises } = world
  const until = performance.now() + (run.short ? 3000 : run.random.integer(3000, 15_000))
  const revoked = keys.slice(1)
  await Promise.all(
    revoked.map(async (key) => {
      const { secret } = key
      await sleep(run.random.integer(0, 2000))
      const token = promises.accounts[key.account]!.accessToken
      const { status } = await world.send('POST', `/v1/api-keys/${key.id}/revoke`, { token, node: other })
      run.expect(status === 200, `a revocation ends while a link is ${fault}`, `${status}`)
      Object.assign(key, { state: 'revoked', secret: null, refusedSecrets: [secret] })
      while (status === 200 && performance.now() < until) {
        const response = await world.send('GET', '/v1/datasets', { key: secret, node: distant })
        const promised = `a key that was revoked opens nothing on a node whose link is ${fault}`
        run.expect(response.status !== 200, promised, '200')
        await sleep(50)
      }
    }),
  )
  if (fault !== 'delayed') {
    const ready = await request(distant.url, 'GET', '/ready', { withinMs: READY_WITHIN_MS })
    const promised = `/ready responds within ${READY_WITHIN_MS / 1000} s while the link is ${fault}`
    run.expect(ready.status !== 0, promised, 'no response')
    run.expect(ready.status !== 200, `/ready is not 200 while the link is ${fault}`, '200')
  }
}

/** The node serves and writes again by itself, and still refuses keys that were revoked meanwhile. */
async function expectRecovery(world: World, fault: Fault, node: ServerNode): Promise<void> {
  const { run, promises } = world
  const [key] = workingKeys(promises)
  const token = promises.accounts[key!.account]!.accessToken
  const hasRecovered = await waitUntil(
    async () => {
      const read = await request(node.url, 'GET', '/v1/datasets', { key: key!.secret, withinMs: 5000 })
      const write = await request(node.url, 'PATCH', `/v1/api-keys/${key!.id}`, {
        token,
        body: { name: key!.name },
        withinMs: 5000,
      })
      return read.status === 200 && write.status === 200
    },
    RECOVERED_WITHIN_MS,
    250,
  )
  const promised = `a node recovers within ${RECOVERED_WITHIN_MS / 1000} s without a restart`
  run.expect(hasRecovered, promised, `it did not after its link was ${fault}`)
  for (const { state, refusedSecrets } of promises.keys) {
    if (state === 'active') continue
    for (const secret of refusedSecrets) {
      const { status } = await world.send('GET', '/v1/datasets', { key: secret, node })
      run.expect(status !== 200, 'a key that was revoked stays revoked', '200 after the recovery')
    }
  }
}
