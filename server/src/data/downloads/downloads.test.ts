import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { DAY, HOUR, plus } from '../../base/clock.ts'
import { createKey, openAccount, readAccountLedger } from '../../testing/account.ts'
import { getBytes as get } from '../../testing/get-bytes.ts'
import { points, publishText } from '../../testing/publish.ts'
import { databaseKinds, openTestServer, type TestServer } from '../../testing/test-server.ts'

const FORMATS: [format: string, mediaType: string, extension: string, start: string][] = [
  ['csv', 'text/csv; charset=utf-8', 'csv', 'number,name,half,longitude,latitude'],
  ['json', 'application/json', 'json', '['],
  ['geojson', 'application/geo+json', 'geojson', '{"type":"FeatureCollection"'],
  ['kml', 'application/vnd.google-earth.kml+xml', 'kml', '<?xml'],
  ['shp', 'application/zip', 'shp.zip', 'PK'],
  ['geoparquet', 'application/vnd.apache.parquet', 'parquet', 'PAR1'],
  ['gpkg', 'application/geopackage+sqlite3', 'gpkg', 'SQLite format 3'],
  ['fgb', 'application/vnd.flatgeobuf', 'fgb', 'fgb'],
]

/** The checksum of GeoJSON is computed in the background, so this polls until it is available. */
async function digestOf(service: TestServer, path: string, key: string): Promise<string> {
  for (;;) {
    const { headers } = await get(service, path, key, {}, 'HEAD')
    const digest = headers.get('repr-digest')
    if (digest) return digest
    await sleep(10)
  }
}

test('every format is sent whole, named and typed, and each costs the price once', async (t) => {
  const service = await openTestServer(t)
  await publishText(service, 'places', 'places.geojson', points(50), { description: { credits: 3 } })
  const account = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 100 })
  let left = 100
  for (const [format, mediaType, extension, start] of FORMATS) {
    const answer = await get(service, `/v1/dataset/places/files/${format}`, account.key)
    left -= 3
    assert.equal(answer.status, 200, format)
    assert.equal(answer.headers.get('content-type'), mediaType)
    assert.equal(answer.headers.get('content-disposition'), `attachment; filename="places.${extension}"`)
    assert.equal(Number(answer.headers.get('content-length')), answer.bytes.length)
    assert.equal(answer.headers.get('credits-charged'), '3')
    assert.equal(answer.headers.get('credits-remaining'), String(left))
    assert.ok(answer.bytes.toString('latin1').startsWith(start), `${format} begins with ${start}`)
    const again = await get(service, `/v1/dataset/places/files/${format}`, account.key)
    assert.deepEqual(
      [again.headers.get('credits-charged'), again.headers.get('etag')],
      ['0', answer.headers.get('etag')],
    )
    assert.ok(again.bytes.equals(answer.bytes))
    const digest = (await digestOf(service, `/v1/dataset/places/files/${format}`, account.key)).slice(9, -1)
    assert.equal(
      digest,
      createHash('sha256').update(answer.bytes).digest('base64'),
      `${format}’s Repr-Digest`,
    )
  }
  await service.parts.meter.flush()
  const usage = (
    await service.request('GET', `/v1/api-keys/${account.keyId}/usage`, { token: account.token })
  ).body
  assert.deepEqual(usage.totals, { calls: 16, credits: 24 })
  for (const [format] of FORMATS) {
    const row = usage.operations.find((one: { format: string }) => one.format === format)
    assert.deepEqual(row, { operation: 'download', table: 'places', format, calls: 2, credits: 3 })
  }
})

