import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { DAY, HOUR, MINUTE } from '../../base/clock.ts'
import { operator } from '../../base/events/events.ts'
import { newId } from '../../base/id.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { points, publishText } from '../../testing/publish.ts'
import { testClock } from '../../testing/test-clock.ts'
import { databaseKinds, openTestServer, type TestServer, temporaryFolder } from '../../testing/test-server.ts'
import { Staging } from './staging.ts'

const folderOf = ({ config }: TestServer) => join(config.dataDir, 'snapshots')
const trashOf = async ({ parts }: TestServer) =>
  (await parts.blobs.listTrash()).map(({ snapshot }) => snapshot).sort()

/** Adds a snapshot that no version references, as a crash before the commit leaves it. */
async function addOrphan(service: TestServer, name = 'places_000000000000'): Promise<string> {
  const { snapshot } = await service.parts.catalog.find('places')
  cpSync(join(folderOf(service), snapshot), join(folderOf(service), name), { recursive: true })
  return name
}

for (const database of databaseKinds) {
  test(`a snapshot that no version names goes to the trash, is logged, and is deleted days later, on ${database}`, async (t) => {
    const { clock, pass } = testClock()
    const service = await openTestServer(t, { database, clock, settings: { trashDays: 3 } })
    await publishText(service, 'places', 'places.geojson', points(3))
    const orphan = await addOrphan(service)
    const { garbage } = service.parts
    // On PostgreSQL, a commit may still be in flight for a snapshot this young.
    assert.deepEqual((await garbage.collect()).orphans, database === 'sqlite' ? [orphan] : [])
    pass(11 * MINUTE)
    if (database === 'postgres') {
      await garbage.collectAndLog()
      assert.ok(service.logLines.some((line) => line.includes(orphan) && line.includes('"level":40')))
    }
    assert.deepEqual(await trashOf(service), [orphan])
    assert.equal(existsSync(join(folderOf(service), orphan)), false)
    pass(3 * DAY - HOUR)
    assert.deepEqual((await garbage.collect()).deleted, [])
    pass(HOUR)
    const { deleted } = await garbage.collect()
    assert.deepEqual(
      deleted.map(({ snapshot }) => snapshot),
      [orphan],
    )
    assert.deepEqual(await trashOf(service), [])
    assert.equal((await service.request('GET', '/v1/dataset/places/sample/json')).status, 200)
  })

  test(`a database that names no version moves nothing, on ${database}`, async (t) => {
    const { clock, pass } = testClock()
    const service = await openTestServer(t, { database, clock })
    await publishText(service, 'places', 'places.geojson', points(3))
    const orphan = await addOrphan(service)
    await service.parts.publishing.unpublish('places', operator)
    pass(HOUR)
    const { orphans, leftAlone } = await service.parts.garbage.collect()
    assert.deepEqual([orphans, leftAlone], [[], [orphan]])
    assert.ok(existsSync(join(folderOf(service), orphan)))
  })

  test(`a database that was replaced under a running server moves nothing, on ${database}`, async (t) => {
    const { clock, pass } = testClock()
    const service = await openTestServer(t, { database, clock })
    await publishText(service, 'places', 'places.geojson', points(3))
    const orphan = await addOrphan(service)
    pass(HOUR)
    await service.parts.database.db
      .updateTable('installation_secrets')
      .set({ value: newId('inst') })
      .where('name', '=', 'installation-id')
      .execute()
    await assert.rejects(service.parts.garbage.collect(), /belongs to the installation inst_/)
    assert.ok(existsSync(join(folderOf(service), orphan)))
  })

  test(`a version that the database names again gets its snapshot back from the trash, on ${database}`, async (t) => {
    const service = await openTestServer(t, { database })
    await publishText(service, 'places', 'places.geojson', points(3))
    await publishText(service, 'others', 'others.geojson', points(4))
    const { db } = service.parts.database
    // Restores the earlier rows, as restoring a database backup does.
    const dataset = await db
      .selectFrom('datasets')
      .selectAll()
      .where('table_name', '=', 'places')
      .executeTakeFirstOrThrow()
    const version = await db
      .selectFrom('versions')
      .selectAll()
      .where('table_name', '=', 'places')
      .executeTakeFirstOrThrow()
    await service.parts.publishing.unpublish('places', operator)
    assert.deepEqual(await trashOf(service), [version.snapshot])
    await db.insertInto('datasets').values(dataset).execute()
    await db.insertInto('versions').values(version).execute()
    await service.stop()
    const { dataDir, databaseUrl } = service.config
    const again = await openTestServer(t, { dataDir, databaseUrl: databaseUrl ?? undefined })
    assert.deepEqual(await trashOf(again), [])
    assert.equal((await again.request('GET', '/v1/dataset/places/sample/json')).status, 200)
    assert.ok(again.logLines.some((line) => line.includes('moved back from the trash')))
  })
}

