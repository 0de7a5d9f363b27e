import assert from 'node:assert/strict'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { DAY, HOUR, plus } from '../../base/clock.ts'
import { operator } from '../../base/events/events.ts'
import { openAccount } from '../../testing/account.ts'
import { newBucketSettings, openTestBucket } from '../../testing/bucket.ts'
import { getBytes as get } from '../../testing/get-bytes.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { points, publishText } from '../../testing/publish.ts'
import { openTestServer, temporaryFolder } from '../../testing/test-server.ts'
import { SNAPSHOTS, snapshotKey, TRASH } from './object-keys.ts'

needs('s3')

test('a snapshot that no version names gets a tombstone, a day of grace, and goes', async (t) => {
  let now = new Date()
  const settings = newBucketSettings()
  const clock = () => now
  const service = await openTestServer(t, { clock, settings: { ...settings, trashDays: 0 } })
  const bucket = await openTestBucket(t, settings)
  const { garbage, publishing, blobs, catalog } = service.parts
  await publishText(service, 'places', 'places.geojson', points(10))
  await publishText(service, 'others', 'others.geojson', points(10))
  const { snapshot } = await catalog.find('places')
  await publishing.unpublish('places', operator)
  assert.deepEqual(
    (await blobs.listTrash()).map((entry) => entry.snapshot),
    [snapshot],
  )
  assert.ok(!(await blobs.list()).includes(snapshot))
  // Readers that began before may still fetch its blocks.
  assert.ok(await bucket.head(snapshotKey(snapshot, 'features.pack')))
  now = plus(now, DAY - HOUR)
  assert.deepEqual((await garbage.collect()).deleted, [])
  now = plus(now, 2 * HOUR)
  assert.deepEqual(
    (await garbage.collect()).deleted.map((entry) => entry.snapshot),
    [snapshot],
  )
  assert.deepEqual(await bucket.listFolders(SNAPSHOTS), await blobs.list())
  assert.deepEqual(await bucket.listFolders(TRASH), [])
})

test('an orphan is collected, an upload under way and one that is named again are not', async (t) => {
  let now = new Date()
  const settings = newBucketSettings()
  const service = await openTestServer(t, { clock: () => now, settings })
  const bucket = await openTestBucket(t, settings)
  const { garbage, blobs } = service.parts
  await publishText(service, 'places', 'places.geojson', points(10))
  const { snapshot } = await service.parts.catalog.find('places')
  const copy = async (name: string, files: string[]) => {
    for (const file of files)
      await bucket.write(snapshotKey(name, file), await bucket.read(snapshotKey(snapshot, file)))
  }
  await copy('lost_AAAAAAAAAAAA', ['features.pack', 'manifest.json'])
  await copy('half_BBBBBBBBBBBB', ['features.pack'])
  // A commit whose response was lost may still arrive.
  assert.deepEqual((await garbage.collect()).orphans, [])
  now = plus(now, HOUR)
  const { orphans, leftovers } = await garbage.collect()
  assert.deepEqual([orphans, leftovers], [['lost_AAAAAAAAAAAA'], []])
  now = plus(now, 2 * DAY)
  assert.deepEqual((await garbage.collect()).leftovers, ['half_BBBBBBBBBBBB'])
  assert.deepEqual(await blobs.list(), [snapshot])
  // A database that is restored to an earlier state names a discarded snapshot again.
  await blobs.discard(snapshot, now)
  assert.deepEqual((await garbage.collect()).restored, [snapshot])
  assert.deepEqual(await blobs.list(), [snapshot])
})

