import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { operator } from '../../base/events/events.ts'
import { openAccount } from '../../testing/account.ts'
import { backUp, emptyPlace, newPlace, restore, serverAt } from '../../testing/backup-place.ts'
import { points, publishText } from '../../testing/publish.ts'
import { databaseKinds, temporaryFolder } from '../../testing/test-server.ts'
import { BackupFolder } from './target/backup-folder.ts'
import { verifyBackup } from './verify-backup.ts'

needs('time')

for (const kind of databaseKinds) {
  test(`${kind}: backups that run while versions come and go and credits are spent are each whole`, async (t) => {
    const place = await newPlace(t, kind)
    const target = join(temporaryFolder(t), 'backup')
    // Each publish removes the previous version.
    const service = await serverAt(t, place, { keepVersions: 1 })
    const { publishing, ledger } = service.parts
    const ada = await openAccount(service, 'ada@example.org', {
      addOns: ['API_ACCESS', 'GIS_ACCESS'],
      credits: 5000,
    })
    await publishText(service, 'places', 'places.geojson', points(200))

    const stop = new AbortController()
    const busy = async (work: (round: number) => Promise<unknown>) => {
      for (let round = 1; !stop.signal.aborted; round++) {
        await work(round)
        // Without a pause, this traffic would leave the backups little of the processor.
        await sleep(100)
      }
    }
    const traffic = [
      busy((round) => publishText(service, 'places', 'places.geojson', points(200 + round))),
      busy(async (round) => {
        await publishText(service, 'shops', 'shops.geojson', points(50 + round))
        await publishing.unpublish('shops', operator)
      }),
      busy((round) => ledger.setCredits(operator, ada.organizationId, 5000 + (round % 7))),
      busy(() => service.request('GET', '/v1/ogc/collections/places/items?limit=5', { key: ada.key })),
    ]
    const seen = new Set<string>()
    const rounds = 2
    for (let round = 0; round < rounds; round++) {
      const report = await backUp(place, target)
      assert.deepEqual(report.missing, [])
      seen.add(report.backup)
    }
    stop.abort()
    await Promise.all(traffic)
    assert.equal(seen.size, rounds)

    const folder = new BackupFolder(target)
    for (const generation of await folder.generations()) {
      const { at } = await folder.read(generation)
      const { findings, backup } = await verifyBackup(folder, new Date(at))
      assert.deepEqual([backup, findings], [generation.name, []])
    }
    await service.stop()

    const copy = await emptyPlace(t, kind)
    await restore(copy, target)
    const restored = await serverAt(t, copy)
    const page = await restored.request('GET', '/v1/ogc/collections/places/items?limit=5', { key: ada.key })
    assert.equal(page.status, 200, page.text)
    assert.equal(page.body.features.length, 5)
  })
}

test('old backups are removed with the snapshots that only they name', async (t) => {
  const place = await emptyPlace(t, 'sqlite')
  const target = join(temporaryFolder(t), 'backup')
  const service = await serverAt(t, place, { keepVersions: 1 })
  for (let round = 1; round <= 3; round++) {
    await publishText(service, 'places', 'places.geojson', points(round))
    await backUp(place, target)
  }
  const folder = new BackupFolder(target)
  const names = async () => (await folder.generations()).map(({ name }) => name)
  assert.equal((await names()).length, 3)
  const { removed, backup } = await backUp(place, target, 2)
  assert.equal(removed.length, 2)
  assert.equal((await names()).at(-1), backup)
  const { findings } = await verifyBackup(folder, null)
  assert.deepEqual(findings, [])
  const { readdirSync } = await import('node:fs')
  assert.equal(readdirSync(folder.snapshots).length, 1)
})

test('a version whose files are lost or damaged is reported, and all others are backed up', async (t) => {
  const { readdirSync, rmSync, writeFileSync } = await import('node:fs')
  const place = await emptyPlace(t, 'sqlite')
  const target = join(temporaryFolder(t), 'backup')
  const service = await serverAt(t, place)
  for (const table of ['lost', 'damaged', 'whole']) {
    await publishText(service, table, `${table}.geojson`, points(20))
  }
  const snapshots = join(place.dataDir, 'snapshots')
  for (const name of readdirSync(snapshots)) {
    if (name.startsWith('lost')) rmSync(join(snapshots, name), { recursive: true })
    if (name.startsWith('damaged')) writeFileSync(join(snapshots, name, 'features.pack'), 'x')
  }
  const { missing, snapshots: copied } = await backUp(place, target)
  assert.equal(copied, 1)
  assert.deepEqual(missing.map(({ table }) => table).sort(), ['damaged', 'lost'])
  assert.match(missing.find(({ table }) => table === 'damaged')!.reason, /features\.pack/)
})
