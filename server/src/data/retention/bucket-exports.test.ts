import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { exportFormatsOf } from '@wayleave/geodata/exports'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { DAY, HOUR, plus } from '../../base/clock.ts'
import { openAccount, readAccountLedger } from '../../testing/account.ts'
import { newBucketSettings, openTestBucket } from '../../testing/bucket.ts'
import { getBytes } from '../../testing/get-bytes.ts'
import { points, publishText } from '../../testing/publish.ts'
import { S3Proxy, s3Url } from '../../testing/s3-proxy.ts'
import { openTestServer, type TestServer, type TestSettings } from '../../testing/test-server.ts'
import { snapshotKey } from '../blobs/object-keys.ts'
import { Retention } from './retention.ts'

needs('s3', 'postgres')

const CSV = '/v1/dataset/places/files/csv'
const NAME = 'exports/places.csv'
/** The age at which retention removes an export. */
const OLD = 91 * DAY

async function openOnBucket(t: TestContext, options: TestSettings = {}) {
  const proxy = await S3Proxy.open(t)
  const settings = newBucketSettings(proxy.url)
  const service = await openTestServer(t, { ...options, settings: { ...settings, ...options.settings } })
  const bucket = await openTestBucket(t, { ...settings, s3Endpoint: s3Url() })
  await publishText(service, 'places', 'places.geojson', points(10_000))
  const account = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 10 })
  const { snapshot } = await service.parts.catalog.find('places')
  /** The kinds of the export's objects, and the key of the one with its bytes. */
  const stored = async () => {
    const prefix = snapshotKey(snapshot, `${NAME}.`)
    const kinds: string[] = []
    let dataKey = ''
    for await (const { key } of bucket.list(prefix)) {
      const suffix = key.slice(prefix.length)
      const isData = /^[0-9a-f]{16}$/.test(suffix)
      if (isData) dataKey = key
      kinds.push(isData ? 'data' : suffix.split(/[.-]/)[0]!)
    }
    return { kinds: kinds.sort(), dataKey }
  }
  return { service, proxy, settings, bucket, account, snapshot, stored }
}

/** Applies retention as if this much time had passed since now. Returns the number of removed exports. */
async function pruneAfter({ parts, config }: TestServer, passed: number, dryRun = false): Promise<number> {
  const clock = () => plus(new Date(), passed)
  const retention = new Retention({ db: parts.database.db, config, blobs: parts.blobs, clock })
  return (await retention.apply({ dryRun })).find(({ what }) => what === 'exports')!.removed
}

test('a redirected download of an export that was pruned or lost is built again, and paid once', async (t) => {
  const { service, account, proxy, bucket, snapshot, stored } = await openOnBucket(t, {
    settings: { downloads: 'redirect' },
  })
  const { key } = account
  const headers = { 'accept-encoding': 'identity' }
  const download = async () => {
    const redirect = await service.request('GET', CSV, { key, headers })
    assert.equal(redirect.status, 307, redirect.text)
    const file = await fetch(redirect.headers.get('location')!)
    return {
      status: file.status,
      bytes: (await file.arrayBuffer()).byteLength,
      charged: redirect.headers.get('credits-charged'),
    }
  }
  const first = await download()
  assert.deepEqual([first.status, first.charged], [200, '1'])
  // Not every download costs a request to the store.
  proxy.requests.length = 0
  for (let i = 0; i < 3; i++) await service.request('GET', CSV, { key, headers })
  assert.deepEqual(
    proxy.requests.filter((request) => request.includes(snapshot)),
    [],
  )
  await pruneAfter(service, OLD)
  await pruneAfter(service, OLD + 2 * DAY)
  assert.deepEqual((await stored()).kinds, [])
  assert.deepEqual(await download(), { ...first, charged: '0' })

  // Only the object with the bytes is lost.
  await bucket.delete([(await stored()).dataKey])
  service.parts.blobs.derived!.forget(snapshot, NAME)
  assert.deepEqual(await download(), { ...first, charged: '0' })
  assert.equal((await readAccountLedger(service, account)).balance, 9)
})

