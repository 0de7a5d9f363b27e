import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { openAccount, readAccountLedger } from '../../testing/account.ts'
import { emptyPlace, newPlace, type Place, serverAt } from '../../testing/backup-place.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { points, publishText } from '../../testing/publish.ts'
import { signIn } from '../../testing/sign-in.ts'
import { databaseKinds, type TestServer, temporaryFolder } from '../../testing/test-server.ts'

needs('time')

/** Runs the command, which must succeed, and returns its JSON output. */
async function run(place: Place, ...args: string[]) {
  const result = await runCommand(place, ...args, '--json')
  assert.equal(result.code, 0, `${args.join(' ')}: ${result.stdout}${result.stderr}`)
  return result.json
}

/** What a client can read of a dataset: every byte of a download, of a page and of the sample. */
async function seen(service: TestServer, key: string, table: string) {
  const paths = [
    `/v1/dataset/${table}/archives/1/files/geojson`,
    `/v1/dataset/${table}/files/csv`,
    `/v1/ogc/collections/${table}/items?limit=50`,
    `/v1/dataset/${table}/sample/json`,
  ]
  const texts: string[] = []
  for (const path of paths) {
    const answer = await service.request('GET', path, { key })
    assert.equal(answer.status, 200, `${path}: ${answer.text}`)
    texts.push(answer.text.replaceAll(/127\.0\.0\.1:\d+/g, 'host').replaceAll(/"timeStamp":"[^"]*"/g, ''))
  }
  return texts
}

const ALL = ['API_ACCESS', 'GIS_ACCESS', 'ARCHIVED_DATA'] as const

for (const kind of databaseKinds) {
  test(`${kind}: a restore serves all data with the same bytes, and every account as it was`, async (t) => {
    const place = await newPlace(t, kind)
    const target = join(temporaryFolder(t), 'backup')
    const service = await serverAt(t, place)
    const ada = await openAccount(service, 'ada@example.org', { addOns: [...ALL], credits: 100 })
    await publishText(service, 'places', 'places.geojson', points(300))
    await publishText(service, 'places', 'places.geojson', points(400, 'Later'))
    const before = await seen(service, ada.key, 'places')
    const ledger = await readAccountLedger(service, ada)

    const first = await run(place, 'backup', target)
    assert.deepEqual([first.snapshots, first.copied, first.isWhole], [2, 2, true])
    const second = await run(place, 'backup', target, '--verify')
    assert.deepEqual([second.snapshots, second.copied], [2, 0])
    assert.deepEqual(second.verified.findings, [])
    assert.ok(second.verified.rows > 20)
    await service.stop()

    const restored = await emptyPlace(t, kind)
    const report = await run(restored, 'restore', target)
    assert.deepEqual([report.snapshots, report.missing, report.revokedKeys], [2, [], 0])
    assert.equal(existsSync(join(restored.dataDir, 'restoring')), false)
    const copy = await serverAt(t, restored)
    assert.deepEqual(await seen(copy, ada.key, 'places'), before)
    const again = await signIn(copy, 'ada@example.org')
    assert.deepEqual(await readAccountLedger(copy, again), ledger)
    const { stdout, code } = await runCommand(restored, 'verify')
    assert.equal(code, 0, stdout)
    // Inserts rows with generated ids: a sequence that was not set correctly would repeat the first ones.
    await publishText(copy, 'places', 'places.geojson', points(5))
    await copy.parts.ledger.setCredits(
      { actor: 'operator', address: null, requestId: null },
      again.organizationId,
      5,
    )
    assert.equal((await readAccountLedger(copy, again)).rows.length, ledger.rows.length + 1)
  })

  test(`${kind}: keys that were revoked, rotated or deleted after the backup stay revoked`, async (t) => {
    const place = await newPlace(t, kind)
    const target = join(temporaryFolder(t), 'backup')
    const service = await serverAt(t, place)
    const { parts } = service
    await publishText(service, 'places', 'places.geojson', points(10))
    const actor = { reach: 'any', origin: { actor: 'operator', address: null, requestId: null } } as const
    const names = ['kept', 'revoked', 'rotated', 'deleted', 'late']
    const keys: Record<string, { id: string; secret: string }> = {}
    for (const name of names) {
      keys[name] = await parts.keys.createPlatform(actor.origin, { name, permissions: ['read'] })
    }
    await run(place, 'backup', target)
    await parts.keys.revoke(actor, keys['revoked']!.id)
    await parts.keys.rotate(actor, keys['rotated']!.id)
    await parts.keys.delete(actor, keys['deleted']!.id)
    await run(place, 'backup', target)
    await parts.keys.revoke(actor, keys['late']!.id)
    await service.stop()

    const statuses = async (restored: Place) => {
      const copy = await serverAt(t, restored)
      const result: Record<string, number> = {}
      for (const name of names) {
        const path = '/v1/ogc/collections/places/items?limit=1'
        result[name] = (await copy.request('GET', path, { key: keys[name]!.secret })).status
      }
      await copy.stop()
      return result
    }
    // The first backup does not contain the revocation; the list next to it was updated by the second backup.
    const [oldest] = readdirSync(join(target, 'backups')).sort()
    const at = oldest!.replace(/T(\d\d)-(\d\d)-/, 'T$1:$2:')
    const restored = await emptyPlace(t, kind)
    const report = await run(restored, 'restore', target, '--at', at)
    assert.deepEqual([report.backup, report.revokedKeys, report.hasOwnRevocations], [oldest, 3, false])
    const expected = { kept: 200, revoked: 401, rotated: 401, deleted: 401, late: 200 }
    assert.deepEqual(await statuses(restored), expected)

    // The log in the data folder contains what was revoked after the last backup.
    const withLog = await emptyPlace(t, kind)
    const log = join(place.dataDir, 'revocations.log')
    const logged = await run(withLog, 'restore', target, '--at', at, '--revocations', log)
    assert.ok(logged.revocationsUntil > report.revocationsUntil, 'the newest revocation of the lists')
    assert.deepEqual(await statuses(withLog), { ...expected, late: 401 })

    // So does the old data folder itself, which is moved aside and not deleted.
    const refused = await runCommand(place, 'restore', target, '--json')
    assert.equal(refused.code, 1)
    assert.match(refused.json.error, /is not empty/)
    const forced = await run(place, 'restore', target, '--at', at, '--force')
    assert.deepEqual([forced.revokedKeys, forced.hasOwnRevocations], [4, true])
    assert.deepEqual(await statuses(place), { ...expected, late: 401 })
    assert.equal(readdirSync(join(place.dataDir, forced.movedAside, 'snapshots')).length, 1)

    // Without any list, all keys can be suspended until their owners extend the expiry.
    const suspended = await emptyPlace(t, kind)
    const { suspendedKeys, workingKeys } = await run(suspended, 'restore', target, '--suspend-keys')
    assert.deepEqual([suspendedKeys > 0, workingKeys], [true, 0])
    assert.equal((await statuses(suspended))['kept'], 401)
  })
}

test('a backup is private, and damage in it is refused by name', async (t) => {
  const place = await emptyPlace(t, 'sqlite')
  const target = join(temporaryFolder(t), 'backup')
  const service = await serverAt(t, place)
  await publishText(service, 'places', 'places.geojson', points(100))
  const { folder } = await run(place, 'backup', target)
  await service.stop()
  for (const path of [target, folder, join(target, 'snapshots')]) {
    assert.equal(statSync(path).mode & 0o077, 0, path)
  }
  const [snapshot] = readdirSync(join(target, 'snapshots'))
  const pack = join(target, 'snapshots', snapshot!, 'features.pack')
  const table = join(folder, 'tables', 'organizations.jsonl.zst')
  const record = join(folder, 'backup.json')
  for (const path of [pack, table, record]) {
    assert.equal(statSync(path).mode & 0o077, 0, path)
    const whole = readFileSync(path)
    const damaged = Buffer.from(whole)
    damaged[Math.floor(damaged.length / 2)]! ^= 1
    writeFileSync(path, path === record ? whole.subarray(0, 100) : damaged)
    const restored = await emptyPlace(t, 'sqlite')
    const refusal = await runCommand(restored, 'restore', target, '--json')
    assert.equal(refusal.code, 1)
    assert.match(refusal.json.error, /damaged/)
    const name = path === pack ? 'features.pack' : path
    assert.ok(refusal.json.error.includes(name), refusal.json.error)
    assert.equal(existsSync(join(restored.dataDir, 'wayleave.db')), false)
    writeFileSync(path, whole)
  }
})
