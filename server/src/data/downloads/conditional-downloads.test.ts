import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openAccount, readAccountLedger } from '../../testing/account.ts'
import { getBytes as get } from '../../testing/get-bytes.ts'
import { points, publishText } from '../../testing/publish.ts'
import { openTestServer } from '../../testing/test-server.ts'

test('ranges, conditions and HEAD follow RFC 9110, and responses without a body are free', async (t) => {
  const service = await openTestServer(t)
  await publishText(service, 'places', 'places.geojson', points(200))
  const account = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 1 })
  for (const format of ['csv', 'geojson']) {
    await service.parts.ledger.setCredits(
      { actor: 'operator', address: null, requestId: null },
      account.organizationId,
      1,
    )
    const path = `/v1/dataset/places/files/${format}`
    const head = await get(service, path, account.key, {}, 'HEAD')
    const etag = head.headers.get('etag')!
    const size = Number(head.headers.get('content-length'))
    assert.deepEqual([head.status, head.headers.get('accept-ranges'), head.bytes.length], [200, 'bytes', 0])
    const cached = await get(service, path, account.key, { 'if-none-match': `"x", W/${etag}` })
    assert.deepEqual([cached.status, cached.bytes.length], [304, 0])
    const lastModified = head.headers.get('last-modified')!
    const unchanged = await get(service, path, account.key, { 'if-modified-since': lastModified })
    assert.deepEqual([unchanged.status, unchanged.headers.get('etag')], [304, etag])
    const beyond = await get(service, path, account.key, { range: `bytes=${size}-` })
    assert.deepEqual([beyond.status, beyond.headers.get('content-range')], [416, `bytes */${size}`])
    assert.equal((await readAccountLedger(service, account)).balance, 1, 'HEAD, 304 and 416 are free')

    const whole = (await get(service, path, account.key)).bytes
    assert.equal(whole.length, size)
    const slices: [string, number, number][] = [
      ['bytes=0-0', 0, 1],
      ['bytes=5-20', 5, 21],
      [`bytes=${size - 3}-`, size - 3, size],
      ['bytes=-7', size - 7, size],
      [`bytes=10-${size * 2}`, 10, size],
    ]
    for (const [range, start, end] of slices) {
      const part = await get(service, path, account.key, { range })
      assert.equal(part.status, 206, range)
      assert.equal(part.headers.get('content-range'), `bytes ${start}-${end - 1}/${size}`)
      assert.ok(part.bytes.equals(whole.subarray(start, end)), range)
    }
    for (const ignored of ['bytes=9-2', 'bytes=0-1,5-6', 'rows=0-1', 'bytes=-', 'bytes=a-b']) {
      assert.equal((await get(service, path, account.key, { range: ignored })).status, 200, ignored)
    }
    const stale = await get(service, path, account.key, { range: 'bytes=0-3', 'if-range': '"other"' })
    assert.deepEqual([stale.status, stale.bytes.length], [200, size])
    const dated = { range: 'bytes=0-3', 'if-range': lastModified }
    assert.equal((await get(service, path, account.key, dated)).status, 206)
    const later = new Date(Date.parse(lastModified) + 86_400_000).toUTCString()
    const conditions: Record<string, string>[] = [
      { 'if-modified-since': later },
      { 'if-modified-since': 'yesterday' },
      { 'if-modified-since': lastModified, 'if-none-match': '"other"' },
    ]
    for (const headers of conditions)
      assert.equal((await get(service, path, account.key, headers)).status, 200, JSON.stringify(headers))
    assert.equal((await readAccountLedger(service, account)).balance, 0)
  }
})

test('nothing is built for a caller who cannot pay, by HEAD, a condition or a range', async (t) => {
  const service = await openTestServer(t)
  await publishText(service, 'places', 'places.geojson', points(20))
  const poor = await openAccount(service, 'poor@example.org', { addOns: ['API_ACCESS'] })
  const rich = await openAccount(service, 'rich@example.org', { addOns: ['API_ACCESS'], credits: 1 })
  const snapshots = join(service.config.dataDir, 'snapshots')
  const built = () =>
    readdirSync(snapshots, { recursive: true }).filter((name) => String(name).includes('places.csv'))
  const path = '/v1/dataset/places/files/csv'
  const head = await get(service, path, poor.key, { 'accept-encoding': 'gzip' }, 'HEAD')
  assert.deepEqual(
    ['content-type', 'content-encoding', 'content-length', 'etag'].map((name) => head.headers.get(name)),
    ['text/csv; charset=utf-8', 'gzip', null, null],
  )
  assert.equal(head.status, 200)
  const unpaid: Record<string, string>[] = [
    { range: 'bytes=0-' },
    { range: 'bytes=0-0' },
    { range: 'bytes=-1', 'if-range': '"x"' },
    { 'if-none-match': '"x"' },
    { 'if-none-match': '*' },
    { 'if-modified-since': new Date(0).toUTCString() },
  ]
  for (const headers of unpaid) assert.equal((await get(service, path, poor.key, headers)).status, 402)
  const dated = { 'if-modified-since': head.headers.get('last-modified')! }
  assert.equal((await get(service, path, poor.key, dated)).status, 304)
  assert.deepEqual(built(), [])
  const whole = await get(service, path, rich.key, {}, 'HEAD')
  assert.deepEqual([whole.status, whole.headers.get('credits-charged')], [200, null])
  assert.ok(Number(whole.headers.get('content-length')) > 100)
  const paid = await get(service, path, rich.key, { range: 'bytes=0-0' })
  assert.deepEqual([paid.status, paid.headers.get('credits-charged'), paid.bytes.length], [206, '1', 1])
  assert.equal(whole.headers.get('etag'), paid.headers.get('etag'))
  assert.ok((await get(service, path, poor.key, {}, 'HEAD')).headers.get('content-length'))
  for (const headers of unpaid.slice(0, 4)) {
    const answer = await get(service, path, poor.key, headers)
    assert.deepEqual([answer.status, answer.headers.get('content-range')], [402, null])
  }
})
