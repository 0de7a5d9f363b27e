import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Drill, DrillRun } from '../drill.ts'
import { bucketVariables } from '../environment/bucket-variables.ts'
import {
  type CommandOutcome,
  Installation,
  type ServerNode,
  StartError,
} from '../environment/installation.ts'
import { createDatabase } from '../environment/postgres-database.ts'
import { signalProcess, waitUntil } from '../environment/processes.ts'
import { publishAndWait } from '../load/dataset-operations.ts'
import { request } from '../load/http-client.ts'
import { createKey } from '../load/key-operations.ts'
import { workingKeys } from '../promises/promises.ts'
import { openWorld } from '../world.ts'

const KEYS = 4
const MAX_KILLS = { long: 6, short: 1 }
const SERVED_WITHIN_MS = 60_000
/** Longer than a lease: a paused node must not count as running. */
const PAUSE_MS = 3000

/** What was made before the restores: a backup, and what was ended since. */
interface Source {
  installation: Installation
  backup: string
  keptSecret: string
  refusedSecrets: string[]
  endedSession: string
  /** How long a restore takes that is not interrupted. */
  restoreMs: number
}

/** A restore is killed at random moments, and nodes on other machines are started or go on. */
export const drill: Drill = {
  title: 'A restore to PostgreSQL and a bucket is killed while nodes with other data folders start or go on',
  rounds: { long: 60, short: 2 },
  maxMinutes: 90,
  coveredBy: 'server/src/operation/backup/restore/interrupted-restore.test.ts',
  async run(run) {
    const source = await prepareSource(run)
    while (run.nextRound()) {
      if (run.rounds % 2 === 1) await restoreToNewPlace(run, source)
      else await restoreOverPausedNode(run, source)
    }
  },
}

async function prepareSource(run: DrillRun): Promise<Source> {
  const installation = await openPlace(run, 'source')
  await installation.startNode()
  const world = await openWorld(installation)
  world.maxRows = 200
  await publishAndWait(world)
  for (let i = 0; i < KEYS; i++) await createKey(world)
  const backup = join(run.folder, 'backup')
  await installation.operate('backup', backup)
  const [kept, ...others] = workingKeys(world.promises)
  for (const key of others) {
    const token = world.promises.accounts[key.account]!.accessToken
    const { status } = await world.send('POST', `/v1/api-keys/${key.id}/revoke`, { token })
    run.expect(status === 200, 'a key can be revoked', `${status}`)
  }
  const [node] = installation.nodes
  if (!(await installation.stopNode(node!, 30_000))) throw new Error('The node did not stop.')
  const source: Source = {
    installation,
    backup,
    keptSecret: kept!.secret,
    refusedSecrets: others.map(({ secret }) => secret),
    endedSession: world.promises.accounts[0]!.refreshToken,
    restoreMs: 0,
  }
  const began = performance.now()
  const { code, stderr } = await restore(source, await openPlace(run, 'first'))
  if (code !== 0) throw new Error(`A restore ended with ${code}: ${stderr}`)
  return { ...source, restoreMs: performance.now() - began }
}

/** A database and a bucket of their own, with the data folder of the machine that restores. */
async function openPlace(run: DrillRun, name: string): Promise<Installation> {
  const dataDir = join(run.folder, name)
  mkdirSync(dataDir, { mode: 0o700 })
  return new Installation(run, {
    dataDir,
    databaseUrl: await createDatabase(run),
    environment: bucketVariables(),
  })
}

function restore(
  { installation, backup }: Source,
  target: Installation,
  options: { dataDir?: string; force?: boolean } = {},
): Promise<CommandOutcome> {
  const revocations = join(installation.dataDir, 'revocations.log')
  const args = ['restore', backup, '--revocations', revocations, ...(options.force ? ['--force'] : [])]
  return target.command(args, {
    environment: options.dataDir ? { WAYLEAVE_DATA_DIR: options.dataDir } : {},
  })
}