test('a caller without the right gets the reason, and nothing is charged', async (t) => {
  const service = await openTestServer(t, { settings: { contactUrl: 'https://example.org/ask' } })
  await publishText(service, 'places', 'places.geojson', points(3))
  await publishText(service, 'others', 'others.geojson', points(3))
  const path = '/v1/dataset/places/files/csv'
  assert.equal((await service.request('GET', path)).body.code, 'key-missing')
  assert.equal((await service.request('GET', path, { key: 'svc_live_x' })).body.code, 'key-invalid')
  const none = await openAccount(service, 'none@example.org', { credits: 5 })
  const refused = await service.request('GET', path, { key: none.key })
  assert.deepEqual(
    [refused.status, refused.body.code, refused.body.addOn],
    [403, 'add-on-missing', 'API_ACCESS'],
  )
  assert.equal(refused.body.contact, 'https://example.org/ask')
  const gis = await openAccount(service, 'gis@example.org', {
    addOns: ['GIS_ACCESS', 'ARCHIVED_DATA'],
    credits: 5,
  })
  assert.equal((await service.request('GET', path, { key: gis.key })).body.code, 'add-on-missing')
  const narrow = await openAccount(service, 'narrow@example.org', {
    addOns: ['API_ACCESS'],
    credits: 5,
    permissions: ['read:others'],
  })
  const lacking = await service.request('GET', path, { key: narrow.key })
  assert.deepEqual([lacking.status, lacking.body.code], [403, 'permission-missing'])
  assert.match(lacking.body.detail, /"read".*"places"/)
  assert.equal(
    (await service.request('GET', '/v1/dataset/others/files/csv', { key: narrow.key })).status,
    200,
  )
  const writer = await createKey(service, narrow, ['write'])
  assert.equal((await service.request('GET', path, { key: writer.secret })).status, 403)
  const poor = await openAccount(service, 'poor@example.org', { addOns: ['API_ACCESS'] })
  const unpaid = await service.request('GET', path, { key: poor.key })
  assert.deepEqual([unpaid.status, unpaid.body.code, unpaid.body.price], [402, 'credits-exhausted', 1])
  for (const unknown of [
    '/v1/dataset/places/files/xls',
    '/v1/dataset/nowhere/files/csv',
    '/v1/dataset/PLACES/files/csv',
  ]) {
    assert.equal((await service.request('GET', unknown, { key: narrow.key })).status, 404, unknown)
  }
  for (const account of [none, gis]) assert.equal((await readAccountLedger(service, account)).balance, 5)
})

for (const database of databaseKinds) {
  test(`30 keys racing for 3 credits: three responses of 200 and a balance of 0, on ${database}`, async (t) => {
    const service = await openTestServer(t, { database })
    await publishText(service, 'places', 'places.geojson', points(20))
    const account = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 3 })
    const keys = await Promise.all(
      Array.from({ length: 30 }, () => createKey(service, account, ['read'], 'organization')),
    )
    const answers = await Promise.all(
      keys.map(({ secret }) => get(service, '/v1/dataset/places/files/json', secret)),
    )
    const count = (status: number) => answers.filter((answer) => answer.status === status).length
    assert.deepEqual([count(200), count(402)], [3, 27])
    const { balance, rows } = await readAccountLedger(service, account)
    assert.equal(balance, 0)
    assert.deepEqual(
      rows.map((row) => row.amount),
      [3, -1, -1, -1],
    )
  })

  test(`one key asking twenty times at once pays once, on ${database}`, async (t) => {
    const service = await openTestServer(t, { database })
    await publishText(service, 'places', 'places.geojson', points(20))
    const account = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 10 })
    const path = '/v1/dataset/places/files/geojson'
    const answers = await Promise.all(Array.from({ length: 20 }, () => get(service, path, account.key)))
    assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([200]))
    assert.equal((await readAccountLedger(service, account)).balance, 9)
  })
}

test('a price above what the caller allows is not charged, and what is paid costs nothing', async (t) => {
  const service = await openTestServer(t)
  await publishText(service, 'places', 'places.geojson', points(5), { description: { credits: 3 } })
  const account = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 10 })
  const ask = (max: string, more: Record<string, string> = {}) =>
    service.request('GET', '/v1/dataset/places/files/csv', {
      key: account.key,
      headers: { 'credits-max': max, ...more },
    })
  for (const conditions of [undefined, { range: 'bytes=0-0' }]) {
    const refused = await ask('2', conditions)
    assert.deepEqual([refused.status, refused.body.code], [402, 'price-higher'])
  }
  assert.equal((await readAccountLedger(service, account)).balance, 10)
  assert.equal((await ask('3')).headers.get('credits-charged'), '3')
  assert.equal((await ask('0')).headers.get('credits-charged'), '0')
  assert.equal((await ask('few')).status, 400)
})

