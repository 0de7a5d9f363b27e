import { setTimeout as sleep } from 'node:timers/promises'
import type { Drill, DrillRun } from '../drill.ts'
import { Installation, StartError } from '../environment/installation.ts'
import { createDatabase } from '../environment/postgres-database.ts'
import { signalProcess } from '../environment/processes.ts'
import { prepare, Workload } from '../load/workload.ts'
import { checkInvariants } from '../promises/invariants.ts'
import { noteInterruption } from '../promises/promises.ts'
import { settle, settleJobs } from '../promises/settle.ts'
import { openWorld, type World } from '../world.ts'

const CLIENTS = 6
const THOROUGH_EVERY = 20

/** SIGKILL to servers, commands and compiling processes at random moments of a mixed load. */
export function killDrill(database: 'sqlite' | 'postgres', rounds: Drill['rounds'], nodes: number): Drill {
  return {
    title: `SIGKILL at random moments: ${nodes === 1 ? 'one node' : `${nodes} nodes`} on ${database}`,
    rounds,
    maxMinutes: 180,
    async run(run) {
      const databaseUrl = database === 'postgres' ? await createDatabase(run) : null
      const world = await openKillWorld(run, databaseUrl, nodes)
      while (run.nextRound()) {
        await interrupt(world)
        await restart(world, nodes)
        await settle(world)
        await checkInvariants(world, run.rounds % THOROUGH_EVERY === 0 ? 'thorough' : 'quick')
      }
      // On PostgreSQL the jobs of a dead node are taken over after ten seconds; a short run does not wait.
      if (!run.short || database === 'sqlite') await settleJobs(world)
      await checkInvariants(world, 'complete')
    },
  }
}

async function openKillWorld(run: DrillRun, databaseUrl: string | null, nodes: number): Promise<World> {
  const installation = new Installation(run, { databaseUrl })
  for (let i = 0; i < nodes; i++) await installation.startNode()
  const world = await openWorld(installation, { tables: 8 })
  if (run.short) world.maxRows = 300
  await prepare(world)
  return world
}

/** Lets the load run for a while, then kills one process. Each call is a round, and counts as one kill. */
async function interrupt(world: World): Promise<void> {
  const { run, installation } = world
  const workload = new Workload(world, CLIENTS)
  for (;;) {
    await sleep(run.random.integer(20, 900))
    const victim = run.random.pick(['server', 'server', 'command', 'worker'] as const)
    if (victim === 'server') break
    const pids = victim === 'command' ? installation.commandPids : installation.workerPids
    if (pids.length === 0) continue
    if (victim === 'worker') noteInterruption(world.promises, victim)
    signalProcess(run.random.pick(pids), 'SIGKILL')
    if (!run.nextRound()) break
  }
  // No client starts a new operation on a server that was killed.
  const stopped = workload.stop()
  noteInterruption(world.promises, 'server')
  const victims = run.random.chance(0.3) ? [...installation.nodes] : [run.random.pick(installation.nodes)]
  await Promise.all(victims.map((node) => installation.killNode(node)))
  await stopped
}

/** Starts all nodes again. A server that does not start on what a kill left behind is a violation. */
export async function restart(world: World, nodes: number): Promise<void> {
  const { run, installation } = world
  const missing = nodes - installation.nodes.length
  try {
    await Promise.all(Array.from({ length: missing }, () => installation.startNode()))
    run.checks += missing
  } catch (error) {
    if (error instanceof StartError) run.violate('a server starts after an interruption', error.message)
    throw error
  }
}
