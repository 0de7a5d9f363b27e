import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { openAccount } from '../../testing/account.ts'
import { emptyPlace, newPlace, serverAt } from '../../testing/backup-place.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { points, publishText } from '../../testing/publish.ts'
import { databaseKinds } from '../../testing/test-server.ts'
import type { Finding } from './finding.ts'
import { verifyDatabase } from './verify-database.ts'
import { verifySnapshots } from './verify-snapshots.ts'

test('a version from a SpatiaLite file of an earlier program is a warning, and no problem', async (t) => {
  const place = await emptyPlace(t, 'sqlite')
  const service = await serverAt(t, place)
  const { db } = service.parts.database
  for (const table of ['new', 'old']) await publishText(service, table, 'a.geojson', points(3))
  const setSource = (table: string, source: string) =>
    sql`update versions set manifest = json_patch(manifest, ${source}) where table_name = ${table}`.execute(
      db,
    )
  await setSource('new', '{"source":{"format":"spatialite"}}')
  await setSource('old', '{"source":{"format":"spatialite","reader":null}}')
  const { code, json } = await runCommand(place, 'verify', '--json')
  assert.deepEqual([code, json.ok], [0, true], 'a cron job that verifies does not fail')
  const findings = json.findings as Finding[]
  assert.deepEqual(
    findings.map(({ severity, check, subject }) => [severity, check, subject]),
    [['warning', 'source', 'old']],
  )
  assert.match(findings[0]!.message, /^Version 1 of old \(a\.geojson\) was published from a SpatiaLite file/)
})

for (const kind of databaseKinds) {
  test(`${kind}: every contradiction in what is stored is found, and nothing else`, async (t) => {
    const place = await newPlace(t, kind)
    const service = await serverAt(t, place, { newOrganizationCredits: 25 })
    const { database } = service.parts
    const { db } = database
    const ada = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 40 })
    for (const table of ['lost', 'damaged', 'changed']) {
      await publishText(service, table, 'a.geojson', points(30))
    }
    await service.request('GET', '/v1/dataset/lost/files/csv', { key: ada.key })
    const snapshots = join(place.dataDir, 'snapshots')
    const look = async (): Promise<Finding[]> => [
      ...(await verifyDatabase(database)),
      ...(await verifySnapshots(db, snapshots)).findings,
    ]
    assert.deepEqual(await look(), [])
    const whole = await runCommand(place, 'verify', '--json')
    assert.deepEqual([whole.code, whole.json.ok, whole.json.snapshots], [0, true, 3])

    const { id: ledgerId } = await db
      .selectFrom('ledger')
      .select('id')
      .orderBy('id')
      .executeTakeFirstOrThrow()
    const damages: [how: string, damage: () => unknown, repair: () => unknown, finding: [string, RegExp]][] =
      [
        [
          'a balance',
          () => sql`update organizations set credits = credits + 1`.execute(db),
          () => sql`update organizations set credits = credits - 1`.execute(db),
          ['ledger', /has 40 credits, and its ledger adds up to 39/],
        ],
        [
          'a row of the ledger',
          () => sql`update ledger set balance = balance + 1 where id = ${ledgerId}`.execute(db),
          () => sql`update ledger set balance = balance - 1 where id = ${ledgerId}`.execute(db),
          ['ledger', /do not continue/],
        ],
        [
          'a current version',
          () => sql`update datasets set current_version = 9 where table_name = 'changed'`.execute(db),
          () => sql`update datasets set current_version = 1 where table_name = 'changed'`.execute(db),
          ['catalog', /current version 9 does not exist/],
        ],
        [
          'a version number',
          () => sql`update version_numbers set last_version = 0 where table_name = 'changed'`.execute(db),
          () => sql`update version_numbers set last_version = 1 where table_name = 'changed'`.execute(db),
          ['catalog', /Version 1 is above the last number/],
        ],
        [
          'an orphan',
          () => mkdirSync(join(snapshots, 'orphan_abcdefghijkl')),
          () => rmSync(join(snapshots, 'orphan_abcdefghijkl'), { recursive: true }),
          ['snapshot', /No version names this snapshot/],
        ],
      ]
    for (const [how, damage, repair, [check, message]] of damages) {
      await damage()
      const findings = await look()
      assert.ok(
        findings.some((finding) => finding.check === check && message.test(finding.message)),
        how,
      )
      assert.ok(findings.every(({ remedy }) => remedy.length > 0))
      await repair()
      assert.deepEqual(await look(), [], how)
    }

    for (const name of readdirSync(snapshots)) {
      if (name.startsWith('lost')) renameSync(join(snapshots, name), join(place.dataDir, name))
      if (name.startsWith('damaged')) {
        const pack = join(snapshots, name, 'features.pack')
        const { readFileSync } = await import('node:fs')
        const bytes = readFileSync(pack)
        bytes[100]! ^= 1
        writeFileSync(pack, bytes)
      }
    }
    const broken = await runCommand(place, 'verify', '--json')
    assert.deepEqual([broken.code, broken.json.ok, broken.json.findings.length], [1, false, 2])
    const text = JSON.stringify(broken.json.findings)
    assert.match(text, /Version 1 of lost: .*missing/)
    assert.match(text, /Version 1 of damaged: [^"]*features\.pack/)
  })
}