test('storage check finds missing, damaged and orphaned objects, and repairs what it can', async (t) => {
  const settings = newBucketSettings()
  const service = await openTestServer(t, { settings })
  const bucket = await openTestBucket(t, settings)
  await publishText(service, 'places', 'places.geojson', points(200))
  await publishText(service, 'others', 'others.geojson', points(200))
  const { key } = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 10 })
  const csv = await get(service, '/v1/dataset/places/files/csv', key)
  const { snapshot } = await service.parts.catalog.find('places')
  const place = { ...service.config }
  const sound = await runCommand(place, 'storage', 'check', '--json')
  assert.deepEqual([sound.code, sound.json.ok, sound.json.findings], [0, true, []], sound.stderr)

  const damage = async (key: string) => {
    const bytes = await bucket.read(key)
    bytes[3]! ^= 1
    await bucket.write(key, bytes)
  }
  const exports: string[] = []
  for await (const { key } of bucket.list(snapshotKey(snapshot, 'exports/places.csv.'))) {
    if (!key.endsWith('.json')) exports.push(key)
  }
  const pack = snapshotKey(snapshot, 'features.pack')
  const columns = snapshotKey(snapshot, 'rows.columns')
  const manifest = snapshotKey(snapshot, 'manifest.json')
  await damage(exports[0]!)
  await damage(pack)
  await bucket.delete([columns, manifest])
  await bucket.write(snapshotKey('orphan_AAAAAAAAAAAA', 'features.pack'), Buffer.from('x'))
  const found = await runCommand(place, 'storage', 'check', '--json')
  assert.equal(found.code, 1)
  const kinds = Object.fromEntries(
    found.json.findings.map(({ key, kind }: { key: string; kind: string }) => [key, kind]),
  )
  assert.deepEqual(kinds, {
    [pack]: 'damaged',
    [columns]: 'missing',
    [manifest]: 'missing',
    [exports[0]!]: 'damaged',
    [`${SNAPSHOTS}orphan_AAAAAAAAAAAA`]: 'orphaned',
  })
  // The node that published has intact copies in its cache.
  const repaired = await runCommand(place, 'storage', 'check', '--repair', '--json')
  assert.deepEqual([repaired.code, repaired.json.ok], [0, true], repaired.stderr)
  assert.equal((await runCommand(place, 'storage', 'check', '--json')).json.findings.length, 1)
  const verified = await runCommand(place, 'verify', '--json')
  assert.deepEqual([verified.code, verified.json.ok], [0, true], verified.stderr)
  const again = await openTestServer(t, { settings, dataDir: service.config.dataDir }).catch(() => null)
  assert.equal(again, null, 'one server for each SQLite folder')
  await service.stop()
  const next = await openTestServer(t, { settings, dataDir: service.config.dataDir })
  assert.ok((await get(next, '/v1/dataset/places/files/csv', key)).bytes.equals(csv.bytes))
})

