import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { lacks, needs } from '../../../../scripts/test-run/needs.ts'
import { type Clock, DAY, systemClock } from '../../base/clock.ts'
import { emptyBackupTarget, emptyPlace, restore, serverAt } from '../../testing/backup-place.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { points, publishText } from '../../testing/publish.ts'
import { temporaryFolder } from '../../testing/test-server.ts'
import { findBackup } from './find-backup.ts'
import { makeBackup } from './make-backup.ts'
import { BackupFolder } from './target/backup-folder.ts'
import { verifyBackup } from './verify-backup.ts'

needs('time')

const ahead: Clock = () => new Date(Date.now() + DAY)

for (const kind of ['folder', 'bucket'] as const) {
  const skip = kind === 'bucket' && lacks('s3')
  test(`${kind}: after a backup with a clock that was ahead, the next one is kept, verified and restored`, {
    skip,
  }, async (t) => {
    const place = await emptyPlace(t, 'sqlite')
    const target = await emptyBackupTarget(t, kind, place)
    const service = await serverAt(t, place)
    await publishText(service, 'before', 'a.geojson', points(3))
    const names = async () => (await target.generations()).map(({ name }) => name)
    const future = await makeBackup({ config: place, target, clock: ahead, keep: null })
    assert.equal(future.after, null)
    await publishText(service, 'after', 'a.geojson', points(3))
    const now = await makeBackup({ config: place, target, clock: systemClock, keep: 30 })
    await service.stop()
    assert.deepEqual(await names(), [future.backup, now.backup], 'the later backup is the newest')
    assert.equal(now.after, future.backup)
    assert.ok(now.at < future.at, 'the record has the time of the clock')

    // --at finds the backup by its own time, and one from the future by its name.
    const foundNow = await findBackup(target, new Date())
    assert.equal(foundNow.generation.name, now.backup)
    const foundFuture = await findBackup(target, new Date(future.at))
    assert.equal(foundFuture.generation.name, future.backup)
    await assert.rejects(findBackup(target, new Date(Date.now() - DAY)), /The oldest backup/)

    const copy = await emptyPlace(t, 'sqlite')
    const report = await restore(copy, target)
    assert.deepEqual([report.backup, report.snapshots, report.revocationsUntil], [now.backup, 2, now.at])

    const last = await makeBackup({ config: place, target, clock: systemClock, keep: 1 })
    assert.deepEqual(last.removed, [future.backup, now.backup])
    assert.deepEqual(await names(), [last.backup])
    const { backup, findings } = await verifyBackup(target, { name: last.backup })
    assert.deepEqual([backup, findings], [last.backup, []])
  })
}

test('a copy of a backup with a name of its own is neither the newest nor removed', async (t) => {
  const { cpSync } = await import('node:fs')
  const place = await emptyPlace(t, 'sqlite')
  const target = join(temporaryFolder(t), 'backup')
  const service = await serverAt(t, place)
  await service.stop()
  const { folder } = await makeBackup({ config: place, target, clock: systemClock, keep: null })
  cpSync(folder, join(target, 'backups', 'kept-by-hand'), { recursive: true })
  const result = await runCommand(place, 'backup', target, '--keep', '1', '--verify', '--json')
  assert.equal(result.code, 0, result.stderr)
  assert.equal(result.json.verified.backup, result.json.backup)
  const names = (await new BackupFolder(target).generations()).map(({ name }) => name)
  assert.deepEqual(names, ['kept-by-hand', result.json.backup])
})

test('the command warns about a backup from the future', async (t) => {
  const place = await emptyPlace(t, 'sqlite')
  const target = join(temporaryFolder(t), 'backup')
  const service = await serverAt(t, place)
  await service.stop()
  const future = await makeBackup({ config: place, target, clock: ahead, keep: null })
  const { stdout, code } = await runCommand(place, 'backup', target, '--keep', '1')
  assert.equal(code, 0)
  assert.match(stdout, new RegExp(`The backup ${future.backup} has a later time than the clock`))
})
