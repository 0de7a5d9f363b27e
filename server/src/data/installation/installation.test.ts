import assert from 'node:assert/strict'
import { copyFileSync, cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { points, publishText } from '../../testing/publish.ts'
import {
  type DatabaseKind,
  databaseKinds,
  openTestServer,
  type TestServer,
  temporaryDatabase,
  temporaryFolder,
} from '../../testing/test-server.ts'
import { type InstallationState, mismatchOf } from './installation.ts'
import { installationPath } from './installation-file.ts'

needs('time')

interface Place {
  dataDir: string
  databaseUrl: string | undefined
}

async function emptyPlace(t: TestContext, database: DatabaseKind): Promise<Place> {
  return {
    dataDir: temporaryFolder(t),
    databaseUrl: database === 'postgres' ? await temporaryDatabase(t) : undefined,
  }
}

/** A folder and a database with two datasets, without a running server. */
async function publishedPlace(t: TestContext, database: DatabaseKind): Promise<Place> {
  const place = await emptyPlace(t, database)
  const service = await openTestServer(t, place)
  await publishText(service, 'places', 'places.geojson', points(3))
  await publishText(service, 'others', 'others.geojson', points(4))
  await service.stop()
  return place
}

/** The folder of one place with the database of another. */
function combine(folder: Place, database: Place): Place {
  if (database.databaseUrl) return { ...folder, databaseUrl: database.databaseUrl }
  for (const name of readdirSync(folder.dataDir)) {
    if (name.startsWith('wayleave.db')) rmSync(join(folder.dataDir, name))
  }
  for (const name of readdirSync(database.dataDir)) {
    if (name.startsWith('wayleave.db')) copyFileSync(join(database.dataDir, name), join(folder.dataDir, name))
  }
  return { dataDir: folder.dataDir, databaseUrl: undefined }
}

const snapshotsIn = ({ dataDir }: Place) => readdirSync(join(dataDir, 'snapshots')).sort()
const folderId = ({ dataDir }: Place): string =>
  JSON.parse(readFileSync(installationPath(dataDir), 'utf8')).installationId
const databaseId = async ({ parts }: TestServer) =>
  (
    await parts.database.db
      .selectFrom('installation_secrets')
      .selectAll()
      .where('name', '=', 'installation-id')
      .executeTakeFirstOrThrow()
  ).value

async function refusal(t: TestContext, place: Place): Promise<string> {
  let message = 'it started'
  await openTestServer(t, place).catch((error: Error) => {
    message = error.message
  })
  return message
}

for (const database of databaseKinds) {
  test(`the first start gives the folder and the database one id, on ${database}`, async (t) => {
    const place = await emptyPlace(t, database)
    const service = await openTestServer(t, place)
    assert.match(folderId(place), /^inst_\w{20}$/)
    assert.equal(await databaseId(service), folderId(place))
    assert.equal(statSync(installationPath(place.dataDir)).mode & 0o777, 0o600)
    const before = folderId(place)
    await service.stop()
    assert.equal(await databaseId(await openTestServer(t, place)), before)
    assert.equal(folderId(place), before)
  })

  test(`a start with an empty database is refused, and no snapshot is touched, on ${database}`, async (t) => {
    const place = await publishedPlace(t, database)
    const before = snapshotsIn(place)
    const wrong = combine(place, await emptyPlace(t, database))
    const message = await refusal(t, wrong)
    assert.match(message, /holds 2 snapshots, and the control database \((SQLite|PostgreSQL)\) names none/)
    assert.ok(message.includes(place.dataDir) && message.includes('wayleave adopt-folder --force'), message)
    assert.deepEqual(snapshotsIn(place), before)
  })

  test(`a start with the database of another installation names both ids, on ${database}`, async (t) => {
    const place = await publishedPlace(t, database)
    const foreign = await publishedPlace(t, database)
    const ids = [folderId(place), folderId(foreign)]
    const before = snapshotsIn(place)
    const message = await refusal(t, combine(place, foreign))
    for (const part of [...ids, place.dataDir, database === 'sqlite' ? 'SQLite' : 'PostgreSQL'])
      assert.ok(message.includes(part), `${part} is not in: ${message}`)
    assert.deepEqual(snapshotsIn(place), before)
  })

  test(`a folder and a database from before ids, or with a broken file, are joined, on ${database}`, async (t) => {
    const place = await publishedPlace(t, database)
    const service = await openTestServer(t, place)
    const id = await databaseId(service)
    await service.stop()
    for (const content of ['', '{"installationId":', '{"installationId":"../x"}']) {
      writeFileSync(installationPath(place.dataDir), content)
      const again = await openTestServer(t, place)
      assert.equal(folderId(place), id)
      await again.stop()
    }
    const last = await openTestServer(t, place)
    await last.parts.database.db.deleteFrom('installation_secrets').execute()
    await last.stop()
    rmSync(installationPath(place.dataDir))
    const upgraded = await openTestServer(t, place)
    assert.equal(await databaseId(upgraded), folderId(place))
    assert.equal((await upgraded.request('GET', '/v1/dataset/places')).body.rows, 3)
  })

  test(`a folder without a single snapshot that the database names is refused, on ${database}`, async (t) => {
    const place = await publishedPlace(t, database)
    const backup = join(temporaryFolder(t), 'snapshots')
    cpSync(join(place.dataDir, 'snapshots'), backup, { recursive: true })
    // Simulates that the volume of the snapshots is not mounted.
    rmSync(join(place.dataDir, 'snapshots'), { recursive: true })
    assert.match(
      await refusal(t, place),
      /holds none of the 2 snapshots that the control database \(\w+\) names: is it the shared folder/,
    )
    const [one] = readdirSync(backup)
    cpSync(join(backup, one!), join(place.dataDir, 'snapshots', one!), { recursive: true })
    const partial = await openTestServer(t, place)
    assert.ok(partial.logLines.some((line) => line.includes('lacks 1 of the 2 snapshots')))
  })

  test(`no command changes anything while the ids differ, and adopt-folder is the way out, on ${database}`, async (t) => {
    const place = await publishedPlace(t, database)
    const foreign = await publishedPlace(t, database)
    const before = snapshotsIn(place)
    const wrong = combine(place, foreign)
    const config = { dataDir: wrong.dataDir, databaseUrl: wrong.databaseUrl ?? null }
    const file = join(temporaryFolder(t), 'new.geojson')
    writeFileSync(file, points(2))
    for (const args of [
      ['publish', file, '--table', 'more'],
      ['unpublish', 'places'],
      ['datasets'],
      ['gc'],
      ['backup', join(temporaryFolder(t), 'backup')],
      ['storage', 'move', '--to', `file://${temporaryFolder(t)}`],
    ]) {
      const { code, stderr } = await runCommand(config, ...args)
      assert.deepEqual([code, /belongs to the installation inst_/.test(stderr)], [1, true], stderr)
    }
    const unproven = await runCommand(config, 'adopt-folder')
    assert.equal(unproven.code, 1)
    assert.match(unproven.stderr, /Nothing proves that/)
    assert.deepEqual(snapshotsIn(place), before)
    const forced = await runCommand(config, 'adopt-folder', '--force', '--json')
    assert.equal(forced.code, 0, forced.stderr)
    assert.deepEqual(
      [forced.json.installationId, forced.json.stored, forced.json.named],
      [folderId(wrong), 2, 0],
    )
    const service = await openTestServer(t, wrong)
    assert.equal(await databaseId(service), folderId(wrong))
    assert.deepEqual((await service.request('GET', '/v1/datasets')).body.data.length, 2)
    // Snapshots that this database does not reference go to the trash, on PostgreSQL later. None is deleted.
    const { blobs } = service.parts
    const trash = (await blobs.listTrash()).map(({ snapshot }) => snapshot)
    assert.equal(trash.length, database === 'sqlite' ? 2 : 0)
    assert.deepEqual([...trash, ...(await blobs.list())].sort(), before)
  })
}

test('a folder of its own beside the shared one is refused to a node', async (t) => {
  const place = await publishedPlace(t, 'postgres')
  const message = await refusal(t, { dataDir: temporaryFolder(t), databaseUrl: place.databaseUrl })
  assert.match(message, /holds none of the 2 snapshots/)
})

test('the move to an empty PostgreSQL with the old folder is refused instead of emptying the folder', async (t) => {
  const place = await publishedPlace(t, 'sqlite')
  const before = snapshotsIn(place)
  assert.match(
    await refusal(t, { dataDir: place.dataDir, databaseUrl: await temporaryDatabase(t) }),
    /holds 2 snapshots, and the control database \(PostgreSQL\) names none/,
  )
  assert.deepEqual(snapshotsIn(place), before)
})

test('whether a folder and a database belong together, case by case', () => {
  const none: InstallationState = {
    place: 'data folder data',
    databaseKind: 'sqlite',
    folderId: null,
    databaseId: null,
    stored: 0,
    named: 0,
    matching: 0,
    missing: [],
  }
  const cases: [what: string, state: Partial<InstallationState>, expected: RegExp | null][] = [
    ['both empty', {}, null],
    ['a new folder for a database without versions', { databaseId: 'b' }, null],
    ['a new database for a folder without snapshots', { folderId: 'a' }, null],
    ['before ids', { stored: 3, named: 2, matching: 2 }, null],
    ['one of several left', { stored: 1, named: 2, matching: 1, missing: ['x'] }, null],
    ['equal ids', { folderId: 'a', databaseId: 'a', stored: 2, named: 2, matching: 2 }, null],
    ['equal ids, all datasets removed', { folderId: 'a', databaseId: 'a', stored: 2 }, null],
    ['equal ids, no volume', { folderId: 'a', databaseId: 'a', named: 2 }, /holds none of the 2 snapshots/],
    ['other ids, both empty', { folderId: 'a', databaseId: 'b' }, /installation a, and .* to b/],
    [
      'other ids, same snapshots',
      { folderId: 'a', databaseId: 'b', stored: 2, named: 2, matching: 2 },
      /adopt-folder"/,
    ],
    ['a new database', { folderId: 'a', stored: 1 }, /holds 1 snapshot, and .* names none/],
    ['a restored database without versions', { databaseId: 'b', stored: 1 }, /names none/],
    ['foreign snapshots', { stored: 3, named: 1 }, /holds none of the 1 snapshot that/],
  ]
  for (const [what, state, expected] of cases) {
    const mismatch = mismatchOf({ ...none, ...state })
    if (expected === null) assert.equal(mismatch, null, what)
    else assert.match(mismatch ?? 'null', expected, what)
  }
})
