import { setTimeout as sleep } from 'node:timers/promises'
import { hasFaketime, shiftedClock } from '../../../scripts/test-servers/fake-clock.ts'
import type { Drill, DrillRun } from '../drill.ts'
import { Installation, StartError } from '../environment/installation.ts'
import { createDatabase } from '../environment/postgres-database.ts'
import { startSession } from '../load/account-operations.ts'
import { publishAndWait } from '../load/dataset-operations.ts'
import { createKey } from '../load/key-operations.ts'
import { checkInvariants } from '../promises/invariants.ts'
import { workingKeys } from '../promises/promises.ts'
import { settle } from '../promises/settle.ts'
import { openWorld, type World } from '../world.ts'
import { restart } from './kills.ts'

const offsets = ['+31d', '-1h', '+400d', '-2d']
/** Housekeeping runs when a server starts, and is finished after this time. */
const HOUSEKEEPING_MS = 3000
const STOPPED_WITHIN_MS = 30_000

/** A server is started with a clock that is far off, and then again with the correct clock. */
export const drill: Drill = {
  title: 'a server starts with a clock that is 31 days ahead or an hour behind',
  rounds: { long: 12, short: 1 },
  maxMinutes: 45,
  coveredBy: 'server/src/operation/housekeeping/housekeeping-clock.test.ts',
  obstacle: () => (hasFaketime() ? null : 'the Debian package faketime is not installed'),
  async run(run) {
    const worlds = [await openClockWorld(run, null)]
    if (!run.short) worlds.push(await openClockWorld(run, await createDatabase(run)))
    while (run.nextRound()) {
      const world = worlds[run.rounds % worlds.length]!
      const offset = run.short ? '+31d' : offsets[Math.floor(run.rounds / 2) % offsets.length]!
      await payForDownload(world)
      await startWithClock(world, offset)
      await restart(world, 1)
      await settle(world)
      await expectRights(world, offset)
      await checkInvariants(world, 'complete')
    }
  },
}

async function openClockWorld(run: DrillRun, databaseUrl: string | null): Promise<World> {
  const dataDir = `${run.folder}/${databaseUrl ? 'postgres' : 'sqlite'}`
  const installation = new Installation(run, { databaseUrl, dataDir })
  await installation.startNode()
  const world = await openWorld(installation, { credits: 1000 })
  world.maxRows = 100
  await publishAndWait(world)
  for (let i = 0; i < 2; i++) await createKey(world)
  for (let i = 0; i < 3; i++) await startSession(world)
  return world
}

/** Pays for a download: the key may then fetch the same file again for 24 hours without being charged. */
async function payForDownload(world: World): Promise<void> {
  const { promises, run } = world
  const table = promises.tables.find(({ versions }) => versions.length > 0)!.table
  for (const { id, secret, account } of workingKeys(promises)) {
    const path = `/v1/dataset/${table}/files/geojson`
    const { status, headers } = await world.sendWithKey(id, secret, path)
    run.expect(status === 200, 'a download succeeds', `${status}`)
    const amount = Number(headers.get('credits-charged') ?? 0)
    if (amount > 0) promises.accounts[account]!.charges.push({ keyId: id, table, format: 'geojson', amount })
  }
}

/** On PostgreSQL a node with the correct clock runs at the same time; on SQLite only one server may run. */
async function startWithClock(world: World, offset: string): Promise<void> {
  const { installation, run } = world
  if (installation.databaseUrl === null)
    await installation.stopNode(installation.nodes[0]!, STOPPED_WITHIN_MS)
  try {
    const node = await installation.startNode({ environment: shiftedClock(offset) })
    await sleep(HOUSEKEEPING_MS)
    await installation.stopNode(node, STOPPED_WITHIN_MS)
  } catch (error) {
    // Refusing to start is correct, if the message names the reason.
    if (!(error instanceof StartError)) throw error
    const promised = 'a server that refuses a wrong clock says so'
    run.expect(/clock/i.test(error.output), promised, error.output.slice(-300))
  }
}

/** A paid download is still free, and every session is still valid (checked with the invariants). */
async function expectRights(world: World, offset: string): Promise<void> {
  const { promises, run } = world
  const table = promises.tables.find(({ versions }) => versions.length > 0)!.table
  for (const { id, secret, name } of workingKeys(promises)) {
    const { status, headers } = await world.sendWithKey(id, secret, `/v1/dataset/${table}/files/geojson`)
    const charged = headers.get('credits-charged')
    const promised = `${name} may fetch again what it paid for, after a start with the clock at ${offset}`
    run.expect(status === 200 && charged === '0', promised, `status ${status}, ${charged} credits charged`)
  }
}
