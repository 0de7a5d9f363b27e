import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Drill } from '../drill.ts'
import { Installation } from '../environment/installation.ts'
import { mountObstacle, mountTmpfs } from '../environment/loop-mount.ts'
import { waitUntil } from '../environment/processes.ts'
import { publishByCommand, publishByUpload } from '../load/dataset-operations.ts'
import { download } from '../load/download-operations.ts'
import { outcomeOf } from '../load/http-client.ts'
import { createKey, revokeKey } from '../load/key-operations.ts'
import { prepare } from '../load/workload.ts'
import { checkInvariants } from '../promises/invariants.ts'
import { nextNumber, workingKeys } from '../promises/promises.ts'
import { settle } from '../promises/settle.ts'
import { openWorld, type World } from '../world.ts'
import { restart } from './kills.ts'

const DISK_MEGABYTES = 96
/** SQLite may have some space left in its log; this many writes are sure to need more. */
const MAX_WRITES = 3000
const RECOVERED_WITHIN_MS = 60_000

/** The disk of the data folder fills up and is freed again while the server runs. */
export const drill: Drill = {
  title: 'the disk is full, and freed again',
  rounds: { long: 12, short: 1 },
  maxMinutes: 45,
  coveredBy: 'server/src/base/database/sqlite/sqlite-outages.test.ts',
  obstacle: mountObstacle,
  async run(run) {
    const disk = mountTmpfs(run, 'disk', DISK_MEGABYTES)
    // By default more has to be free than the disk has.
    const environment = { WAYLEAVE_MIN_FREE_BYTES: String(1 << 20) }
    const installation = new Installation(run, { dataDir: join(disk, 'data'), environment })
    await installation.startNode()
    const world = await openWorld(installation)
    world.maxRows = 300
    // A job that runs out of space may fail, if it reports it and leaves nothing behind.
    world.mayJobsFail = true
    await prepare(world)
    while (run.nextRound()) {
      const filler = join(disk, 'filler')
      fillDisk(filler)
      await expectReads(world)
      await expectRefusedWrites(world)
      await expectReads(world)
      rmSync(filler)
      await expectRecovery(world)
      // Half of the rounds also kill the server, to check that nothing on the disk is corrupt.
      if (!run.short && run.random.chance(0.5)) {
        await installation.killAll()
        await restart(world, 1)
      }
      await settle(world)
      expectSoundDatabase(world)
      await checkInvariants(world, 'complete')
    }
  },
}

function fillDisk(path: string): void {
  const file = openSync(path, 'a')
  try {
    // Small writes fill the last blocks.
    for (const size of [1 << 20, 4096, 1]) {
      const block = Buffer.alloc(size)
      try {
        for (;;) writeSync(file, block)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
    }
  } finally {
    closeSync(file)
  }
}

/** Keys, metadata, features and samples need no disk space. */
async function expectReads(world: World): Promise<void> {
  const { run, promises } = world
  const key = promises.platformKey
  for (const { table, versions } of promises.tables) {
    if (versions.length === 0) continue
    const paths = [
      '/v1/datasets',
      `/v1/dataset/${table}/sample/json`,
      `/v1/ogc/collections/${table}/items?limit=50`,
      `/v1/dataset/${table}/files/geojson`,
    ]
    for (const path of paths) {
      const { status } = await world.send('GET', path, { key })
      run.expect(status === 200, 'reads go on while the disk is full', `${status} for ${path}`)
    }
  }
  for (const { secret, id, name } of workingKeys(promises).slice(0, 3)) {
    const { status } = await world.sendWithKey(id, secret, '/v1/datasets')
    run.expect(status === 200, `key ${name} works while the disk is full`, `${status}`)
  }
}

/** A write succeeds, or is refused with 503 `disk-full`; at some point it must be refused. */
async function expectRefusedWrites(world: World): Promise<void> {
  const { run, promises } = world
  const [account] = promises.accounts
  let hasRefusal = false
  for (let i = 0; i < MAX_WRITES && !hasRefusal; i++) {
    const grant = { amount: 100_000 + nextNumber(promises), pending: true }
    account!.grants.push(grant)
    const response = await world.send('POST', `/v1/admin/organizations/${account!.organizationId}/credits`, {
      token: promises.administrator.accessToken,
      body: { add: grant.amount },
    })
    grant.pending = outcomeOf(response) !== 'acknowledged'
    hasRefusal = response.status !== 200
    const code = response.body?.code
    const isTold = !hasRefusal || (response.status === 503 && code === 'disk-full')
    run.expect(isTold, 'a write on a full disk gets 503 disk-full', `${response.status} ${code}`)
  }
  run.expect(hasRefusal, 'the drill reaches a full disk', `${MAX_WRITES} writes succeeded`)
  await createKey(world)
  await revokeKey(world)
  await download(world)
  await publishByCommand(world)
  await publishByUpload(world)
}

async function expectRecovery(world: World): Promise<void> {
  const { run, promises } = world
  const token = promises.accounts[0]!.accessToken
  const writes = async () => {
    const name = `after-full-disk-${nextNumber(promises)}`
    const { status } = await world.send('POST', '/v1/api-keys/personal', {
      token,
      body: { name, permissions: ['read'] },
    })
    return status === 201
  }
  const promised = `writes succeed within ${RECOVERED_WITHIN_MS / 1000} s of the disk being freed, without a restart`
  run.expect(await waitUntil(writes, RECOVERED_WITHIN_MS, 500), promised, 'they do not')
}

function expectSoundDatabase(world: World): void {
  const database = new DatabaseSync(join(world.installation.dataDir, 'wayleave.db'), { readOnly: true })
  const [row] = database.prepare('pragma integrity_check').all() as { integrity_check: string }[]
  database.close()
  world.run.expect(
    row?.integrity_check === 'ok',
    'a full disk damages no database',
    `${row?.integrity_check}`,
  )
}
