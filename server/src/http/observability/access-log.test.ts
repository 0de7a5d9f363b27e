import assert from 'node:assert/strict'
import { copyFileSync, readFileSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openAccount } from '../../testing/account.ts'
import { points, publishText } from '../../testing/publish.ts'
import { openTestServer, temporaryFolder } from '../../testing/test-server.ts'
import { until } from '../../testing/until.ts'
import { commonLogLine } from './access-log.ts'

/** The common log format of Apache: `%h %l %u %t "%r" %>s %b`. */
const LINE =
  /^(\S+) - (\S+) \[(\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000)\] "([A-Z]+ \S+ HTTP\/1\.1)" (\d{3}) (\d+|-)$/

async function linesOf(file: string, count: number): Promise<string[]> {
  for (;;) {
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
    if (lines.length >= count) return lines
    await sleep(20)
  }
}

test('each request is a line in the common log format, and the file can be rotated while the service runs', async (t) => {
  const file = join(temporaryFolder(t), 'logs', 'access.log')
  const service = await openTestServer(t, { settings: { accessLog: file, keyInUrl: true } })
  await publishText(service, 'places', 'places.geojson', points(10))
  const account = await openAccount(service, 'ada@example.org', { addOns: ['GIS_ACCESS'] })
  const { keyId: id, key: secret } = account
  const items = '/v1/ogc/collections/places/items'
  await service.request('GET', items, { key: secret })
  // In memory by now, so that the other transport sends it.
  const page = await service.request('GET', `${items}?limit=3&api_key=${secret}`)
  assert.equal(page.status, 200)
  await service.request('GET', '/no%22where')
  // Lines are written after the responses, and one that is late would be the first of the new file.
  await until('the line of the last request', () => readFileSync(file, 'utf8').includes('/no%22where'))
  const lines = await linesOf(file, 6)
  for (const line of lines) assert.match(line, LINE)
  const inMemory = lines.findLast((line) => line.includes(items))!
  const [, address, user, , request, status, bytes] = LINE.exec(inMemory)!
  assert.deepEqual([address, user, request, status], ['127.0.0.1', id, `GET ${items} HTTP/1.1`, '200'])
  assert.equal(Number(bytes), Number(page.headers.get('content-length')))
  assert.ok(!lines.join().includes(secret))

  // What logrotate does with `copytruncate`.
  copyFileSync(file, `${file}.1`)
  truncateSync(file)
  const health = await service.request('GET', '/health')
  await service.request('HEAD', '/health')
  const [afterRotation, withoutBody] = await linesOf(file, 2)
  assert.match(afterRotation!, LINE)
  assert.ok(afterRotation!.endsWith(`"GET /health HTTP/1.1" 200 ${health.text.length}`), afterRotation)
  assert.ok(withoutBody!.endsWith('"HEAD /health HTTP/1.1" 200 -'), withoutBody)
})

test('a path cannot forge a line', () => {
  const request = {
    id: '1',
    method: 'GET',
    path: '/a" 200 1\n127.0.0.1 é\\',
    status: 404,
    milliseconds: 1,
    address: undefined,
    httpVersion: '1.1',
    bytes: null,
  }
  const line = commonLogLine(request, new Date('2026-11-16T03:32:00Z'))
  assert.equal(
    line,
    '- - - [16/Nov/2026:03:32:00 +0000] "GET /a\\" 200 1\\x0a127.0.0.1 \\xc3\\xa9\\\\ HTTP/1.1" 404 -\n',
  )
})
