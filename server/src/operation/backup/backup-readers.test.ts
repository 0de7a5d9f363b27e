import assert from 'node:assert/strict'
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { lacks, needs } from '../../../../scripts/test-run/needs.ts'
import { systemClock } from '../../base/clock.ts'
import {
  backUp,
  emptyBackupTarget,
  emptyPlace,
  type Place,
  restore,
  serverAt,
} from '../../testing/backup-place.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { points, publishText } from '../../testing/publish.ts'
import { temporaryFolder } from '../../testing/test-server.ts'
import { findBackup } from './find-backup.ts'
import { restoreBackup } from './restore/restore-backup.ts'
import { BackupFolder } from './target/backup-folder.ts'
import type { BackupTarget } from './target/backup-target.ts'
import { verifyBackup } from './verify-backup.ts'

needs('time')

const hidden = (folder: string) => readdirSync(folder).filter((name) => name.startsWith('.'))

test('a backup leaves the scratch folder of a verification that runs beside it', async (t) => {
  const place = await emptyPlace(t, 'sqlite')
  const target = join(temporaryFolder(t), 'backup')
  await (await serverAt(t, place)).stop()
  await backUp(place, target)
  const folder = new BackupFolder(target)
  await folder.withScratch(async (scratch) => {
    writeFileSync(join(scratch, 'file'), '')
    await backUp(place, target, 1)
    assert.ok(existsSync(join(scratch, 'file')))
    // Two verifications of one process do not share a folder either.
    await folder.withScratch(async (other) => assert.notEqual(other, scratch))
  })
  assert.deepEqual(hidden(folder.backups), [])
})

for (const kind of ['folder', 'bucket'] as const) {
  const skip = kind === 'bucket' && lacks('s3')
  test(`${kind}: a backup that is being restored is not pruned until that has ended`, { skip }, async (t) => {
    const place = await emptyPlace(t, 'sqlite')
    const target = await emptyBackupTarget(t, kind, place)
    const service = await serverAt(t, place, { keepVersions: 1 })
    await publishText(service, 'places', 'a.geojson', points(20))
    const first = await backUp(place, target)
    await publishText(service, 'places', 'a.geojson', points(30))
    const { generation, record } = await findBackup(target, { name: first.backup })
    await target.withTables(generation, record, async () => {
      assert.deepEqual((await backUp(place, target, 1)).removed, [])
      const { backup, findings } = await verifyBackup(target, { name: first.backup })
      assert.deepEqual([backup, findings], [first.backup, []], 'its snapshots are kept too')
    })
    const { removed } = await backUp(place, target, 1)
    assert.equal(removed[0], first.backup)
    assert.equal((await target.generations()).length, 1)
    if (target instanceof BackupFolder) assert.deepEqual(hidden(target.backups), [])
  })
}

/** Begins to restore a backup, and calls `meanwhile` before its snapshots are copied. */
function restoreWith(config: Place, source: BackupTarget, at: Date | null, meanwhile: () => void) {
  const options = { force: false, revocationFiles: [], suspendKeys: false, clock: systemClock }
  return restoreBackup({
    ...options,
    config,
    source,
    at,
    onProgress: ({ phase }) => {
      if (phase === 'snapshots') meanwhile()
    },
  })
}

test('an interrupted restore with --at continues with that backup, as the advice says', async (t) => {
  const place = await emptyPlace(t, 'sqlite')
  const target = new BackupFolder(join(temporaryFolder(t), 'backup'))
  const service = await serverAt(t, place)
  await publishText(service, 'places', 'a.geojson', points(20))
  const first = await backUp(place, target)
  await backUp(place, target)
  await service.stop()
  const interrupted = async (copy: Place) => {
    const restoring = restoreWith(copy, target, new Date(first.at), () => {
      throw new Error('interrupted')
    })
    await assert.rejects(restoring, /interrupted/)
    // As if the first snapshot had been copied.
    writeFileSync(join(copy.dataDir, 'snapshots', 'file'), '')
  }
  const copy = await emptyPlace(t, 'sqlite')
  await interrupted(copy)
  const advice = `wayleave restore ${target.location} --at ${first.at} --data-dir ${copy.dataDir}`
  await assert.rejects(serverAt(t, copy), (error: Error) => error.message.endsWith(`Run it again: ${advice}`))
  const other = await runCommand(copy, 'restore', target.location, '--at', new Date().toISOString(), '--json')
  assert.equal(other.code, 1)
  assert.ok(other.json.error.includes(`to continue it, run: ${advice}\n`), other.json.error)
  assert.equal((await restore(copy, target)).backup, first.backup)

  const second = await emptyPlace(t, 'sqlite')
  await interrupted(second)
  const [, ...args] = advice.replace(copy.dataDir, second.dataDir).split(' ')
  const again = await runCommand(second, ...args, '--json')
  assert.equal(again.json.backup, first.backup, again.stderr)
})

test('a restore whose backup is removed meanwhile says so, and what to do works', async (t) => {
  const place = await emptyPlace(t, 'sqlite')
  const target = new BackupFolder(join(temporaryFolder(t), 'backup'))
  const service = await serverAt(t, place)
  await publishText(service, 'places', 'a.geojson', points(20))
  const first = await backUp(place, target)
  const copy = await emptyPlace(t, 'sqlite')
  const restoring = restoreWith(copy, target, null, () => rmSync(first.folder, { recursive: true }))
  await assert.rejects(restoring, (error: Error) => {
    assert.match(
      error.message,
      new RegExp(`The backup ${first.backup} was removed from .* while it was read`),
    )
    return true
  })
  const last = await backUp(place, target)
  const refused = await runCommand(copy, 'restore', target.location, '--json')
  assert.match(refused.json.error, /did not finish, and that backup is no longer in .* add --force/)
  const forced = await runCommand(copy, 'restore', target.location, '--force', '--json')
  assert.equal(forced.code, 0, forced.stderr)
  assert.equal(forced.json.backup, last.backup)

  const found = new BackupFolder(target.root)
  const verifying = verifyBackup(found, null, () => rmSync(last.folder, { recursive: true, force: true }))
  await assert.rejects(verifying, /was removed from .* while it was read/)
})

test('a backup of a file that is not a database names the file', async (t) => {
  const dataDir = temporaryFolder(t)
  const file = join(dataDir, 'wayleave.db')
  writeFileSync(file, 'not a database'.repeat(1000))
  await assert.rejects(backUp({ dataDir, databaseUrl: null }, join(temporaryFolder(t), 'backup')), {
    message: `SQLite cannot use ${file}: file is not a database`,
  })
})