test('storage move copies a folder to a bucket and back while the service runs', async (t) => {
  const service = await openTestServer(t)
  await publishText(service, 'places', 'places.geojson', points(300))
  await publishText(service, 'places', 'places.geojson', points(400))
  const { key } = await openAccount(service, 'ada@example.org', {
    addOns: ['API_ACCESS', 'GIS_ACCESS'],
    credits: 10,
  })
  const csv = await get(service, '/v1/dataset/places/files/csv', key)
  const tiles = await get(service, '/v1/dataset/places/files/pmtiles', key)
  const settings = newBucketSettings()
  const { dataDir } = service.config
  const place = { dataDir, databaseUrl: null, s3Endpoint: settings.s3Endpoint }
  const url = settings.storageUrl!
  const moved = await runCommand(place, 'storage', 'move', '--to', url, '--json')
  assert.deepEqual([moved.code, moved.json.copied, moved.json.damaged], [0, 2, []], moved.stderr)
  const again = await runCommand(place, 'storage', 'move', '--to', url, '--json')
  assert.deepEqual([again.json.copied, again.json.present], [0, 2])
  // Interrupted before the manifest of one snapshot was written: only what is missing is copied.
  const bucket = await openTestBucket(t, settings)
  const { snapshot } = await service.parts.catalog.find('places')
  await bucket.delete([snapshotKey(snapshot, 'manifest.json'), snapshotKey(snapshot, 'rows.columns')])
  const continued = await runCommand(place, 'storage', 'move', '--to', url, '--json')
  assert.deepEqual([continued.json.copied, continued.json.present], [1, 1])
  assert.ok(continued.json.copiedBytes < moved.json.copiedBytes / 2)
  const check = await runCommand({ ...place, storageUrl: url }, 'storage', 'check', '--json')
  assert.deepEqual([check.code, check.json.findings], [0, []], check.stderr)
  assert.equal((await service.request('GET', '/v1/dataset/places')).status, 200)
  await service.stop()

  const snapshots = join(dataDir, 'snapshots')
  const aside = temporaryFolder(t)
  cpSync(snapshots, aside, { recursive: true })
  rmSync(snapshots, { recursive: true })
  const onBucket = await openTestServer(t, { dataDir, settings })
  assert.ok((await get(onBucket, '/v1/dataset/places/files/csv', key)).bytes.equals(csv.bytes))
  assert.ok((await get(onBucket, '/v1/dataset/places/files/pmtiles', key)).bytes.equals(tiles.bytes))
  await publishText(onBucket, 'places', 'places.geojson', points(500))
  await onBucket.stop()

  const back = pathToFileURL(temporaryFolder(t)).href
  const returned = await runCommand({ ...place, storageUrl: url }, 'storage', 'move', '--to', back, '--json')
  assert.deepEqual([returned.code, returned.json.copied], [0, 3], returned.stderr)
  const onFolder = await openTestServer(t, { dataDir, settings: { storageUrl: back } })
  assert.equal((await onFolder.request('GET', '/v1/dataset/places')).body.rows, 500)
  const page = await onFolder.request('GET', '/v1/ogc/collections/places/items?limit=3', { key })
  assert.equal(page.body.features.length, 3)
  await onFolder.stop()
})

test('a move leaves damaged snapshots out and says so, and wrong usage exits with 2', async (t) => {
  const service = await openTestServer(t)
  await publishText(service, 'places', 'places.geojson', points(300))
  await publishText(service, 'others', 'others.geojson', points(300))
  const { snapshot } = await service.parts.catalog.find('places')
  const { dataDir } = service.config
  const pack = join(dataDir, 'snapshots', snapshot, 'features.pack')
  const bytes = readFileSync(pack)
  bytes[5]! ^= 1
  writeFileSync(pack, bytes)
  const settings = newBucketSettings()
  const place = { dataDir, databaseUrl: null, s3Endpoint: settings.s3Endpoint }
  const moved = await runCommand(place, 'storage', 'move', '--to', settings.storageUrl!, '--json')
  assert.deepEqual([moved.code, moved.json.copied], [1, 1])
  assert.equal(moved.json.damaged[0].snapshot, snapshot)
  assert.equal((await runCommand(place, 'storage', 'move', '--to', 'ftp://x')).code, 2)
  const same = await runCommand(place, 'storage', 'move', '--to', pathToFileURL(dataDir).href)
  assert.equal(same.code, 2, same.stderr)
})

