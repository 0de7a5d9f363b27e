import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readlinkSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { openAccount } from '../../testing/account.ts'
import { cleanUp } from '../../testing/cleanup.ts'
import { startServerProcess } from '../../testing/processes/server-process.ts'
import { points, publishText } from '../../testing/publish.ts'
import { openTestServer, temporaryFolder } from '../../testing/test-server.ts'

needs('processes')

const READERS = 200
const MAX_A_READER = 32 * 1024

/** Stops reading once the response header has arrived. */
async function startReading(url: string, path: string, key: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`)
  await once(socket, 'readable')
  assert.match(String(socket.read(15)), /^HTTP\/1.1 200/)
  return socket
}

/** The memory of buffers only; the heap also contains garbage that is not collected yet. */
async function bufferBytes(url: string): Promise<number> {
  const figures = await (await fetch(`${url}/metrics`)).text()
  return Number(/^wayleave_nodejs_external_memory_bytes (\d+)/m.exec(figures)![1])
}

function openFilesOf(pid: number, name: string): number {
  const links = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`)
    } catch {
      return ''
    }
  })
  return links.filter((path) => path.endsWith(name)).length
}

test('stalled readers cost little memory and do not delay others', async (t) => {
  const dataDir = temporaryFolder(t)
  const first = await openTestServer(t, { dataDir })
  await publishText(first, 'places', 'places.geojson', points(80_000))
  const wishes = { addOns: ['API_ACCESS' as const, 'GIS_ACCESS' as const], credits: 10 }
  const { key } = await openAccount(first, 'ada@example.org', wishes)
  await first.stop()

  const { url, child } = await startServerProcess(t, dataDir)
  const pid = child.pid!
  const path = '/v1/dataset/places/files/geojson'
  const read = async () => {
    const response = await fetch(url + path, {
      headers: { 'x-api-key': key, 'accept-encoding': 'identity' },
    })
    const bytes = Buffer.from(await response.arrayBuffer())
    return createHash('sha256').update(bytes).digest('base64')
  }
  const firstItems = async () => {
    const path = '/v1/ogc/collections/places/items?limit=10'
    const response = await fetch(url + path, { headers: { 'x-api-key': key } })
    return ((await response.json()) as { features: unknown[] }).features.length
  }
  // Fills the pool with its large buffers, which are kept, before the memory is measured.
  const whole = await read()
  for (let i = 0; i < 3; i++) await Promise.all([read(), read(), read()])

  await firstItems()
  const own = openFilesOf(pid, 'features.pack')
  const before = await bufferBytes(url)
  const sockets: Socket[] = []
  cleanUp(t, () => {
    for (const socket of sockets) socket.destroy()
  })
  while (sockets.length < READERS) {
    sockets.push(...(await Promise.all(Array.from({ length: 50 }, () => startReading(url, path, key)))))
  }
  await sleep(1000)
  assert.equal(openFilesOf(pid, 'features.pack'), own + READERS, 'all of them are still being served')
  const grown = (await bufferBytes(url)) - before
  assert.ok(grown < READERS * MAX_A_READER, `${READERS} readers hold ${grown} bytes`)

  assert.equal((await fetch(`${url}/health`)).status, 200)
  assert.equal(await firstItems(), 10)
  assert.equal(await read(), whole)
})

test('a stalled reader is disconnected, whatever it was being sent, and everything is released', async (t) => {
  const service = await openTestServer(t, { settings: { readerPatience: 1 } })
  const text = 'x'.repeat(4000)
  const feature = (i: number) =>
    `{"type":"Feature","properties":{"text":"${text}"},"geometry":{"type":"Point","coordinates":[${i % 180},0]}}`
  const features = Array.from({ length: 5000 }, (_, i) => feature(i)).join(',')
  await publishText(
    service,
    'texts',
    'texts.geojson',
    `{"type":"FeatureCollection","features":[${features}]}`,
  )
  const wishes = { addOns: ['API_ACCESS' as const, 'GIS_ACCESS' as const], credits: 10 }
  const { key } = await openAccount(service, 'ada@example.org', wishes)
  const connections = () =>
    new Promise((resolve) => service.app.server.getConnections((_, count) => resolve(count)))
  for (const path of ['/v1/ogc/collections/texts/items?limit=10000', '/v1/dataset/texts/files/geojson']) {
    service.app.server.closeIdleConnections()
    const before = openFilesOf(process.pid, 'features.pack')
    const reader = await startReading(service.url, path, key)
    cleanUp(t, () => reader.destroy())
    while ((await connections()) !== 0) await sleep(20)
    while (openFilesOf(process.pid, 'features.pack') > Math.max(before, 1)) await sleep(20)
  }
  assert.equal((await fetch(`${service.url}/health`)).status, 200)
})