test('the right to fetch again ends after 24 hours, and with a new version', async (t) => {
  let now = new Date('2026-03-01T12:00:00Z')
  const service = await openTestServer(t, { clock: () => now })
  await publishText(service, 'places', 'places.geojson', points(5))
  const account = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 10 })
  const charged = async () =>
    (await get(service, '/v1/dataset/places/files/csv', account.key)).headers.get('credits-charged')
  assert.deepEqual([await charged(), await charged()], ['1', '0'])
  now = plus(now, DAY - HOUR)
  assert.equal(await charged(), '0')
  now = plus(now, HOUR + 1)
  assert.deepEqual([await charged(), await charged()], ['1', '0'])
  await publishText(service, 'places', 'places.geojson', points(6))
  assert.deepEqual([await charged(), await charged()], ['1', '0'])
})

test('a client that breaks off and resumes pays once and gets identical bytes', async (t) => {
  const service = await openTestServer(t)
  await publishText(service, 'places', 'places.geojson', points(20_000))
  const account = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 10 })
  const path = '/v1/dataset/places/files/geojson'
  const abort = new AbortController()
  const headers = { 'x-api-key': account.key, 'accept-encoding': 'identity' }
  const response = await fetch(service.url + path, { headers, signal: abort.signal })
  const etag = response.headers.get('etag')!
  const { value } = await response.body!.getReader().read()
  const begun = Buffer.from(value!)
  abort.abort()
  const rest = await get(service, path, account.key, { range: `bytes=${begun.length}-`, 'if-range': etag })
  assert.equal(rest.status, 206)
  assert.equal(rest.headers.get('credits-charged'), '0')
  const whole = await get(service, path, account.key)
  assert.ok(Buffer.concat([begun, rest.bytes]).equals(whole.bytes))
  assert.equal((await readAccountLedger(service, account)).balance, 9)
})

test('a stored variant is sent to clients that accept it, with its own ETag', async (t) => {
  const service = await openTestServer(t)
  await publishText(service, 'places', 'places.geojson', points(300))
  const account = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 10 })
  for (const format of ['csv', 'geojson', 'kml']) {
    const path = `/v1/dataset/places/files/${format}`
    const plain = await get(service, path, account.key)
    const unpack = { gzip: gunzipSync, zstd: zstdDecompressSync }
    for (const encoding of ['gzip', 'zstd'] as const) {
      // Uses `node:http`, which does not decompress the body as `fetch` does.
      const { request } = await import('node:http')
      const packed = await new Promise<{ bytes: Buffer; headers: NodeJS.Dict<string | string[]> }>(
        (resolve, reject) => {
          const headers = { 'x-api-key': account.key, 'accept-encoding': `${encoding}, identity;q=0.5` }
          request(service.url + path, { headers }, async (response) => {
            resolve({ bytes: Buffer.concat(await response.toArray()), headers: response.headers })
          })
            .on('error', reject)
            .end()
        },
      )
      assert.equal(packed.headers['content-encoding'], encoding)
      assert.equal(packed.headers['vary'], 'Accept-Encoding')
      assert.notEqual(packed.headers['etag'], plain.headers.get('etag'))
      assert.ok(packed.bytes.length < plain.bytes.length)
      assert.ok(unpack[encoding](packed.bytes).equals(plain.bytes), `${format} as ${encoding}`)
    }
  }
  assert.equal(
    (await readAccountLedger(service, account)).balance,
    7,
    'encodings of one format are one purchase',
  )
})