test('an installation on a bucket is backed up to a bucket and to a folder, and restored into both', async (t) => {
  const settings = newBucketSettings()
  const service = await openTestServer(t, { settings })
  await publishText(service, 'places', 'places.geojson', points(300))
  const { key } = await openAccount(service, 'ada@example.org', { addOns: ['GIS_ACCESS'] })
  const place = { ...service.config }
  const { storageUrl: target } = newBucketSettings()
  const run = async (at: Parameters<typeof runCommand>[0], ...args: string[]) => {
    const { code, json, stderr } = await runCommand(at, ...args, '--json')
    assert.equal(code, 0, stderr + JSON.stringify(json))
    return json
  }
  const first = await run(place, 'backup', target!, '--verify')
  assert.deepEqual([first.isWhole, first.copied, first.verified.snapshots], [true, 1, 1])
  await publishText(service, 'others', 'others.geojson', points(20))
  const second = await run(place, 'backup', target!, '--keep', '1')
  assert.deepEqual([second.snapshots, second.copied, second.removed], [2, 1, [first.backup]])
  const folder = temporaryFolder(t)
  assert.equal((await run(place, 'backup', folder)).copied, 2)
  const page = await service.request('GET', '/v1/ogc/collections/places/items?limit=300', { key })
  assert.equal((await runCommand(place, 'backup', settings.storageUrl!)).code, 2, 'its own bucket')
  const { snapshot } = await service.parts.catalog.find('places')
  await service.stop()

  const restored = { ...place, ...newBucketSettings(), dataDir: temporaryFolder(t) }
  const report = await run(restored, 'restore', target!)
  assert.deepEqual([report.snapshots, report.missing], [2, []])
  const copy = await openTestServer(t, { dataDir: restored.dataDir, settings: restored })
  const again = await copy.request('GET', '/v1/ogc/collections/places/items?limit=300', { key })
  assert.deepEqual(again.body.features, page.body.features)
  await copy.stop()
  // The bucket is in use now.
  const refused = await runCommand({ ...restored, dataDir: temporaryFolder(t) }, 'restore', target!, '--json')
  assert.equal(refused.code, 1)
  assert.match(refused.json.error, /is not empty/)
  // A damaged object is replaced by a restore over a bucket in use.
  const bucket = await openTestBucket(t, restored)
  const pack = snapshotKey(snapshot, 'features.pack')
  const bytes = await bucket.read(pack)
  const damaged = Buffer.from(bytes)
  damaged[7]! ^= 1
  await bucket.write(pack, damaged)
  await run({ ...restored, dataDir: temporaryFolder(t) }, 'restore', folder, '--force')
  assert.ok((await bucket.read(pack)).equals(bytes))

  const onFolder = { dataDir: temporaryFolder(t), databaseUrl: null, s3Endpoint: settings.s3Endpoint }
  await run(onFolder, 'restore', target!)
  const local = await openTestServer(t, { dataDir: onFolder.dataDir })
  assert.equal((await local.request('GET', '/v1/dataset/places')).body.rows, 300)
})

test('a folder is backed up to a bucket, damage in it is named, and it has one writer', async (t) => {
  const service = await openTestServer(t)
  await publishText(service, 'places', 'places.geojson', points(30))
  const settings = newBucketSettings()
  const { dataDir } = service.config
  const place = { dataDir, databaseUrl: null, s3Endpoint: settings.s3Endpoint }
  const target = settings.storageUrl!
  const made = await runCommand(place, 'backup', target, '--json')
  assert.deepEqual([made.code, made.json.copied], [0, 1], made.stderr)
  assert.deepEqual((await runCommand(place, 'backup', target, '--json')).json.copied, 0)
  const bucket = await openTestBucket(t, settings)
  await bucket.write('backup.lock', Buffer.from(JSON.stringify({ id: 'other', at: Date.now() })))
  const locked = await runCommand(place, 'backup', target, '--json')
  assert.deepEqual([locked.code, /Another backup/.test(locked.json.error)], [1, true])
  await bucket.delete(['backup.lock'])
  const { snapshot } = await service.parts.catalog.find('places')
  const pack = snapshotKey(snapshot, 'features.pack')
  const bytes = await bucket.read(pack)
  bytes[5]! ^= 1
  await bucket.write(pack, bytes)
  const verified = await runCommand(place, 'restore', target, '--verify', '--json')
  assert.equal(verified.code, 1)
  assert.match(verified.json.findings[0].message, /features\.pack has another checksum/)
  const empty = { ...place, dataDir: temporaryFolder(t) }
  const refused = await runCommand(empty, 'restore', target, '--json')
  assert.deepEqual([refused.code, /damaged.*features\.pack/s.test(refused.json.error)], [1, true])
})
