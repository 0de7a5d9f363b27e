import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { SNAPSHOT_FILES } from '@wayleave/geodata/snapshot'
import { DAY, plus } from '../../base/clock.ts'
import { operator } from '../../base/events/events.ts'
import { openAccount } from '../../testing/account.ts'
import { emptyPlace, newPlace, serverAt } from '../../testing/backup-place.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { points, publishText } from '../../testing/publish.ts'
import { databaseKinds } from '../../testing/test-server.ts'
import { readVersions } from '../catalog/store.ts'
import { Retention } from './retention.ts'

for (const kind of databaseKinds) {
  test(`${kind}: what is older than the settings say is deleted, all else and the ledger are kept`, async (t) => {
    const place = await newPlace(t, kind)
    const service = await serverAt(t, place)
    const { parts } = service
    const { db } = parts.database
    const ada = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 40 })
    await publishText(service, 'places', 'places.geojson', points(30))
    await publishText(service, 'places', 'places.geojson', points(31))
    assert.equal((await service.request('GET', '/v1/dataset/places/files/csv', { key: ada.key })).status, 200)
    const revoked = await parts.keys.createPlatform(operator, { name: 'old', permissions: ['read'] })
    await parts.keys.revoke({ reach: 'any', origin: operator }, revoked.id)
    await parts.meter.flush()

    const days = { keepEventDays: 10, keepUsageDays: 400, keepDeadKeyDays: 20, keepRevocationDays: 30 }
    const config = { dataDir: place.dataDir, ...days, keepExportDays: 5, keepMailDays: 3 }
    const after = (passed: number) =>
      new Retention({ db, config, blobs: parts.blobs, clock: () => plus(new Date(), passed * DAY) })
    const count = async (table: 'events' | 'usage' | 'api_keys' | 'revoked_secrets' | 'ledger') =>
      (await db.selectFrom(table).selectAll().execute()).length
    // A notice may be mailed meanwhile.
    const mails = readdirSync(join(place.dataDir, 'outbox'))
    const counts = async () => [
      await count('events'),
      await count('usage'),
      await count('api_keys'),
      await count('revoked_secrets'),
      await count('ledger'),
      files(place.dataDir).length,
      mails.filter((name) => existsSync(join(place.dataDir, 'outbox', name))).length,
    ]
    const before = await counts()
    assert.ok(
      before.every((number) => number > 0),
      String(before),
    )

    // Nothing is old yet.
    await after(2).apply()
    assert.deepEqual(await counts(), before)
    // A dry run counts and deletes nothing.
    const planned = await after(1000).apply({ dryRun: true })
    assert.deepEqual(await counts(), before)
    const [events, usage, keys, revocations, ledger] = before as [number, number, number, number, number]
    assert.deepEqual(
      planned.slice(0, 4).map(({ removed }) => removed),
      [events, usage, 1, revocations],
    )
    await after(4).apply()
    assert.deepEqual((await counts()).slice(5), [before[5], 0])
    await after(7).apply()
    assert.deepEqual((await counts()).slice(5), [0, 0])
    await after(11).apply()
    assert.deepEqual((await counts()).slice(0, 5), [0, usage, keys, revocations, ledger])
    await after(25).apply()
    assert.deepEqual((await counts()).slice(0, 5), [0, usage, keys - 1, revocations, ledger])
    await after(35).apply()
    assert.deepEqual((await counts()).slice(0, 5), [0, usage, keys - 1, 0, ledger])
    await after(500).apply()
    assert.deepEqual((await counts()).slice(0, 5), [0, 0, keys - 1, 0, ledger])
    // The export is rebuilt; the valid key still works.
    assert.equal((await service.request('GET', '/v1/dataset/places/files/csv', { key: ada.key })).status, 200)
    assert.ok(files(place.dataDir).length > 0)
  })

  test(`${kind}: many rows are deleted in steps, and no more than asked for`, async (t) => {
    const place = await newPlace(t, kind)
    // The server itself deletes nothing: its first round would otherwise take some of the rows.
    const service = await serverAt(t, place, { keepEventDays: null, keepUsageDays: null })
    const { db } = service.parts.database
    const rows = Array.from({ length: 2500 }, (_, index) => index)
    const old = { actor: 'x', action: 'x', subject: 'x', detail: '{}', at: '2001-01-01T00:00:00.000Z' }
    for (let from = 0; from < rows.length; from += 500) {
      const part = rows.slice(from, from + 500)
      await db
        .insertInto('events')
        .values(part.map(() => old))
        .execute()
      const usage = { date: '2001-01-01', operation: 'x', table_name: 'x', format: 'x', calls: 1, credits: 0 }
      await db
        .insertInto('usage')
        .values(part.map((index) => ({ key_id: `key_${index}`, ...usage })))
        .execute()
    }
    const config = { ...service.config, keepEventDays: 100, keepUsageDays: 500 }
    const retention = new Retention({ db, config, blobs: service.parts.blobs, clock: () => new Date() })
    const [events, usage] = await retention.apply({ maxSteps: 2 })
    assert.deepEqual([events!.removed, usage!.removed], [2000, 2000])
    const [moreEvents, moreUsage] = await retention.apply()
    assert.deepEqual([moreEvents!.removed, moreUsage!.removed], [500, 500])
  })
}

