import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { testedProgramArguments } from '../../../../scripts/program/tested-program.ts'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { systemClock } from '../../base/clock.ts'
import { openAccount } from '../../testing/account.ts'
import { backUp, emptyPlace, newPlace, type Place, restore, serverAt } from '../../testing/backup-place.ts'
import { newBucketSettings, openTestBucket } from '../../testing/bucket.ts'
import { cleanUp } from '../../testing/cleanup.ts'
import { points, publishText } from '../../testing/publish.ts'
import { databaseKinds, temporaryFolder } from '../../testing/test-server.ts'
import { makeBackup } from './make-backup.ts'
import { BackupFolder } from './target/backup-folder.ts'
import { openBackupTarget } from './target/open-backup-target.ts'
import { verifyBackup } from './verify-backup.ts'

needs('s3', 'postgres', 'processes')

/** Starts the program and kills it once `isMoment` is true. Returns whether that was before it exited. */
async function killAt(
  place: Place & { environment?: Record<string, string> },
  isMoment: () => boolean | Promise<boolean>,
  ...args: string[]
): Promise<boolean> {
  const environment = { ...process.env, ...place.environment, WAYLEAVE_DATA_DIR: place.dataDir }
  const child = spawn(process.execPath, [...testedProgramArguments(), ...args], {
    env: place.databaseUrl ? { ...environment, WAYLEAVE_DATABASE_URL: place.databaseUrl } : environment,
    stdio: 'ignore',
  })
  const exit = once(child, 'exit')
  let ended = false
  exit.then(() => {
    ended = true
  })
  while (!ended) {
    if (await isMoment()) {
      child.kill('SIGKILL')
      break
    }
    await sleep(1)
  }
  const [, signal] = await exit
  return signal === 'SIGKILL'
}

const names = (folder: string) => (existsSync(folder) ? readdirSync(folder) : [])

for (const kind of databaseKinds) {
  test(`${kind}: a restore that is killed, and a backup on SQLite, leave nothing wrong, and the next try finishes`, async (t) => {
    const place = await newPlace(t, kind)
    const target = join(temporaryFolder(t), 'backup')
    const service = await serverAt(t, place)
    const ada = await openAccount(service, 'ada@example.org', { addOns: ['GIS_ACCESS'], credits: 10 })
    for (const table of ['one', 'two', 'three']) await publishText(service, table, 'a.geojson', points(3000))
    const folder = new BackupFolder(target)

    const backupMoments = [
      () => names(folder.backups).length > 0,
      () => names(folder.snapshots).some((name) => name.startsWith('.partial-')),
      () => names(folder.snapshots).filter((name) => !name.startsWith('.')).length >= 2,
    ]
    let kills = 0
    // What a killed backup leaves is in the target, whatever the database is.
    for (const isMoment of kind === 'sqlite' ? backupMoments : []) {
      if (await killAt(place, isMoment, 'backup', target)) kills++
      // Every folder that counts as a backup is complete.
      if ((await folder.generations()).length > 0) {
        assert.deepEqual((await verifyBackup(folder, null)).findings, [])
      }
    }
    assert.ok(kind === 'postgres' || kills >= 2, `only ${kills} kills came in time`)
    assert.deepEqual((await backUp(place, target)).missing, [])
    assert.deepEqual((await verifyBackup(folder, null)).findings, [])
    assert.equal(names(folder.backups).filter((name) => name.startsWith('.')).length, 0)
    await service.stop()

    const copy = await emptyPlace(t, kind)
    const mark = join(copy.dataDir, 'restore-unfinished.json')
    const snapshots = join(copy.dataDir, 'snapshots')
    const restoreMoments = [
      () => existsSync(mark),
      () => names(snapshots).filter((name) => !name.startsWith('.')).length >= 2,
      () => names(snapshots).filter((name) => !name.startsWith('.')).length >= 3,
      () => existsSync(join(copy.dataDir, 'restoring', 'wayleave.db')),
    ]
    kills = 0
    for (const isMoment of restoreMoments) {
      if (kind === 'postgres' && isMoment === restoreMoments.at(-1)) continue
      if (!(await killAt(copy, isMoment, 'restore', target))) break
      kills++
      if (existsSync(mark)) await assert.rejects(serverAt(t, copy), /did not finish. Run it again/)
    }
    assert.ok(kills >= 2, `only ${kills} kills came in time`)
    if (existsSync(mark)) await restore(copy, target)
    const restored = await serverAt(t, copy)
    for (const table of ['one', 'two', 'three']) {
      const page = await restored.request('GET', `/v1/ogc/collections/${table}/items?limit=3`, {
        key: ada.key,
      })
      assert.equal(page.status, 200, page.text)
    }
  })
}

test('a backup to a bucket that is killed leaves nothing wrong, and the next one finishes', async (t) => {
  const place = await emptyPlace(t, 'sqlite')
  const bucket = newBucketSettings()
  const target = bucket.storageUrl!
  const store = await openTestBucket(t, bucket)
  const service = await serverAt(t, place)
  const ada = await openAccount(service, 'ada@example.org', { addOns: ['GIS_ACCESS'], credits: 10 })
  for (const table of ['one', 'two', 'three']) await publishText(service, table, 'a.geojson', points(3000))
  const keys = async () => (await Array.fromAsync(store.list(''))).map(({ key }) => key)

  const moments = [
    (list: string[]) => list.length > 0,
    (list: string[]) => list.some((key) => key.startsWith('snapshots/')),
    (list: string[]) => list.some((key) => key.startsWith('backups/')),
  ]
  const config = { ...service.config, ...bucket, storageUrl: null }
  const backups = await openBackupTarget(target, config)
  cleanUp(t, () => backups.close())
  const killed = { ...place, environment: { WAYLEAVE_S3_ENDPOINT: bucket.s3Endpoint! } }
  let kills = 0
  for (const isMoment of moments) {
    if (await killAt(killed, async () => isMoment(await keys()), 'backup', target)) kills++
    // On a busy machine the last kill may come after the record was written: then the backup is whole.
    if ((await backups.generations()).length > 0) {
      assert.deepEqual((await verifyBackup(backups, null)).findings, [])
    }
    if (!(await keys()).includes('backup.lock')) continue
    const next = makeBackup({ config, target: backups, clock: systemClock, keep: null })
    await assert.rejects(next, /delete the object backup.lock/)
    await store.delete(['backup.lock'])
  }
  assert.ok(kills >= 2, `only ${kills} kills came in time`)
  const { missing } = await makeBackup({ config, target: backups, clock: systemClock, keep: null })
  assert.deepEqual(missing, [])
  assert.deepEqual((await verifyBackup(backups, null)).findings, [])
  const finished = (await backups.generations()).map(({ name }) => name)
  assert.deepEqual(await store.listFolders('backups/'), finished, 'the unfinished ones are removed')
  await service.stop()

  const copy = await emptyPlace(t, 'sqlite')
  await restore(copy, backups)
  const restored = await serverAt(t, copy)
  const page = await restored.request('GET', '/v1/ogc/collections/three/items?limit=3', { key: ada.key })
  assert.equal(page.status, 200, page.text)
})
