import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Drill } from '../drill.ts'
import { Installation } from '../environment/installation.ts'
import { createDatabase, dumpDatabase, restoreDatabase } from '../environment/postgres-database.ts'
import { waitUntil } from '../environment/processes.ts'
import { publishAndWait } from '../load/dataset-operations.ts'
import { request } from '../load/http-client.ts'
import { createKey } from '../load/key-operations.ts'
import { differenceFrom } from '../load/sources.ts'
import { workingKeys } from '../promises/promises.ts'
import { openWorld, type World } from '../world.ts'

const NODES = 2
const KEYS = 4
const RECOVERED_WITHIN_MS = 60_000
/** A node's lease is two seconds; by then it must have detected that the database was replaced. */
const NOTICED_WITHIN_MS = 10_000

/** PostgreSQL is restored to an older state, while the nodes run or while they are down. */
export const drill: Drill = {
  title: 'PostgreSQL is restored to an older state, while two nodes run and while they are down',
  rounds: { long: 10, short: 1 },
  maxMinutes: 45,
  coveredBy: 'server/src/base/database/migrations/older-state.test.ts',
  async run(run) {
    const databaseUrl = await createDatabase(run)
    const installation = new Installation(run, { databaseUrl })
    for (let i = 0; i < NODES; i++) await installation.startNode()
    const world = await openWorld(installation)
    world.maxRows = 200
    await publishAndWait(world)
    const backup = join(run.folder, 'backup.dump')
    while (run.nextRound()) {
      for (let i = 0; i < KEYS; i++) await createKey(world)
      await dumpDatabase(databaseUrl, backup)
      const newerSecrets = await makeNewerKeys(world)
      const isRunning = run.short || run.rounds % 2 === 1
      if (!isRunning) await installation.killAll()
      await restoreDatabase(databaseUrl, backup)
      if (!isRunning) for (let i = 0; i < NODES; i++) await installation.startNode()
      await expectOlderState(world, newerSecrets)
      await expectRevocations(world)
      await expectSnapshots(world)
    }
  },
}

/** Makes changes after the backup, so that the number of the last change is above the one in the backup. */
async function makeNewerKeys(world: World): Promise<string[]> {
  const { promises, run, installation } = world
  const before = promises.keys.length
  for (let i = 0; i < KEYS; i++) await createKey(world)
  const newer = promises.keys.splice(before)
  const secrets = newer.flatMap(({ secret }) => (secret ? [secret] : []))
  for (const node of installation.nodes) {
    for (const secret of secrets) {
      const { status } = await world.send('GET', '/v1/datasets', { key: secret, node })
      run.expect(status === 200, 'a new key works on every node', `${status}`)
    }
  }
  for (const key of newer) {
    const token = promises.accounts[key.account]!.accessToken
    for (let i = 0; i < 5; i++) {
      const body = { name: `${key.name} again` }
      await world.send('PATCH', `/v1/api-keys/${key.id}`, { token, body })
    }
  }
  return secrets
}

/** All nodes serve again, and refuse keys that the older database does not have. */
async function expectOlderState(world: World, newerSecrets: string[]): Promise<void> {
  const { run, promises, installation } = world
  const [key] = workingKeys(promises)
  for (const node of installation.nodes) {
    const serves = async () => {
      const { status } = await request(node.url, 'GET', '/v1/datasets', { key: key!.secret, withinMs: 5000 })
      return status === 200
    }
    const hasRecovered = await waitUntil(serves, RECOVERED_WITHIN_MS, 100)
    run.expect(hasRecovered, 'a node serves again after its database was restored', `${node.name} does not`)
  }
  for (const node of installation.nodes) {
    for (const secret of newerSecrets) {
      const isRefused = async () => {
        const { status } = await request(node.url, 'GET', '/v1/datasets', { key: secret, withinMs: 5000 })
        return status === 401
      }
      const promised = 'a key that the restored database does not hold is refused'
      run.expect(await waitUntil(isRefused, NOTICED_WITHIN_MS, 100), promised, `not on ${node.name}`)
    }
  }
}

/**
 * From now on every acknowledged revocation takes effect on both nodes, although its number was used before.
 */
async function expectRevocations(world: World): Promise<void> {
  const { run, promises, installation } = world
  for (const key of workingKeys(promises).slice(1)) {
    const { secret } = key
    for (const node of installation.nodes) await world.send('GET', '/v1/datasets', { key: secret, node })
    const token = promises.accounts[key.account]!.accessToken
    const { status } = await world.send('POST', `/v1/api-keys/${key.id}/revoke`, { token })
    if (!run.expect(status === 200, 'a key can be revoked after the restore', `${status}`)) continue
    Object.assign(key, { state: 'revoked', secret: null })
    for (let i = 0; i < 3; i++) {
      for (const node of installation.nodes) {
        const response = await world.send('GET', '/v1/datasets', { key: secret, node })
        const promised = 'a revocation that was acknowledged after a restore holds on every node'
        run.expect(response.status === 401, promised, `${response.status} in look ${i + 1}`)
      }
      await sleep(100)
    }
  }
}

/** Versions that were published before the backup are served completely. */
async function expectSnapshots(world: World): Promise<void> {
  const { run, promises, installation } = world
  for (const { table, versions } of promises.tables) {
    for (const { version, stamp } of versions) {
      const node = run.random.pick(installation.nodes)
      const path = `/v1/dataset/${table}/archives/${version}/files/geojson`
      const { status, bytes } = await world.send('GET', path, { key: promises.platformKey, node })
      const difference =
        status === 200 ? differenceFrom(promises.sources[stamp]!, 'geojson', bytes) : `${status}`
      const promised = 'what was published before the backup is served whole after the restore'
      run.expect(difference === null, promised, difference ?? '')
    }
  }
}