test('the bytes of a pruned export stay for a day, for downloads and addresses under way', async (t) => {
  const { service, settings, account, snapshot, stored } = await openOnBucket(t, { database: 'postgres' })
  const { bytes } = await getBytes(service, CSV, account.key)
  const other = await openTestServer(t, { databaseUrl: service.config.databaseUrl!, settings })
  const { open, signedAddress } = (await other.parts.blobs.derived!.find(snapshot, NAME))!
  const signed = { lifetime: 300, mediaType: 'text/csv', filename: 'places.csv', encoding: null }
  const address = (await signedAddress(signed))!
  const reader = open(false)
  await reader.read(Buffer.alloc(1), 0, 1, 0)

  assert.equal(await pruneAfter(service, OLD, true), 1)
  assert.deepEqual((await stored()).kinds, ['data', 'meta'])
  assert.equal(await pruneAfter(service, OLD), 1)
  assert.equal(await service.parts.blobs.derived!.find(snapshot, NAME), undefined)
  assert.equal(await pruneAfter(service, OLD + DAY - HOUR), 0)
  // Another node is sending the file, and a client follows its redirect late.
  const end = Buffer.alloc(10)
  await reader.read(end, 0, 10, bytes.length - 10)
  assert.ok(end.equals(bytes.subarray(-10)))
  assert.ok(Buffer.from(await (await fetch(address)).arrayBuffer()).equals(bytes))
  await pruneAfter(service, OLD + DAY + HOUR)
  assert.deepEqual((await stored()).kinds, [])
})

test('an export that is built again before its old bytes are deleted keeps them', async (t) => {
  const { service, settings, account, stored } = await openOnBucket(t, { database: 'postgres' })
  const other = await openTestServer(t, { databaseUrl: service.config.databaseUrl!, settings })
  const { bytes } = await getBytes(service, CSV, account.key)
  await pruneAfter(service, OLD)
  assert.deepEqual((await stored()).kinds, ['data', 'removed'])
  assert.ok((await getBytes(other, CSV, account.key)).bytes.equals(bytes))
  assert.deepEqual((await stored()).kinds, ['data', 'meta', 'removed'])
  // The export is newer than the limit now, but a day has passed since the first one was removed.
  const { parts, config } = service
  const clock = () => plus(new Date(), OLD + 2 * DAY)
  const long = { ...config, keepExportDays: 200 }
  await new Retention({ db: parts.database.db, config: long, blobs: parts.blobs, clock }).apply()
  assert.deepEqual((await stored()).kinds, ['data', 'meta'])
  for (const node of [service, other]) assert.ok((await getBytes(node, CSV, account.key)).bytes.equals(bytes))
})

test('a node that still knows a deleted export does not remove the one that was built in its place', async (t) => {
  const { service, settings, bucket, account, snapshot, stored } = await openOnBucket(t, {
    database: 'postgres',
  })
  await getBytes(service, CSV, account.key)
  const other = await openTestServer(t, { databaseUrl: service.config.databaseUrl!, settings })
  const stale = (await other.parts.blobs.derived!.find(snapshot, NAME))!
  // Another program version writes other bytes.
  const { dataKey } = await stored()
  await bucket.delete([dataKey])
  const metaKey = snapshotKey(snapshot, `${NAME}.meta.json`)
  const meta = JSON.parse((await bucket.read(metaKey)).toString()) as { sha256: string }
  const replaced = { ...meta, sha256: 'ab'.repeat(32) }
  await bucket.write(metaKey, Buffer.from(JSON.stringify(replaced)))
  const error: unknown = await stale
    .open(false)
    .read(Buffer.alloc(1), 0, 1, 0)
    .then(
      () => null,
      (reason: unknown) => reason,
    )
  const dataset = await other.parts.catalog.find('places')
  const format = exportFormatsOf(dataset.manifest).find((entry) => entry.format === 'csv')!
  const request = { dataset, version: dataset, format, encoding: 'identity' as const }
  assert.equal(await other.parts.exports.forgetDamaged(request, error), true)
  assert.ok(await bucket.head(metaKey))
})