test('a mistaken unpublish can be undone: the rows in the trash can be published again', async (t) => {
  const service = await openTestServer(t)
  const first = await publishText(service, 'places', 'places.geojson', points(3))
  await service.parts.publishing.unpublish('places', operator)
  const [discarded] = await service.parts.blobs.listTrash()
  const path = join(folderOf(service), '.trash', discarded!.entry, 'rows.parquet')
  const report = await service.parts.publishing.publish({ table: 'places', path, description: {} }, operator)
  assert.deepEqual([report.rows, report.version, report.geometryType], [3, 2, 'Point'])
  assert.deepEqual(report.columns, first.columns)
})

test('names that are not ours are never touched, and logged once', async (t) => {
  const dataDir = temporaryFolder(t)
  const snapshots = join(dataDir, 'snapshots')
  const foreign = ['lost+found', '.snapshot', 'notes.txt', 'places', 'Places_000000000000']
  for (const name of foreign) mkdirSync(join(snapshots, name), { recursive: true })
  for (const name of ['staging', 'uploads']) {
    mkdirSync(join(dataDir, name, 'lost+found'), { recursive: true })
    writeFileSync(join(dataDir, name, 'lost+found', 'precious'), 'x')
  }
  mkdirSync(join(snapshots, '.trash', 'lost+found'), { recursive: true })
  const service = await openTestServer(t, { dataDir, settings: { trashDays: 0 } })
  await publishText(service, 'places', 'places.geojson', points(3))
  await service.parts.garbage.collectAndLog()
  await service.parts.jobs.sweep({ isStart: true })
  assert.deepEqual(
    readdirSync(snapshots).filter((name) => foreign.includes(name)),
    foreign.sort(),
  )
  assert.ok(existsSync(join(snapshots, '.trash', 'lost+found')))
  for (const name of ['staging', 'uploads'])
    assert.equal(readFileSync(join(dataDir, name, 'lost+found', 'precious'), 'utf8'), 'x')
  assert.equal(service.logLines.filter((line) => line.includes('lost+found')).length, 1)
})

test('what a dead process left in either staging folder goes, and what a live one makes stays', async (t) => {
  const dataDir = temporaryFolder(t)
  const [root, former] = [join(dataDir, 'snapshots', '.staging'), join(dataDir, 'staging')]
  for (const folder of [root, former]) {
    mkdirSync(join(folder, 'dead_000000000000'), { recursive: true })
    writeFileSync(join(folder, 'dead_000000000000', 'half'), 'x')
  }
  const live = new Staging(root).begin('live')
  const liveBefore = new Staging(former).begin('before')
  const service = await openTestServer(t, { dataDir })
  assert.deepEqual(readdirSync(root), [live.name])
  assert.deepEqual(readdirSync(former), [liveBefore.name])
  // A finished snapshot of a live publisher is not an orphan, although no version references it yet.
  await publishText(service, 'places', 'places.geojson', points(3))
  await addOrphan(service, live.name)
  assert.deepEqual((await service.parts.garbage.collect()).orphans, [])
  await live.end()
  await liveBefore.end()
  assert.deepEqual((await service.parts.garbage.collect()).orphans, [live.name])
  assert.deepEqual([existsSync(root), existsSync(former)], [false, false])
})

test('gc lists with --dry-run, moves without it, and exits with 0', async (t) => {
  const service = await openTestServer(t)
  await publishText(service, 'places', 'places.geojson', points(3))
  const orphan = await addOrphan(service)
  mkdirSync(join(folderOf(service), 'lost+found'))
  const dry = await runCommand(service.config, 'gc', '--dry-run', '--json')
  assert.equal(dry.code, 0, dry.stderr)
  assert.deepEqual(
    [dry.json.dryRun, dry.json.orphans, dry.json.trash, dry.json.foreign],
    [true, [orphan], [], ['lost+found']],
  )
  assert.deepEqual(await trashOf(service), [])
  const shown = await runCommand(service.config, 'gc', '--dry-run')
  assert.match(shown.stdout, new RegExp(`${orphan} +would be moved to the trash`))
  const real = await runCommand(service.config, 'gc', '--json')
  assert.deepEqual(
    [real.code, real.stderr, real.json.orphans, real.json.trash[0].snapshot],
    [0, '', [orphan], orphan],
  )
  assert.deepEqual(await trashOf(service), [orphan])
})

test('a publishing whose commit was made but whose response was lost keeps its snapshot', async (t) => {
  const service = await openTestServer(t)
  const { changes } = service.parts
  const { commit } = changes
  changes.commit = async (work) => {
    await commit(work)
    throw new Error('the connection was lost')
  }
  const report = await publishText(service, 'places', 'places.geojson', points(3))
  changes.commit = commit
  assert.equal(report.version, 1)
  await service.parts.garbage.collect()
  assert.equal((await service.request('GET', '/v1/dataset/places/sample/json')).status, 200)
})
