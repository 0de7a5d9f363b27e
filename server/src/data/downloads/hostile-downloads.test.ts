import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, readlinkSync, truncateSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { openAccount, readAccountLedger } from '../../testing/account.ts'
import { points, publishText } from '../../testing/publish.ts'
import { openTestServer, type TestServer } from '../../testing/test-server.ts'
import { until } from '../../testing/until.ts'

/** The snapshot files that this process holds open. */
function openFiles({ config }: TestServer): string[] {
  return readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${name}`)
      return path.startsWith(join(config.dataDir, 'snapshots')) ? [path] : []
    } catch {
      return []
    }
  })
}

async function open(t: Parameters<typeof openTestServer>[0], count: number) {
  const service = await openTestServer(t)
  await publishText(service, 'places', 'places.geojson', points(count))
  const account = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 10 })
  const ask = (format: string) => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    socket.write(
      `GET /v1/dataset/places/files/${format} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${account.key}\r\n\r\n`,
    )
    return socket
  }
  return { service, account, ask }
}

test('a reader that leaves, while the file is made or midway, leaves no file open', async (t) => {
  const { service, account, ask } = await open(t, 50_000)
  const early = ask('csv')
  await until('the payment', async () => (await readAccountLedger(service, account)).balance === 9)
  early.destroy()
  const exports = () => readdirSync(join(service.config.dataDir, 'snapshots'), { recursive: true })
  await until('the file', () => exports().some((name) => String(name).endsWith('places.csv.meta.json')))
  const midway = ask('geojson')
  await once(midway, 'readable')
  midway.destroy()
  await until('the closing of the files', () => openFiles(service).length === 0)
  const downloads = service.logLines.map((line) => JSON.parse(line)).filter(({ path }) => /files/.test(path))
  assert.deepEqual(
    downloads.map(({ path, status, brokenOff }) => [path.slice(-7), status, brokenOff]),
    [
      ['les/csv', 499, true],
      ['geojson', 200, true],
    ],
  )
})

test('a file that is damaged while it is sent is refunded, and the response is cut short', async (t) => {
  const { service, account, ask } = await open(t, 100_000)
  const socket = ask('json')
  // The response has begun, so the file is now open for sending, no longer for building or verification.
  await once(socket, 'readable')
  truncateSync(openFiles(service).find((path) => path.endsWith('places.json'))!, 1000)
  let bytes = 0
  socket.on('data', (data: Buffer) => {
    bytes += data.length
  })
  socket.on('error', () => {}).resume()
  await once(socket, 'close')
  assert.ok(bytes > 0)
  await until('the refund', async () => (await readAccountLedger(service, account)).balance === 10)
  await until('the closing of the files', () => openFiles(service).length === 0)
  const { rows } = await readAccountLedger(service, account)
  assert.deepEqual(
    rows.map((row) => row.kind),
    ['correction', 'download', 'refund'],
  )
})

test('a missing key is reported before anything else', async (t) => {
  const { service } = await open(t, 10)
  for (const path of ['/v1/dataset/places/files/csv', '/v1/dataset/nowhere/archives/x/files/y']) {
    assert.equal((await service.request('GET', `${path}?unknown=1`)).status, 401)
  }
})
