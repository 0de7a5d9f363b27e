import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { SourceError } from '@wayleave/geodata/compile'
import type { SourceKind } from '../source-address.ts'
import { serve } from '../sources.test-kit.ts'
import { fetchSource } from './fetch-source.ts'

const FAST = { totalMs: 60_000, idleMs: 200 }

function fetchAddress(t: TestContext, kind: SourceKind, address: string, limits = FAST) {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-fetch-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const { signal } = new AbortController()
  const options = { credentials: null, folder, maxBytes: 1e9, allowInternal: true, signal, limits }
  const config = { s3Endpoint: null, s3Region: 'eu', s3PathStyle: true }
  const request = { kind, address, ...(kind === 'postgres' && { sourceTable: 'places' }) }
  return fetchSource(request, options, { config, usesOwnCredentials: false })
}

const failsWith = (pattern: RegExp) => (error: unknown) =>
  error instanceof SourceError && pattern.test(error.message)
const TOO_LITTLE = failsWith(/less than 64 KB in 0\.2 seconds \(WAYLEAVE_SOURCE_IDLE_SECONDS\)/)

/** Writes again and again until the client has gone. */
function drip(response: ServerResponse, content: string): void {
  const timer = setInterval(() => response.write(content), 10)
  response.on('close', () => clearInterval(timer))
}

test('a server that never answers, or drips, does not hold a fetch', async (t) => {
  const silent = await serve(t, () => {})
  await assert.rejects(fetchAddress(t, 'file', `${silent}/a.csv`), TOO_LITTLE)
  const stalled = await serve(t, (_request, response) => void response.write('{'))
  await assert.rejects(fetchAddress(t, 'ogc', `${stalled}/collections/a`), TOO_LITTLE)
  const dripping = await serve(t, (_request, response) => drip(response, 'a'))
  await assert.rejects(fetchAddress(t, 'file', `${dripping}/a.csv`), TOO_LITTLE)
  await assert.rejects(fetchAddress(t, 'wfs', `${dripping}/wfs?typeNames=a`), TOO_LITTLE)
  const endless = await serve(t, (_request, response) => drip(response, 'a'.repeat(70_000)))
  const limits = { totalMs: 300, idleMs: 60_000 }
  const tooLong = failsWith(/not read completely within 0\.3 seconds \(WAYLEAVE_SOURCE_SECONDS\)/)
  await assert.rejects(fetchAddress(t, 'file', `${endless}/a.csv`, limits), tooLong)
})

test('pages that are too large are asked for with fewer features', async (t) => {
  const limits: number[] = []
  const url = await serve(t, (request, response) => {
    const { searchParams } = new URL(request.url!, 'http://localhost')
    const limit = Number(searchParams.get('limit'))
    const start = Number(searchParams.get('start') ?? 0)
    limits.push(limit)
    const features = Array.from({ length: Math.min(limit, 300 - start) }, (_, i) => ({
      type: 'Feature',
      id: start + i,
      geometry: null,
      properties: { text: 'x'.repeat(60_000) },
    }))
    const next = start + features.length
    const links = next < 300 ? [{ rel: 'next', href: `/items?start=${next}&limit=${limit}` }] : []
    response.end(JSON.stringify({ type: 'FeatureCollection', features, links, numberMatched: 300 }))
  })
  const fetched = await fetchAddress(t, 'ogc', `${url}/collections/a?limit=300`, {
    totalMs: 60_000,
    idleMs: 60_000,
  })
  assert.ok(fetched!.bytes > 300 * 60_000)
  assert.deepEqual(limits, [300, 150, 150])
})

/** A server that speaks the beginning of PostgreSQL's protocol, then does `act`. */
async function servePostgres(t: TestContext, act: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    let messages = 0
    socket.on('data', () => {
      messages++
      // It accepts the user, and is ready.
      if (messages === 1) socket.write(Buffer.from('520000000800000000' + '5a0000000549', 'hex'))
      else act(socket)
    })
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `postgres://127.0.0.1:${(server.address() as AddressInfo).port}/gis?sslmode=disable`
}

test('a database that does not answer, or floods its client, does not hold a fetch', async (t) => {
  const deaf = createServer(() => {}).listen(0, '127.0.0.1')
  await new Promise((resolve) => deaf.once('listening', resolve))
  t.after(() => deaf.close())
  const { port } = deaf.address() as AddressInfo
  await assert.rejects(fetchAddress(t, 'postgres', `postgres://127.0.0.1:${port}/gis`), TOO_LITTLE)
  await assert.rejects(fetchAddress(t, 'postgres', await servePostgres(t, () => {})), TOO_LITTLE)
  // A message of a gigabyte, which the driver would keep in memory.
  const flood = (socket: Socket) => {
    socket.write(Buffer.from('4440000000', 'hex'))
    const more = () => {
      while (socket.write(Buffer.alloc(1 << 20)));
    }
    socket.on('drain', more)
    more()
  }
  const slow = { totalMs: 60_000, idleMs: 60_000 }
  await assert.rejects(
    fetchAddress(t, 'postgres', await servePostgres(t, flood), slow),
    failsWith(/sent more than is needed/),
  )
})
