import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { systemClock } from '../../base/clock.ts'
import { emptyPlace, type Place, serverAt } from '../../testing/backup-place.ts'
import { cleanUp } from '../../testing/cleanup.ts'
import { points, publishText } from '../../testing/publish.ts'
import { temporaryFolder } from '../../testing/test-server.ts'
import { makeBackup } from './make-backup.ts'
import { BackupFolder } from './target/backup-folder.ts'
import { verifyBackup } from './verify-backup.ts'

needs('postgres')

async function publishedPlace(t: TestContext): Promise<Place> {
  const place = await emptyPlace(t, 'sqlite')
  const service = await serverAt(t, place)
  for (const table of ['places', 'shops']) await publishText(service, table, 'a.geojson', points(20))
  await service.stop()
  return place
}

/** Removes a dataset as another process would: first from the catalog, then its files. */
function unpublish({ dataDir }: Place, table: string): void {
  const database = new DatabaseSync(join(dataDir, 'wayleave.db'))
  database.exec(`pragma foreign_keys = on; delete from datasets where table_name = '${table}'`)
  database.close()
  for (const name of readdirSync(join(dataDir, 'snapshots'))) {
    if (name.startsWith(table)) rmSync(join(dataDir, 'snapshots', name), { recursive: true })
  }
}

/** Makes a backup, and calls `meanwhile` between copying the database and copying the snapshots. */
async function backUpWith(t: TestContext, place: Place, meanwhile: () => void) {
  const target = join(temporaryFolder(t), 'backup')
  let isDone = false
  const onProgress = () => {
    if (!isDone) meanwhile()
    isDone = true
  }
  const report = await makeBackup({ config: place, target, clock: systemClock, keep: null, onProgress })
  const { findings } = await verifyBackup(new BackupFolder(target), null)
  return { report, findings, backups: readdirSync(join(target, 'backups')) }
}

test('a dataset that is removed while its snapshot waits to be copied is in the backup all the same', async (t) => {
  const place = await publishedPlace(t)
  const { report, findings } = await backUpWith(t, place, () => unpublish(place, 'shops'))
  assert.deepEqual([report.snapshots, report.missing, findings], [2, [], []])
  assert.deepEqual(readdirSync(join(place.dataDir, 'backup-pins')), [])
})

test('without hard links, a removed snapshot makes the backup read the catalog again', async (t) => {
  const place = await publishedPlace(t)
  const snapshots = join(place.dataDir, 'snapshots')
  const elsewhere = mkdtempSync('/dev/shm/wayleave-test-')
  cleanUp(t, () => rmSync(elsewhere, { recursive: true, force: true }))
  if (statSync(elsewhere).dev === statSync(place.dataDir).dev) return t.skip('needs two file systems')
  renameAcross(snapshots, elsewhere)
  const { report, findings, backups } = await backUpWith(t, place, () => unpublish(place, 'shops'))
  assert.deepEqual([report.snapshots, report.missing, findings], [1, [], []])
  assert.equal(backups.length, 1)
})

/** Moves a folder to another file system and leaves a symbolic link to it. */
function renameAcross(folder: string, elsewhere: string): void {
  cpSync(folder, elsewhere, { recursive: true })
  renameSync(folder, `${folder}-before`)
  symlinkSync(elsewhere, folder)
}
