import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { operator } from '../../base/events/events.ts'
import { verifySnapshots } from '../../operation/verification/verify-snapshots.ts'
import { openAccount } from '../../testing/account.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { points, publishText } from '../../testing/publish.ts'
import { databaseKinds, openTestServer, type TestServer, temporaryFolder } from '../../testing/test-server.ts'
import { readStoredVersions } from '../catalog/version-store.ts'

async function writerOf(service: TestServer): Promise<string> {
  const newKey = { name: 'Publisher', permissions: ['read', 'write'] }
  return (await service.parts.keys.createPlatform(operator, newKey)).secret
}

async function versionsOf({ request }: TestServer, table: string): Promise<[number, boolean, number][]> {
  const { body } = await request('GET', `/v1/dataset/${table}/archives`)
  return body.data.map((one: { version: number; current: boolean; rows: number }) => [
    one.version,
    one.current,
    one.rows,
  ])
}

for (const database of databaseKinds) {
  test(`a roll back is a new version with the old snapshot, which stays while either is there (${database})`, async (t) => {
    const service = await openTestServer(t, { database })
    const { request, parts } = service
    const key = await writerOf(service)
    for (const rows of [30, 20]) await publishText(service, 'places', 'a.geojson', points(rows))
    const first = (await parts.catalog.version('places', '1')).snapshot
    const body = { version: 1 }
    const rolled = await request('POST', '/v1/dataset/places/rollback', { key, body })
    assert.deepEqual([rolled.status, rolled.body], [200, { table: 'places', version: 3 }])
    assert.deepEqual(await versionsOf(service, 'places'), [
      [3, true, 30],
      [2, false, 20],
      [1, false, 30],
    ])
    const items = await request('GET', '/v1/ogc/collections/places/items?limit=1', { key })
    assert.equal(items.body.numberMatched, 30)
    const { body: archives } = await request('GET', '/v1/dataset/places/archives')
    assert.equal(archives.data[0].note, 'Rolled back to version 1.')

    // The snapshot is shared, so deleting one of its versions keeps it, and the collection finds no orphan.
    assert.equal((await request('DELETE', '/v1/dataset/places/archives/1', { key })).status, 204)
    assert.deepEqual((await parts.garbage.collect()).orphans, [])
    assert.ok(existsSync(await parts.blobs.localFolder(first)))
    assert.equal((await request('GET', '/v1/dataset/places/files/csv', { key })).status, 200)
    assert.equal(
      (await request('POST', '/v1/dataset/places/rollback', { key, body: { version: 3 } })).status,
      409,
    )
    assert.equal((await request('POST', '/v1/dataset/places/rollback', { key, body })).status, 404)

    // Deleting the last version of a snapshot discards it.
    await publishText(service, 'places', 'a.geojson', points(10))
    assert.equal((await request('DELETE', '/v1/dataset/places/archives/4', { key })).status, 409)
    assert.equal((await request('DELETE', '/v1/dataset/places/archives/3', { key })).status, 204)
    assert.equal((await request('DELETE', '/v1/dataset/places/archives/3', { key })).status, 404)
    assert.deepEqual(
      (await parts.blobs.listTrash()).map(({ snapshot }) => snapshot),
      [first],
    )
    const note = { note: 'Ten points.' }
    assert.equal((await request('PATCH', '/v1/dataset/places/archives/4', { key, body: note })).status, 204)
    assert.equal((await request('GET', '/v1/dataset/places/archives')).body.data[0].note, 'Ten points.')
  })

  test(`a draft of a visible dataset is seen by nobody until it is released (${database})`, async (t) => {
    const service = await openTestServer(t, { database })
    const { request, parts } = service
    const key = await writerOf(service)
    await publishText(service, 'places', 'a.geojson', points(30), { description: { title: 'Old' } })
    const publishDraft = (rows: number) =>
      publishText(service, 'places', 'a.geojson', points(rows), {
        draft: true,
        description: { title: 'New' },
      })
    assert.equal((await publishDraft(5)).isDraft, true)
    const draft = await publishDraft(10)
    assert.deepEqual(await versionsOf(service, 'places'), [[1, true, 30]])
    const { body: metadata } = await request('GET', '/v1/dataset/places', { key })
    assert.deepEqual([metadata.rows, metadata.title], [30, 'Old'])
    assert.equal(
      (await request('GET', `/v1/dataset/places/archives/${draft.version}/files/csv`, { key })).status,
      404,
    )
    assert.deepEqual((await parts.garbage.collect()).orphans, [])
    const waiting = await request('GET', '/v1/dataset/places/draft', { key })
    const items = await request('GET', '/v1/dataset/places/draft/items?limit=3&offset=1&step=4', { key })
    assert.match(items.headers.get('content-type')!, /^application\/geo\+json/)
    assert.deepEqual([items.body.numberMatched, items.body.numberReturned], [10, 3])
    assert.equal(new Set(items.body.features.map(({ id }: { id: number }) => id)).size, 3)
    const beyond = await request('GET', '/v1/dataset/places/draft/items?offset=10', { key })
    assert.deepEqual(beyond.body.features, [])
    assert.equal((await request('GET', '/v1/dataset/places/draft/items')).status, 401)
    assert.deepEqual([waiting.body.version, waiting.body.rows], [3, 10])

    // A version that is published meanwhile has a higher number, and so does the released one.
    await publishText(service, 'places', 'a.geojson', points(20))
    const released = await request('POST', '/v1/dataset/places/release', { key, body: {} })
    assert.deepEqual(released.body, { table: 'places', version: 5 })
    assert.deepEqual(await versionsOf(service, 'places'), [
      [5, true, 10],
      [4, false, 20],
      [1, false, 30],
    ])
    assert.equal((await request('GET', '/v1/dataset/places', { key })).body.title, 'New')
    assert.equal((await request('GET', '/v1/dataset/places/draft', { key })).status, 404)
    assert.equal((await request('POST', '/v1/dataset/places/release', { key, body: {} })).status, 409)

    await publishDraft(7)
    assert.equal((await request('DELETE', '/v1/dataset/places/draft', { key })).status, 204)
    assert.equal((await request('DELETE', '/v1/dataset/places/draft', { key })).status, 404)
  })
}