test('wayleave prune removes versions beyond the setting and says what it did', async (t) => {
  const place = await emptyPlace(t, 'sqlite')
  const service = await serverAt(t, place)
  for (let round = 1; round <= 3; round++) await publishText(service, 'places', 'a.geojson', points(round))
  const outbox = join(place.dataDir, 'outbox')
  mkdirSync(outbox, { recursive: true })
  writeFileSync(join(outbox, 'old.eml'), 'x')
  utimesSync(join(outbox, 'old.eml'), 0, 0)
  writeFileSync(
    join(place.dataDir, 'wayleave.json'),
    JSON.stringify({ keepVersions: 1, keepEventDays: 'forever' }),
  )
  const removed = async (...args: string[]) => {
    const { json, code, stderr } = await runCommand(place, 'prune', '--json', ...args)
    assert.equal(code, 0, stderr)
    const data = json.data as { what: string; removed: number; days: number | null }[]
    assert.equal(data.find(({ what }) => what === 'events')!.days, null)
    return Object.fromEntries(data.map((row) => [row.what, row.removed]))
  }
  const dry = await removed('--dry-run')
  assert.deepEqual([dry['versions'], dry['mails in the outbox']], [2, 1])
  assert.equal(existsSync(join(outbox, 'old.eml')), true)
  const done = await removed()
  assert.deepEqual([done['versions'], done['mails in the outbox']], [2, 1])
  assert.equal(existsSync(join(outbox, 'old.eml')), false)
  // The running server shows the change at once.
  const { body } = await service.request('GET', '/v1/dataset/places/archives')
  assert.equal(body.data.length, 1)
})

/** All finished exports. */
function files(dataDir: string): string[] {
  const snapshots = join(dataDir, 'snapshots')
  return readdirSync(snapshots).flatMap((name) => {
    const folder = join(snapshots, name, 'exports')
    return existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.csv')) : []
  })
}

test('wayleave prune keeps the newest version that is not damaged, which is the one that is served', async (t) => {
  const place = await emptyPlace(t, 'sqlite')
  const service = await serverAt(t, place)
  for (let round = 1; round <= 3; round++) await publishText(service, 'places', 'a.geojson', points(round))
  const { snapshot } = (await readVersions(service.parts.database.db, 'places'))[0]!
  truncateSync(join(place.dataDir, 'snapshots', snapshot, SNAPSHOT_FILES.pack), 10)
  writeFileSync(join(place.dataDir, 'wayleave.json'), JSON.stringify({ keepVersions: 1 }))
  for (const args of [['--dry-run'], []]) {
    const { json, code, stderr } = await runCommand(place, 'prune', '--json', ...args)
    assert.equal(code, 0, stderr)
    const data = json.data as { what: string; removed: number }[]
    assert.equal(data.find(({ what }) => what === 'versions')!.removed, 1)
  }
  const left = await readVersions(service.parts.database.db, 'places')
  assert.deepEqual(
    left.map(({ version }) => version),
    [3, 2],
  )
})
