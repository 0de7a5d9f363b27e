import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { backUp, emptyPlace, restore, serverAt } from '../../testing/backup-place.ts'
import { cleanUp } from '../../testing/cleanup.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { points, publishText } from '../../testing/publish.ts'
import { temporaryFolder } from '../../testing/test-server.ts'

needs('time')

const skip = !canMount() && 'needs the right to mount a small disk'

/** Tried out, because root has not got the right in every container. */
function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-mount-'))
  try {
    mount(folder, 1)
    unmount(folder)
    return true
  } catch {
    return false
  } finally {
    rmdirSync(folder)
  }
}

function mount(folder: string, megabytes: number): void {
  const args = ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'tmpfs', folder]
  execFileSync('mount', args, { stdio: 'ignore' })
}

function unmount(folder: string): void {
  execFileSync('umount', ['--lazy', folder], { stdio: 'ignore' })
}

function smallDisk(t: TestContext, megabytes: number): string {
  const folder = join(temporaryFolder(t), 'disk')
  mkdirSync(folder)
  mount(folder, megabytes)
  cleanUp(t, () => unmount(folder))
  return folder
}

/** Leaves so many bytes of the disk. */
function fillUpTo(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(folder)
  writeFileSync(join(folder, 'ballast'), Buffer.alloc(bavail * bsize - bytes))
}

test('a backup and a restore on a full disk name the folder, and the next try succeeds', {
  skip,
}, async (t) => {
  const place = await emptyPlace(t, 'sqlite')
  const service = await serverAt(t, place)
  const text = JSON.parse(points(2000))
  for (const { properties } of text.features) properties.noise = randomBytes(150).toString('base64')
  await publishText(service, 'places', 'a.geojson', JSON.stringify(text))
  const disk = smallDisk(t, 8)
  const target = join(disk, 'backup')
  const backup = () => runCommand(place, 'backup', target, '--json')
  // Not enough for the tables, then not enough for the snapshot.
  for (const bytes of [40_960, 300_000]) {
    fillUpTo(disk, bytes)
    const { code, json } = await backup()
    assert.deepEqual([code, json.error], [1, `No space is left on the disk of ${target}.`])
    assert.deepEqual(readdirSync(join(target, 'backups')), [], 'what was written is removed')
    rmSync(join(disk, 'ballast'))
  }
  assert.equal((await backup()).code, 0)
  await service.stop()

  const elsewhere = join(temporaryFolder(t), 'backup')
  await backUp(place, elsewhere)
  const dataDir = join(smallDisk(t, 8), 'data')
  mkdirSync(dataDir)
  fillUpTo(join(dataDir, '..'), 300_000)
  const copy = { dataDir, databaseUrl: null }
  await assert.rejects(restore(copy, elsewhere), { message: `No space is left on the disk of ${dataDir}.` })
  rmSync(join(dataDir, '..', 'ballast'))
  assert.equal((await restore(copy, elsewhere)).snapshots, 1)
})