test('a new dataset that is published as a draft is hidden until it is released', async (t) => {
  const service = await openTestServer(t)
  const key = await writerOf(service)
  await publishText(service, 'places', 'a.geojson', points(3), { draft: true })
  assert.equal((await service.request('GET', '/v1/dataset/places')).status, 404)
  await publishText(service, 'places', 'a.geojson', points(4), { draft: true })
  const body = { visibility: 'open' }
  const released = await service.request('POST', '/v1/dataset/places/release', { key, body })
  assert.deepEqual(released.body, { table: 'places', version: 2 })
  const { body: metadata } = await service.request('GET', '/v1/dataset/places')
  assert.deepEqual([metadata.rows, metadata.visibility], [4, 'open'])
})

test('only as many versions are kept as the settings say, and drafts do not count', async (t) => {
  const service = await openTestServer(t, { settings: { keepVersions: 2 } })
  for (const rows of [1, 2, 3]) await publishText(service, 'places', 'a.geojson', points(rows))
  await publishText(service, 'places', 'a.geojson', points(9), { draft: true })
  await service.parts.versions.rollBack({ table: 'places', version: 2, origin: operator })
  assert.deepEqual(await versionsOf(service, 'places'), [
    [5, true, 2],
    [3, false, 3],
  ])
  // Version 2 is gone, and version 5 has its snapshot.
  assert.equal((await service.request('GET', '/v1/dataset/places/sample/json')).status, 200)
  assert.equal(await service.parts.versions.release({ table: 'places', origin: operator }), 6)
})

test('files of drafts and of reused snapshots are checked and copied once', async (t) => {
  const service = await openTestServer(t)
  const { database, versions, blobs } = service.parts
  for (const rows of [1, 2]) await publishText(service, 'places', 'a.geojson', points(rows))
  await versions.rollBack({ table: 'places', version: 1, origin: operator })
  await publishText(service, 'places', 'a.geojson', points(9), { draft: true })
  const stored = await readStoredVersions(database.db, 'places')
  assert.deepEqual(stored.map(({ manifest }) => manifest.rows).sort(), [1, 2, 9])
  assert.deepEqual((await verifySnapshots(database.db, blobs.root)).findings, [])
  const draft = await versions.draft('places')
  writeFileSync(join(await blobs.localFolder(draft.snapshot), 'features.pack'), 'x')
  const { findings } = await verifySnapshots(database.db, blobs.root)
  assert.deepEqual(
    findings.map(({ subject }) => subject),
    [draft.snapshot],
  )
})

test('versions are changed by their publishers only', async (t) => {
  const service = await openTestServer(t)
  const eve = await openAccount(service, 'eve@example.org', { addOns: ['API_ACCESS'], credits: 10 })
  for (const rows of [1, 2]) await publishText(service, 'places', 'a.geojson', points(rows))
  const calls = [
    ['POST', '/rollback', { version: 1 }],
    ['POST', '/release', {}],
    ['DELETE', '/archives/1', undefined],
    ['PATCH', '/archives/1', { note: 'x' }],
    ['GET', '/draft', undefined],
    ['GET', '/draft/items', undefined],
    ['DELETE', '/draft', undefined],
  ] as const
  for (const [method, path, body] of calls) {
    const options = { ...(body && { body }) }
    const status = async (key?: string) =>
      (await service.request(method, `/v1/dataset/places${path}`, { ...options, ...(key && { key }) })).status
    assert.deepEqual([await status(), await status(eve.key)], [401, 403], `${method} ${path}`)
  }
})

test('the commands publish drafts, release them, roll back and delete versions', async (t) => {
  const place = { dataDir: temporaryFolder(t), databaseUrl: null }
  const file = join(temporaryFolder(t), 'a.geojson')
  writeFileSync(file, points(3))
  const run = (...args: string[]) => runCommand(place, ...args)
  await run('publish', file, '--table', 'places')
  writeFileSync(file, points(4))
  assert.match((await run('publish', file, '--table', 'places', '--draft')).stdout, /2, a draft until/)
  const listed = (await run('versions', 'places', '--json')).json as { data: unknown[]; draft: unknown }
  assert.deepEqual([listed.data.length, (listed.draft as { version: number }).version], [1, 2])
  assert.deepEqual((await run('release', 'places', '--json')).json, { table: 'places', version: 2 })
  assert.deepEqual((await run('rollback', 'places', '--to', '1', '--json')).json, {
    table: 'places',
    version: 3,
  })
  assert.match(
    (await run('versions', 'places')).stdout,
    /3 +current +3 +(-|\+\d+ −\d+ ~\d+) .*Rolled back to version 1\./,
  )
  assert.equal((await run('versions', 'places', '--delete', '1')).code, 0)
  assert.match((await run('versions', 'places', '--delete', '3')).stderr, /is the current version/)
  assert.equal((await run('rollback', 'places')).code, 2)
})
