import assert from 'node:assert/strict'
import { existsSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { exportFormatsOf } from '@wayleave/geodata/exports'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { operator } from '../../base/events/events.ts'
import { openAccount, readAccountLedger } from '../../testing/account.ts'
import { emptyFiles, flipBit, snapshotFolder } from '../../testing/damage-files.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { points, publishText } from '../../testing/publish.ts'
import { openTestServer, type TestServer, temporaryFolder } from '../../testing/test-server.ts'
import { VERIFICATION_AGE } from './background-verification.ts'
import { stampOf } from './file-stamp.ts'

const ALL = { addOns: ['API_ACCESS', 'GIS_ACCESS', 'ARCHIVED_DATA'] as const, credits: 1000 }
const SQUARE = {
  type: 'Polygon',
  coordinates: [
    [
      [0, 0],
      [1, 0],
      [1, 1],
      [0, 1],
      [0, 0],
    ],
  ],
}
const squares = JSON.stringify({
  type: 'FeatureCollection',
  features: Array.from({ length: 20 }, (_, i) => ({
    type: 'Feature',
    properties: { number: i, name: `Square ${i}`, half: i / 2 },
    geometry: SQUARE,
  })),
})

const openAll = (service: TestServer) =>
  openAccount(service, 'ada@example.org', { ...ALL, addOns: [...ALL.addOns] })

async function damagedVersions(service: TestServer, table: string): Promise<number> {
  const { text } = await service.request('GET', '/metrics')
  const row = new RegExp(`^wayleave_damaged_versions\\{table="${table}"\\} (\\d+)$`, 'm').exec(text)
  return row ? Number(row[1]) : 0
}

const errorLines = (service: TestServer) =>
  service.logLines.filter((line) => (JSON.parse(line) as { level: number }).level >= 50).join('\n')

test('after a power cut emptied the current version, the newest whole one is served in its place, everywhere', async (t) => {
  const dataDir = temporaryFolder(t)
  const first = await openTestServer(t, { dataDir })
  for (const count of [30, 40, 50]) await publishText(first, 'places', 'places.geojson', points(count))
  const account = await openAll(first)
  const { key } = account
  const folder = await snapshotFolder(first, 'places')
  await first.stop()
  const restore = emptyFiles(folder)

  const second = await openTestServer(t, { dataDir })
  const get = (path: string) => second.request('GET', path, { key })
  // All versions are checked in the background, without a request for any of them.
  while ((await get('/v1/datasets')).body.data[0].version !== 2) await sleep(5)
  const metadata = (await get('/v1/dataset/places')).body
  assert.deepEqual([metadata.version, metadata.rows], [2, 40])
  assert.equal((await get('/v1/datasets')).body.data[0].version, 2)
  const archives = (await get('/v1/dataset/places/archives')).body.data
  assert.deepEqual(
    archives.map(({ version, current }: { version: number; current: boolean }) => [version, current]),
    [
      [3, false],
      [2, true],
      [1, false],
    ],
  )
  const page = await get('/v1/ogc/collections/places/items?limit=30')
  assert.deepEqual([page.status, page.body.numberMatched, page.body.features.length], [200, 40, 30])
  const next = page.body.links.find(({ rel }: { rel: string }) => rel === 'next').href as string
  const rest = await get(next.slice(second.url.length))
  assert.equal(rest.body.features.length, 10)
  assert.equal((await get('/v1/dataset/places/sample/json')).body.length, 4)
  const download = await get('/v1/dataset/places/files/geojson')
  assert.equal(download.body.features.length, 40)
  const archived = await get('/v1/dataset/places/archives/2/files/geojson')
  assert.equal(archived.headers.get('etag'), download.headers.get('etag'))

  const before = (await readAccountLedger(second, account)).rows.length
  const damaged = await get('/v1/dataset/places/archives/3/files/geojson')
  assert.deepEqual([damaged.status, damaged.body.code], [503, 'data-damaged'])
  assert.equal((await readAccountLedger(second, account)).rows.length, before, 'nothing was charged')
  assert.equal(await damagedVersions(second, 'places'), 1)
  assert.match(errorLines(second), /Version 3 of \\"places\\" is damaged.*manifest\.json is empty/)
  assert.match(errorLines(second), /Version 2 of \\"places\\" is served instead of the damaged version 3/)
  await second.stop()

  restore()
  const third = await openTestServer(t, { dataDir })
  assert.equal((await third.request('GET', '/v1/dataset/places')).body.version, 3)
  assert.equal((await third.request('GET', '/v1/dataset/places/sample/json')).body.length, 5)
  assert.equal(await damagedVersions(third, 'places'), 0)
})

test('a dataset without an undamaged version says so in its metadata, and its data is 503', async (t) => {
  const service = await openTestServer(t)
  await publishText(service, 'places', 'places.geojson', points(30))
  await publishText(service, 'others', 'others.geojson', points(20))
  const account = await openAll(service)
  const { snapshot } = (await service.parts.catalog.versions('places'))[0]!
  emptyFiles(await service.parts.blobs.localFolder(snapshot))
  const { body } = await service.request('GET', '/v1/datasets')
  assert.deepEqual(
    body.data.map(({ table }: { table: string }) => table),
    ['others', 'places'],
  )
  for (const path of [
    '/v1/ogc/collections/places/items',
    '/v1/ogc/collections/places/items/1',
    '/v1/ogc/collections/places/items?filter=number%3E3',
    '/v1/dataset/places/sample/json',
    '/v1/dataset/places/files/csv',
    '/v1/dataset/places/files/geojson',
    '/v1/dataset/places/files/geoparquet',
    '/v1/dataset/places/archives/1/files/kml',
  ]) {
    const answer = await service.request('GET', path, { key: account.key })
    assert.deepEqual([answer.status, answer.body.code], [503, 'data-damaged'], path)
    assert.equal(answer.headers.get('etag'), null, path)
  }
  assert.equal((await readAccountLedger(service, account)).balance, 1000)
  assert.equal(
    (await service.request('GET', '/v1/ogc/collections/others/items', { key: account.key })).status,
    200,
  )
})

/** A filter that compares two columns, which compiled columns cannot decide. */
function inDatabase(number: number): string {
  return encodeURIComponent(`number > half + ${number}`)
}

/**
 * For each file, a request that runs into the damage. `before` is requested while the file is still
 * undamaged.
 */
const CASES: { file: string; path: string; before?: string }[] = [
  { file: 'features.pack', path: '/v1/ogc/collections/T/items' },
  { file: 'features.pack', path: '/v1/ogc/collections/T/items/3' },
  { file: 'features.pack', path: '/v1/dataset/T/files/geojson' },
  { file: 'features.pack', path: '/v1/dataset/T/files/json' },
  { file: 'features.index', path: '/v1/ogc/collections/T/items' },
  { file: 'checksums.json', path: '/v1/ogc/collections/T/items' },
  { file: 'rows.columns', path: '/v1/ogc/collections/T/items?filter=number%3E3' },
  { file: 'rows.columns', path: '/v1/ogc/collections/T/items?sortby=number' },
  { file: 'rows.columns', path: '/v1/ogc/collections/T/facets?columns=number' },
  { file: 'rows.parquet', path: `/v1/ogc/collections/T/items?filter=${inDatabase(3)}` },
  {
    file: 'rows.parquet',
    before: `/v1/ogc/collections/T/items?filter=${inDatabase(3)}`,
    path: `/v1/ogc/collections/T/items?filter=${inDatabase(4)}`,
  },
  { file: 'rows.parquet', path: '/v1/ogc/collections/T/items?f=fgb' },
  { file: 'rows.parquet', path: '/v1/dataset/T/files/geoparquet' },
  {
    file: 'rows.parquet',
    before: '/v1/dataset/T/files/geoparquet',
    path: '/v1/dataset/T/files/geoparquet',
  },
  { file: 'points.parquet', path: '/v1/dataset/T/files/csv' },
  { file: 'sample.json', path: '/v1/dataset/T/sample/json' },
  { file: 'manifest.json', path: '/v1/ogc/collections/T/items' },
]

test('a flipped bit in any file is 503 for every request that reads it, names the file, and costs nothing', {
  skip: lacks('time'),
}, async (t) => {
  const service = await openTestServer(t)
  const account = await openAll(service)
  const { key } = account
  for (const [number, { file, path, before }] of CASES.entries()) {
    const table = `t${number}`
    const title = `${file} ${path}`
    await publishText(service, table, 'squares.geojson', squares)
    const named = (template: string) => template.replace('T', table)
    const version = (await service.parts.catalog.versions(table))[0]!
    const folder = await service.parts.blobs.localFolder(version.snapshot)
    if (before) assert.equal((await service.request('GET', named(before), { key })).status, 200, title)
    const { balance } = await readAccountLedger(service, account)
    flipBit(join(folder, file))
    // The later requests are refused because the damage is known, regardless of which file they need.
    for (const asked of [path, path, '/v1/ogc/collections/T/items?limit=1', '/v1/dataset/T/files/kml']) {
      const answer = await service.request('GET', named(asked), { key })
      assert.deepEqual([answer.status, answer.body?.code], [503, 'data-damaged'], `${title}: ${asked}`)
    }
    assert.equal((await readAccountLedger(service, account)).balance, balance, title)
    assert.equal(await damagedVersions(service, table), 1, title)
    const escaped = file.replace('.', '\\.')
    assert.match(errorLines(service), new RegExp(`"table":"${table}".*"file":"${escaped}"`), title)
  }
})

test('damage in a file that no request reads is found by the verification in the background', async (t) => {
  const service = await openTestServer(t)
  await publishText(service, 'squares', 'squares.geojson', squares)
  const { key } = await openAll(service)
  flipBit(join(await snapshotFolder(service, 'squares'), 'points.parquet'))
  const items = () => service.request('GET', '/v1/ogc/collections/squares/items', { key })
  assert.equal((await items()).status, 200)
  while ((await items()).status === 200) await sleep(20)
  assert.equal((await items()).body.code, 'data-damaged')
  assert.match(errorLines(service), /"file":"points\.parquet"/)
})

test('what was verified is not read again at the next start, until a file changes', async (t) => {
  const dataDir = temporaryFolder(t)
  const first = await openTestServer(t, { dataDir })
  await publishText(first, 'squares', 'squares.geojson', squares)
  const version = await first.parts.catalog.find('squares')
  const verified = await first.parts.verification.verify(version)
  assert.ok(verified?.geojsonDigest)
  const folder = await snapshotFolder(first, 'squares')
  await first.stop()
  const second = await openTestServer(t, { dataDir })
  assert.deepEqual(await second.parts.verification.verify(version), verified)
  await second.stop()
  flipBit(join(folder, 'points.parquet'))
  const third = await openTestServer(t, { dataDir })
  assert.equal(await third.parts.verification.verify(version), null)
  assert.match(errorLines(third), /"file":"points\.parquet"/)
})

test('a verification counts for a week, and then the files are read again', async (t) => {
  let now = new Date('2026-03-01T00:00:00Z')
  const service = await openTestServer(t, { clock: () => now })
  await publishText(service, 'squares', 'squares.geojson', squares)
  const { verification, catalog, health } = service.parts
  const version = await catalog.find('squares')
  const path = join(await snapshotFolder(service, 'squares'), 'features.pack')
  const stamp = stampOf(statSync(path))
  assert.ok(await verification.verify(version))
  now = new Date(now.getTime() + VERIFICATION_AGE - 1)
  assert.equal(verification.isVerified(path, stamp, version), true)
  assert.equal(verification.isVerified(path, `${stamp}1`, version), false)
  flipBit(path)
  now = new Date(now.getTime() + 1)
  assert.equal(verification.isVerified(path, stamp, version), false)
  assert.equal(await verification.verify(version), null)
  assert.deepEqual(
    [...health.damaged].map(({ file }) => file),
    ['features.pack'],
  )
})

test('a finished export is verified again after a week, and built again if it is damaged', async (t) => {
  let now = new Date('2026-03-01T00:00:00Z')
  const service = await openTestServer(t, { clock: () => now })
  await publishText(service, 'squares', 'squares.geojson', squares)
  const { exports, catalog } = service.parts
  const dataset = await catalog.find('squares')
  const format = exportFormatsOf(dataset.manifest).find((each) => each.format === 'csv')!
  const request = { dataset, version: dataset, format, encoding: 'identity' as const }
  const built = await exports.get(request)
  flipBit(join(await snapshotFolder(service, 'squares'), 'exports', 'squares.csv'))
  assert.equal(await exports.find(request), built)
  now = new Date(now.getTime() + VERIFICATION_AGE)
  assert.equal(exports.peek(request), undefined)
  assert.equal(await exports.find(request), undefined)
  assert.equal((await exports.get(request)).etag, built.etag)
})

test('the files of a version that was removed are not damage', async (t) => {
  const service = await openTestServer(t)
  await publishText(service, 'places', 'places.geojson', points(30))
  const { key } = await openAll(service)
  const version = await service.parts.catalog.find('places')
  await service.parts.publishing.unpublish('places', operator)
  await assert.rejects(
    service.parts.snapshots.use(version, () => {}),
    { code: 'not-found' },
  )
  assert.equal((await service.request('GET', '/v1/ogc/collections/places/items', { key })).status, 404)
  assert.equal(await damagedVersions(service, 'places'), 0)
  assert.doesNotMatch(errorLines(service), /damaged/)
})

test('a version is served again once a repair from a backup has told the server', async (t) => {
  const service = await openTestServer(t)
  await publishText(service, 'places', 'places.geojson', points(30))
  const { key } = await openAll(service)
  const backup = join(temporaryFolder(t), 'backup')
  assert.equal((await runCommand(service.config, 'backup', backup)).code, 0)
  const folder = await snapshotFolder(service, 'places')
  for (const file of ['features.pack', 'points.parquet', 'rows.parquet']) {
    if (existsSync(join(folder, file))) flipBit(join(folder, file))
  }
  const items = () => service.request('GET', '/v1/ogc/collections/places/items', { key })
  assert.equal((await items()).body.code, 'data-damaged')
  const repair = ['storage', 'check', '--repair', '--from', pathToFileURL(backup).href]
  const { code, stdout, stderr } = await runCommand(service.config, ...repair)
  assert.equal(code, 0, stdout + stderr)
  assert.equal((await items()).status, 200)
  assert.equal((await service.request('GET', '/v1/dataset/places/files/csv', { key })).status, 200)
  assert.equal(await damagedVersions(service, 'places'), 0)
})

test('a missing snapshot is replaced by the newest version that is there, and is served when it is back', async (t) => {
  const service = await openTestServer(t)
  for (const count of [30, 40]) await publishText(service, 'places', 'places.geojson', points(count))
  const { key } = await openAll(service)
  const folder = await service.parts.blobs.localFolder(
    (await service.parts.catalog.versions('places'))[0]!.snapshot,
  )
  renameSync(folder, `${folder}.away`)
  const items = async () =>
    (await service.request('GET', '/v1/ogc/collections/places/items?limit=100', { key })).body
  assert.equal((await items()).features.length, 30)
  const named = await service.request('GET', '/v1/dataset/places/archives/2/files/geojson', { key })
  assert.deepEqual([named.status, named.body.code], [503, 'storage-unavailable'])
  renameSync(`${folder}.away`, folder)
  await service.parts.health.lookAgain()
  assert.equal((await items()).features.length, 40)
})
