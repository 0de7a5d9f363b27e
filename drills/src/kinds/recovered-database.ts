import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findPostgres } from '../../../scripts/test-servers/postgres.ts'
import type { Drill } from '../drill.ts'
import { bucketVariables } from '../environment/bucket-variables.ts'
import { Installation } from '../environment/installation.ts'
import { waitUntil } from '../environment/processes.ts'
import { RecoverablePostgres } from '../environment/recoverable-postgres.ts'
import { request } from '../load/http-client.ts'
import { createKey } from '../load/key-operations.ts'
import { type KeyPromise, workingKeys } from '../promises/promises.ts'
import { openWorld, type World } from '../world.ts'

const KEYS = 4
const MAX_NODES = 3
const LOGGED_WITHIN_MS = 30_000
const RECOVERED_WITHIN_MS = 60_000
const LOOKS_AFTERWARDS = 10

/** PostgreSQL is recovered to a moment before keys were revoked, under one to three nodes or while they are down. */
export const drill: Drill = {
  title: 'PostgreSQL is recovered to a point in time before keys were revoked, under one to three nodes',
  rounds: { long: 24, short: 2 },
  maxMinutes: 60,
  coveredBy: 'server/src/operation/backup/revocations/restored-under-nodes.test.ts',
  obstacle: () => (findPostgres() ? null : 'PostgreSQL is not installed'),
  async run(run) {
    const postgres = await RecoverablePostgres.start(run)
    const installation = new Installation(run, { databaseUrl: postgres.url, environment: bucketVariables() })
    await installation.startNode()
    const world = await openWorld(installation)
    while (run.nextRound()) {
      const nodes = run.short ? run.rounds : 1 + (run.rounds % MAX_NODES)
      const isRunning = run.short || run.rounds % 4 !== 0
      await startNodes(world, nodes)
      await world.keepSignedIn()
      for (let i = 0; i < KEYS; i++) await createKey(world)
      const [kept, ...others] = workingKeys(world.promises)
      await postgres.backUp()
      await postgres.markMoment()
      for (const key of others) await endKey(world, key)
      await untilLogged(world, others)
      if (!isRunning) await installation.killAll()
      const watch = watchRefusals(world)
      await postgres.recover()
      if (!isRunning) await startNodes(world, nodes)
      await untilServed(world, kept!.secret)
      for (let look = 0; look < LOOKS_AFTERWARDS; look++) await watch.look()
      await watch.stop()
    }
  },
}

/** Each node has a data folder of its own, which it keeps when it is started again. */
async function startNodes({ installation, run }: World, wanted: number): Promise<void> {
  const { nodes } = installation
  while (nodes.length > wanted) await installation.killNode(nodes.at(-1)!)
  while (nodes.length < wanted) {
    const folder = nodes.length === 0 ? installation.dataDir : join(run.folder, `data-${nodes.length}`)
    await installation.startNode({ environment: { WAYLEAVE_DATA_DIR: folder } })
  }
}

async function endKey(world: World, key: KeyPromise): Promise<void> {
  const { run, promises } = world
  const token = promises.accounts[key.account]!.accessToken
  const path = `/v1/api-keys/${key.id}`
  const change = run.random.pick(['revoke', 'rotate', 'delete'] as const)
  const { status } =
    change === 'delete'
      ? await world.send('DELETE', path, { token })
      : await world.send('POST', `${path}/${change}`, { token })
  if (!run.expect(status < 300, 'a key can be revoked, rotated and deleted', `${change} got ${status}`))
    return
  key.refusedSecrets.push(key.secret!)
  // The recovered database knows the key only with its old secret, which is revoked.
  Object.assign(key, { state: 'revoked', secret: null })
}

/** Within seconds, every node has noted the revocations of all nodes in its own log. */
async function untilLogged({ installation, run }: World, keys: KeyPromise[]): Promise<void> {
  for (const [index, node] of installation.nodes.entries()) {
    const folder = index === 0 ? installation.dataDir : join(run.folder, `data-${index}`)
    const isLogged = async () => {
      const text = await readFile(join(folder, 'revocations.log'), 'utf8').catch(() => '')
      return keys.every(({ id }) => text.includes(`"${id}"`))
    }
    const promised = 'every node logs the revocations of all nodes'
    run.expect(await waitUntil(isLogged, LOGGED_WITHIN_MS), promised, `not ${node.name}`)
  }
}

/** Sends requests with revoked secrets to all nodes, without a pause. None may ever succeed. */
function watchRefusals({ run, promises, installation }: World) {
  let isStopped = false
  const secrets = promises.keys.flatMap((key) => key.refusedSecrets).slice(-3 * KEYS)
  const look = async () => {
    for (const node of [...installation.nodes]) {
      for (const secret of secrets) {
        const { status } = await request(node.url, 'GET', '/v1/datasets', { key: secret, withinMs: 10_000 })
        run.operations++
        run.expect(status !== 200, 'a revoked key stays revoked through a recovery', `200 on ${node.name}`)
      }
    }
  }
  const watching = (async () => {
    while (!isStopped) {
      await look()
      await sleep(5)
    }
  })()
  return {
    look,
    async stop() {
      isStopped = true
      await watching
    },
  }
}

async function untilServed({ installation, run }: World, secret: string): Promise<void> {
  for (const node of installation.nodes) {
    const serves = async () =>
      (await request(node.url, 'GET', '/v1/datasets', { key: secret, withinMs: 5000 })).status === 200
    const promised = 'a node serves again after a recovery'
    run.expect(await waitUntil(serves, RECOVERED_WITHIN_MS, 100), promised, `${node.name} does not`)
  }
}
