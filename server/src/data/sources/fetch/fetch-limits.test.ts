import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { SourceError } from '@wayleave/geodata/compile'
import type { SourceKind } from '../source-address.ts'
import { serve } from '../sources.test-kit.ts'
import { fetchSource } from './fetch-source.ts'

const FAST = { totalMs: 60_000, idleMs: 200, minFreeBytes: 0 }

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
  const limits = { totalMs: 300, idleMs: 60_000, minFreeBytes: 0 }
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
    minFreeBytes: 0,
  })
  assert.ok(fetched!.bytes > 300 * 60_000)
  assert.deepEqual(limits, [300, 150, 150])
})

const ACCEPTED = '520000000800000000' + '5a0000000549'
const PASSWORD_WANTED = '520000000800000003'

/** A server that speaks the beginning of PostgreSQL's protocol, then does `act`. By default it accepts the user. */
async function servePostgres(
  t: TestContext,
  act: (socket: Socket, data: Buffer) => void,
  greeting = ACCEPTED,
): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    let messages = 0
    socket.on('data', (data) => {
      messages++
      if (messages === 1) socket.write(Buffer.from(greeting, 'hex'))
      else act(socket, data)
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
  const slow = { totalMs: 60_000, idleMs: 60_000, minFreeBytes: 0 }
  await assert.rejects(
    fetchAddress(t, 'postgres', await servePostgres(t, flood), slow),
    failsWith(/sent more than is needed/),
  )
})

test('a database does not get a password of the service', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'wayleave-fetch-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'pgpass')
  writeFileSync(file, '*:*:*:*:own-secret\n', { mode: 0o600 })
  for (const [name, value] of [
    ['PGPASSWORD', 'own-secret'],
    ['PGPASSFILE', file],
  ] as const) {
    const before = process.env[name]
    process.env[name] = value
    const received: string[] = []
    const address = await servePostgres(
      t,
      (socket, data) => {
        received.push(data.toString('latin1'))
        socket.destroy()
      },
      PASSWORD_WANTED,
    )
    try {
      await assert.rejects(
        fetchAddress(t, 'postgres', address, { totalMs: 500, idleMs: 60_000, minFreeBytes: 0 }),
      )
    } finally {
      if (before === undefined) delete process.env[name]
      else process.env[name] = before
    }
    assert.ok(received.length > 0, 'the driver answers the request for a password')
    assert.doesNotMatch(received.join(), /own-secret/, name)
  }
})

const NO_LIMIT = { totalMs: 60_000, idleMs: 60_000, minFreeBytes: 0 }

test('documents of another shape than the standards say are refused, and nothing they say is kept at length', async (t) => {
  const documents: [SourceKind, string, unknown][] = [
    ['ogc', '/collections/a', null],
    ['ogc', '/collections/a', { features: [null] }],
    ['ogc', '/collections/a', { features: [], links: {} }],
    ['ogc', '/collections/a', { features: [], links: [{ rel: 'next', href: 'http://[' }] }],
    ['arcgis', '/FeatureServer/0', 'text'],
    ['arcgis', '/FeatureServer/0', { objectIdField: 'id', objectIds: 7 }],
    ['arcgis', '/FeatureServer/0', { error: { code: 400, message: 'x'.repeat(100_000) } }],
  ]
  for (const [kind, path, document] of documents) {
    const url = await serve(t, (_request, response) => response.end(JSON.stringify(document)))
    await assert.rejects(fetchAddress(t, kind, url + path, NO_LIMIT), (error: Error) => {
      assert.ok(error instanceof SourceError, `${JSON.stringify(document).slice(0, 80)}: ${error.stack}`)
      return error.message.length <= 2000
    })
  }
})

test('the capabilities of a WFS are read in one pass, whatever is in them', {
  timeout: 120_000,
}, async (t) => {
  const root = '<wfs:WFS_Capabilities>'
  for (const part of ['<Operation ', '<wfs:FeatureType>', '<FeatureType><Name>', '<a:', '<!-- ']) {
    const text = root + part.repeat(200_000) + ' '.repeat(1_000_000)
    const url = await serve(t, (_request, response) => response.end(text))
    const limits = { totalMs: 30_000, idleMs: 60_000, minFreeBytes: 0 }
    // A search that begins anew at each of these would end by the limit of time.
    const fetching = fetchAddress(t, 'wfs', `${url}/wfs?typeNames=a`, limits)
    await assert.rejects(fetching, failsWith(/has no feature type a/), part)
  }
})

test('nothing is fetched that would leave too little room on the disk', async (t) => {
  let requests = 0
  const url = await serve(t, (_request, response) => {
    requests++
    response.end('a,b')
  })
  const full = { ...NO_LIMIT, minFreeBytes: Number.MAX_SAFE_INTEGER }
  for (const kind of ['file', 'ogc'] as const)
    await assert.rejects(fetchAddress(t, kind, `${url}/collections/a`, full), { code: 'disk-full' })
  assert.equal(requests, 0)
})
