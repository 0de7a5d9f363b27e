import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { systemClock } from '../../base/clock.ts'
import { operator } from '../../base/events/events.ts'
import { openAccount, readAccountLedger } from '../../testing/account.ts'
import { emptyPlace, serverAt } from '../../testing/backup-place.ts'
import { runCommand, runProgramFile } from '../../testing/processes/run-command.ts'
import { points, publishText } from '../../testing/publish.ts'
import { emptyDatabase } from '../../testing/test-server.ts'
import { moveDatabase } from './move-database.ts'
import { isPostgresEmpty } from './rows/postgres-rows-store.ts'
import { latestSchemaVersion, tableShapes } from './rows/table-shapes-store.ts'

needs('postgres', 'processes')

test('a moved database serves the same on PostgreSQL, and the SQLite file is left as it was', async (t) => {
  const place = await emptyPlace(t, 'sqlite')
  const service = await serverAt(t, place)
  const ada = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 50 })
  await publishText(service, 'places', 'places.geojson', points(40, 'Zürich "quoted" \\ 東京'))
  const path = '/v1/dataset/places/files/csv'
  const csv = await service.request('GET', path, { key: ada.key })
  const ledger = await readAccountLedger(service, ada)
  const to = await emptyDatabase(t)
  await assert.rejects(
    moveDatabase({ dataDir: place.dataDir, to, clock: systemClock }),
    /Another server uses/,
  )
  await service.stop()

  // A start on the empty database is refused, and does not stand in the way of the move.
  await assert.rejects(serverAt(t, { ...place, databaseUrl: to }), /names none/)
  const misspelt = await runProgramFile(
    place,
    'database',
    'move',
    'postgres://ada:not-to-be-shown@localhost/x',
  )
  assert.match(misspelt.stderr, /postgres:\/\/ada:\[redacted\]@localhost/)

  const file = join(place.dataDir, 'wayleave.db')
  const before = hash('sha256', readFileSync(file))
  const moved = await runCommand(place, 'database', 'move', '--to', to, '--json')
  assert.equal(moved.code, 0, moved.stderr)
  assert.equal(moved.json.wasCopied, false)
  assert.ok(moved.json.rows > 20)
  assert.equal(hash('sha256', readFileSync(file)), before)
  assert.equal(moved.stdout.includes(new URL(to).password || '\n\n'), false)

  await assert.rejects(serverAt(t, place), /was moved to postgres:.*Set WAYLEAVE_DATABASE_URL/)
  const later = await serverAt(t, { ...place, databaseUrl: to })
  assert.equal((await later.request('GET', path, { key: ada.key })).text, csv.text)
  // Sessions stay valid: nothing was restored to an earlier state.
  assert.deepEqual(await readAccountLedger(later, ada), ledger)
  // A sequence that was not set correctly would repeat an id.
  await later.parts.ledger.setCredits(operator, ada.organizationId, 7)
  assert.equal((await readAccountLedger(later, ada)).rows.length, ledger.rows.length + 1)
  await later.stop()

  // The target has different rows now, and is not overwritten.
  rmSync(join(place.dataDir, 'database-moved.json'))
  const refused = await runCommand(place, 'database', 'move', '--to', to, '--json')
  assert.deepEqual([refused.code, /not empty/.test(refused.json.error)], [1, true])
})

test('an address that is not PostgreSQL is refused with the name of the option', async (t) => {
  const place = await emptyPlace(t, 'sqlite')
  const refused = await runCommand(place, 'database', 'move', '--to', 'mysql://u:p@h/d', '--json')
  assert.match(refused.json.error, /^--to: the value is not/)
})

test('a move that was cut off after its commit is finished by the next one', async (t) => {
  const place = await emptyPlace(t, 'sqlite')
  const service = await serverAt(t, place)
  await openAccount(service, 'ada@example.org', { credits: 5 })
  await service.stop()
  const to = await emptyDatabase(t)
  const options = { dataDir: place.dataDir, to, clock: systemClock }
  const first = await moveDatabase(options)
  rmSync(join(place.dataDir, 'database-moved.json'))
  assert.deepEqual(await moveDatabase(options), { ...first, wasCopied: true })
  await assert.rejects(serverAt(t, place), /was moved/)
})

test('a move whose data folder cannot be marked leaves PostgreSQL empty', async (t) => {
  const place = await emptyPlace(t, 'sqlite')
  await (await serverAt(t, place)).stop()
  const to = await emptyDatabase(t)
  const options = { dataDir: place.dataDir, to, clock: systemClock }
  mkdirSync(join(place.dataDir, 'database-moved.json', 'in the way'), { recursive: true })
  await assert.rejects(moveDatabase(options))
  assert.ok(await isPostgresEmpty(to, tableShapes(latestSchemaVersion())))
  rmSync(join(place.dataDir, 'database-moved.json'), { recursive: true })
  assert.equal((await moveDatabase(options)).wasCopied, false)
})