/** Starts the restore and kills it at a random moment, often late. Returns whether it ended before. */
async function killRestore(
  run: DrillRun,
  source: Source,
  target: Installation,
  options: Parameters<typeof restore>[2] = {},
): Promise<boolean> {
  const outcome = restore(source, target, options)
  const latest = source.restoreMs * 1.1
  await sleep(run.random.chance(0.3) ? latest * run.random.next() : latest * (0.5 + 0.5 * run.random.next()))
  for (const pid of target.commandPids) signalProcess(pid, 'SIGKILL')
  const { code, stdout, stderr } = await outcome
  run.operations++
  run.expect(code === null || code === 0, 'an interrupted restore can be continued', stdout + stderr)
  return code === 0
}

async function restoreToNewPlace(run: DrillRun, source: Source): Promise<void> {
  const target = await openPlace(run, `restored-${run.rounds}`)
  const otherFolder = join(run.folder, `other-${run.rounds}`)
  mkdirSync(otherFolder, { mode: 0o700 })
  const start = () => target.startNode({ environment: { WAYLEAVE_DATA_DIR: otherFolder } })
  for (let kill = 0; kill < MAX_KILLS[run.short ? 'short' : 'long']; kill++) {
    if (await killRestore(run, source, target)) break
    // Before the restore has begun, the database is empty, and a start would found a new installation.
    if ((await target.command(['doctor'])).stdout.includes('holds no control database')) continue
    const node = await start().catch((error: unknown) => {
      const isRefused = error instanceof StartError && /has not finished/.test(error.output)
      run.expect(isRefused, 'a node names the unfinished restore', () => String(error))
      return null
    })
    if (node) {
      await expectRestored(run, source, node)
      await target.killNode(node)
    }
  }
  const { code, stdout, stderr } = await restore(source, target)
  const isComplete = code === 0 || /not empty/.test(stdout + stderr)
  run.expect(isComplete, 'an interrupted restore can be completed', stdout + stderr)
  await expectRestored(run, source, await start())
  await target.killAll()
}

/** The node held no lease when the restore looked for nodes, and goes on in the middle of it. */
async function restoreOverPausedNode(run: DrillRun, source: Source): Promise<void> {
  const target = await openPlace(run, `paused-${run.rounds}`)
  await restore(source, target)
  const node = await target.startNode()
  const dataDir = join(run.folder, `restoring-${run.rounds}`)
  mkdirSync(dataDir, { mode: 0o700 })
  signalProcess(node.pid, 'SIGSTOP')
  await sleep(PAUSE_MS)
  for (let kill = 0; kill < MAX_KILLS[run.short ? 'short' : 'long']; kill++) {
    const isDone = await killRestore(run, source, target, { dataDir, force: true })
    signalProcess(node.pid, 'SIGCONT')
    await expectRefusals(run, source, node)
    if (isDone) break
    signalProcess(node.pid, 'SIGSTOP')
    await sleep(PAUSE_MS)
  }
  signalProcess(node.pid, 'SIGSTOP')
  await sleep(PAUSE_MS)
  await restore(source, target, { dataDir, force: true })
  signalProcess(node.pid, 'SIGCONT')
  await expectRestored(run, source, node)
  await target.killAll()
}

async function expectRestored(run: DrillRun, source: Source, node: ServerNode): Promise<void> {
  await expectRefusals(run, source, node)
  const serves = async () => (await statusOf(node, source.keptSecret)) === 200
  const promised = 'a node serves after a complete restore'
  run.expect(await waitUntil(serves, SERVED_WITHIN_MS, 100), promised, `${node.name} does not`)
  await expectRefusals(run, source, node)
}

async function expectRefusals(run: DrillRun, source: Source, node: ServerNode): Promise<void> {
  for (let look = 0; look < 3; look++) {
    for (const secret of source.refusedSecrets) {
      const status = await statusOf(node, secret)
      const promised = 'a key that was revoked after the backup stays revoked'
      run.expect(status !== 200, promised, `200 on ${node.name}`)
    }
    const { status } = await request(node.url, 'POST', '/v1/auth/refresh', {
      body: { refreshToken: source.endedSession },
      withinMs: 10_000,
    })
    run.expect(status !== 200, 'a session does not survive a restore', `200 on ${node.name}`)
    await sleep(50)
  }
}

async function statusOf(node: ServerNode, key: string): Promise<number> {
  return (await request(node.url, 'GET', '/v1/datasets', { key, withinMs: 10_000 })).status
}
