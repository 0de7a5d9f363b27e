import { setTimeout as sleep } from 'node:timers/promises'
import type { Drill, DrillRun } from '../drill.ts'
import { bucketVariables } from '../environment/bucket-variables.ts'
import { Installation, type ServerNode, StartError } from '../environment/installation.ts'
import { createDatabase } from '../environment/postgres-database.ts'
import { PrivateRedis } from '../environment/private-redis.ts'
import { signalProcess, waitUntil } from '../environment/processes.ts'
import { prepare, Workload } from '../load/workload.ts'
import { checkInvariants } from '../promises/invariants.ts'
import { noteInterruption } from '../promises/promises.ts'
import { settle, settleJobs } from '../promises/settle.ts'
import { openWorld, type World } from '../world.ts'

const API_NODES = 3
const WORKERS = 2
const CLIENTS = 5
const THOROUGH_EVERY = 20
/** A lease of ten seconds, a poll, and the job itself. */
const TAKEN_OVER_WITHIN_MS = 60_000

/**
 * Three nodes that serve and two workers that run all jobs, on one PostgreSQL, one Redis and one bucket. Each has
 * an empty data folder of its own when it starts. Any of them, and any process that compiles or builds, gets
 * SIGKILL at a random moment of a mixed load.
 */
export const drill: Drill = {
  title: 'SIGKILL at random moments: three API nodes and two workers',
  rounds: { long: 150, short: 2 },
  maxMinutes: 180,
  coveredBy: 'server/src/data/jobs/job-leases-model.test.ts',
  async run(run) {
    const redis = await PrivateRedis.start(run)
    const installation = new Installation(run, {
      databaseUrl: await createDatabase(run),
      ownFolders: true,
      environment: {
        ...bucketVariables(),
        WAYLEAVE_REDIS_URL: redis.url,
        WAYLEAVE_TILES: run.short ? 'false' : 'true',
        WAYLEAVE_TILE_MAX_ZOOM: '3',
        // Workers share the tiles of the larger tables.
        WAYLEAVE_TILE_PART_BYTES: '65536',
      },
    })
    await startMissing(installation)
    const world = await openWorld(installation, { tables: 6 })
    world.maxRows = run.short ? 300 : 2000
    await prepare(world)
    while (run.nextRound()) {
      await interrupt(world)
      await restart(world)
      await settle(world)
      if (!run.short) await checkInvariants(world, run.rounds % THOROUGH_EVERY === 0 ? 'thorough' : 'quick')
    }
    await settleJobs(world)
    await allJobsEnd(world)
    await checkInvariants(world, 'complete')
  },
}

async function startMissing(installation: Installation): Promise<void> {
  const missing = (count: number, nodes: readonly ServerNode[]) =>
    Array.from({ length: count - nodes.length })
  await Promise.all([
    ...missing(API_NODES, installation.nodes).map(() => installation.startNode({}, 'api')),
    ...missing(WORKERS, installation.jobNodes).map(() => installation.startNode({}, 'worker')),
  ])
}

/** Lets the load run for a while, then kills a node, a worker, both workers, or a process that they started. */
async function interrupt(world: World): Promise<void> {
  const { run, installation } = world
  const workload = new Workload(world, CLIENTS)
  await sleep(run.random.integer(200, run.short ? 900 : 2500))
  const victims = victimsOf(run, installation)
  noteInterruption(world.promises, victims.length === 0 ? 'worker' : 'server')
  if (victims.length === 0) {
    const pids = installation.workerPids
    if (pids.length > 0) signalProcess(run.random.pick(pids), 'SIGKILL')
  }
  await Promise.all(victims.map((node) => installation.killNode(node)))
  // The other nodes go on serving without those that are gone.
  await sleep(run.random.integer(0, 500))
  await workload.stop()
}

/** Empty for a process that compiles or builds. */
function victimsOf(run: DrillRun, { nodes, jobNodes }: Installation): ServerNode[] {
  switch (run.random.pick(['worker', 'node', 'worker', 'workers', 'process'] as const)) {
    case 'node':
      return [run.random.pick(nodes)]
    case 'worker':
      return [run.random.pick(jobNodes)]
    case 'workers':
      return [...jobNodes]
    case 'process':
      return []
  }
}

async function restart({ run, installation }: World): Promise<void> {
  try {
    await startMissing(installation)
    run.checks++
  } catch (error) {
    if (error instanceof StartError) run.violate('a node starts after an interruption', error.message)
    throw error
  }
}

/** Jobs of all kinds whose worker was killed are run by another one. */
async function allJobsEnd(world: World): Promise<void> {
  const { run, promises } = world
  for (const kind of ['publish', 'export', 'tiles']) {
    let open = ''
    const areEnded = async () => {
      const states = await Promise.all(
        ['waiting', 'running'].map(async (state) => {
          const path = `/v1/jobs?kind=${kind}&state=${state}`
          const { status, body } = await world.send('GET', path, { key: promises.platformKey })
          return status === 200 ? `${body.data.length} ${state}` : `${status}`
        }),
      )
      open = states.join(', ')
      return open === '0 waiting, 0 running'
    }
    const isEnded = await waitUntil(areEnded, TAKEN_OVER_WITHIN_MS, 100)
    run.expect(isEnded, `every job of the kind ${kind} ends, whichever worker dies`, () => open)
  }
}
