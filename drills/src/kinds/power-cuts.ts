import { setTimeout as sleep } from 'node:timers/promises'
import type { Drill } from '../drill.ts'
import { Installation } from '../environment/installation.ts'
import { LoopMount, mountObstacle } from '../environment/loop-mount.ts'
import { signalProcess } from '../environment/processes.ts'
import { prepare, Workload } from '../load/workload.ts'
import { checkInvariants } from '../promises/invariants.ts'
import { noteInterruption } from '../promises/promises.ts'
import { settle } from '../promises/settle.ts'
import { openWorld } from '../world.ts'
import { restart } from './kills.ts'

const CLIENTS = 4
const IMAGE_MEGABYTES = 512
/** The kernel writes dirty pages back after 30 s by itself, so later cuts would test nothing. */
const MAX_QUIET_MS = 25_000

/**
 * The data folder is on a separate file system. A power cut leaves what the block device has at that moment:
 * the image is copied without a sync, every process is killed, and the run continues from the copy.
 */
export const drill: Drill = {
  title: 'the disk as a power cut leaves it, 0 to 25 s after the last acknowledgement',
  rounds: { long: 30, short: 1 },
  maxMinutes: 90,
  obstacle: mountObstacle,
  async run(run) {
    let disk = LoopMount.create(run, 'disk-0', IMAGE_MEGABYTES)
    const environment = { WAYLEAVE_MIN_FREE_BYTES: String(1 << 20) }
    const installation = new Installation(run, { dataDir: `${disk.folder}/data`, environment })
    await installation.startNode()
    const world = await openWorld(installation)
    world.maxRows = 1000
    await prepare(world)
    while (run.nextRound()) {
      const workload = new Workload(world, CLIENTS)
      await sleep(run.random.integer(500, run.short ? 1500 : 4000))
      // In half of the cuts the load runs until the power fails; in the others all is acknowledged before.
      const isQuiet = run.random.chance(0.5)
      if (isQuiet) {
        await workload.stop()
        if (!run.short) await sleep(run.random.integer(0, MAX_QUIET_MS))
      }
      const stopped = workload.stop()
      const pids = installation.allPids
      for (const pid of pids) signalProcess(pid, 'SIGSTOP')
      const copy = disk.cut(run, `disk-${run.rounds}`)
      noteInterruption(world.promises, 'server')
      await installation.killAll()
      await stopped
      disk.discard()
      disk = copy
      installation.dataDir = `${disk.folder}/data`
      await restart(world, 1)
      await settle(world)
      await checkInvariants(world, 'complete')
    }
  },
}