test('a failed build is refunded, reported to all waiting callers, and tried again', async (t) => {
  const service = await openTestServer(t, { childProcesses: true })
  await publishText(service, 'places', 'places.geojson', points(50))
  const account = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 10 })
  const other = await createKey(service, account, ['read'])
  const path = '/v1/dataset/places/files/kml'
  // The build process inherits an option that Node rejects, and exits without a result.
  const { NODE_OPTIONS: nodeOptions } = process.env
  const restore = () => {
    if (nodeOptions === undefined) delete process.env['NODE_OPTIONS']
    else process.env['NODE_OPTIONS'] = nodeOptions
  }
  t.after(restore)
  process.env['NODE_OPTIONS'] = '--no-such-option'
  const answers = await Promise.all(
    [account.key, other.secret].map((key) => service.request('GET', path, { key })),
  )
  for (const answer of answers) {
    assert.deepEqual([answer.status, answer.body.code], [500, 'build-failed'])
    assert.doesNotMatch(answer.text, /no-such-option/)
  }
  const after = await readAccountLedger(service, account)
  assert.equal(after.balance, 10)
  assert.deepEqual(
    after.rows
      .slice(1)
      .map((row) => row.kind)
      .sort(),
    ['download', 'download', 'refund', 'refund'],
  )
  restore()
  const retried = await get(service, path, account.key)
  assert.deepEqual([retried.status, retried.headers.get('credits-charged')], [200, '1'])
  await service.parts.meter.flush()
  const usage = (
    await service.request('GET', `/v1/api-keys/${account.keyId}/usage`, { token: account.token })
  ).body
  assert.equal(usage.totals.credits, 1)
})

test('archives need ARCHIVED_DATA alone, and each version keeps its own bytes in every format', async (t) => {
  const service = await openTestServer(t)
  const counts = [3, 5, 8]
  for (const count of counts) await publishText(service, 'places', 'places.geojson', points(count))
  const account = await openAccount(service, 'ada@example.org', { addOns: ['ARCHIVED_DATA'], credits: 100 })
  const list = (await service.request('GET', '/v1/dataset/places/archives')).body.data
  assert.deepEqual(
    list.map((one: { version: number }) => one.version),
    [3, 2, 1],
  )
  assert.deepEqual(
    list.map((one: { rows: number }) => one.rows),
    [8, 5, 3],
  )
  assert.deepEqual(
    list.map((one: { current: boolean }) => one.current),
    [true, false, false],
  )
  for (const [index, count] of counts.entries()) {
    const path = `/v1/dataset/places/archives/${index + 1}/files`
    const rows = JSON.parse((await get(service, `${path}/json`, account.key)).bytes.toString())
    assert.equal(rows.length, count)
    for (const [format, mediaType] of FORMATS) {
      const answer = await get(service, `${path}/${format}`, account.key)
      assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, mediaType], format)
      assert.match(answer.headers.get('content-disposition')!, new RegExp(`"places-v${index + 1}\\.`))
    }
  }
  assert.equal((await readAccountLedger(service, account)).balance, 100 - 3 * FORMATS.length)
  assert.equal(
    (await service.request('GET', '/v1/dataset/places/files/csv', { key: account.key })).status,
    403,
  )
  const api = await openAccount(service, 'api@example.org', {
    addOns: ['API_ACCESS', 'GIS_ACCESS'],
    credits: 5,
  })
  const refused = await service.request('GET', '/v1/dataset/places/archives/1/files/csv', { key: api.key })
  assert.deepEqual([refused.status, refused.body.addOn], [403, 'ARCHIVED_DATA'])
  for (const version of ['0', '4', '01', 'x', '-1', '1e0']) {
    const unknown = `/v1/dataset/places/archives/${version}/files/csv`
    assert.equal((await service.request('GET', unknown, { key: account.key })).status, 404, version)
  }
})

test('a damaged file is noticed by its checksum after a start, and built anew', async (t) => {
  const first = await openTestServer(t)
  await publishText(first, 'places', 'places.geojson', points(50))
  const { secret } = await first.parts.keys.createPlatform(
    { actor: 'operator', address: null, requestId: null },
    { name: 'p', permissions: ['read'] },
  )
  const good = await get(first, '/v1/dataset/places/files/csv', secret)
  await first.stop()
  const { writeFileSync } = await import('node:fs')
  const snapshots = join(first.config.dataDir, 'snapshots')
  const file = join(snapshots, readdirSync(snapshots)[0]!, 'exports', 'places.csv')
  writeFileSync(file, Buffer.alloc(good.bytes.length, 'x'))
  const second = await openTestServer(t, { dataDir: first.config.dataDir })
  assert.ok((await get(second, '/v1/dataset/places/files/csv', secret)).bytes.equals(good.bytes))
})
