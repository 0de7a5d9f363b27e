import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { needs } from '../../../../scripts/test-run/needs.ts'
import { cleanUp } from '../../testing/cleanup.ts'
import { runCommand } from '../../testing/processes/run-command.ts'
import { startServerProcess } from '../../testing/processes/server-process.ts'
import { points } from '../../testing/publish.ts'
import { temporaryFolder } from '../../testing/test-server.ts'
import { isTracingWanted } from '../settings/config.ts'

needs('processes')

interface ReceivedSpan {
  name: string
  traceId: string
  spanId: string
  parentSpanId?: string
  kind: number
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[]
}

/** A receiver of OTLP over HTTP, which keeps the spans that arrive. */
async function openReceiver(t: TestContext) {
  const received: { path: string; spans: ReceivedSpan[]; service: string; body: string }[] = []
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const { resourceSpans } = JSON.parse(body)
    const { resource, scopeSpans } = resourceSpans[0]
    const name = resource.attributes.find(({ key }: { key: string }) => key === 'service.name')
    received.push({
      path: request.url!,
      spans: scopeSpans.flatMap(({ spans }: { spans: ReceivedSpan[] }) => spans),
      service: name.value.stringValue,
      body,
    })
    response.setHeader('content-type', 'application/json').end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanUp(t, async () => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received }
}

test('spans of requests, keys, selections, the data engine and sending reach a receiver of OpenTelemetry', async (t) => {
  const dataDir = temporaryFolder(t)
  const place = { dataDir, databaseUrl: null }
  writeFileSync(join(dataDir, 'places.geojson'), points(50))
  assert.equal(
    (await runCommand(place, 'publish', join(dataDir, 'places.geojson'), '--table', 'places')).code,
    0,
  )
  const create = ['key', 'create', '--platform', '--name', 'test', '--permissions', 'read', '--json']
  const { secret, id: keyId } = (await runCommand(place, ...create)).json
  const receiver = await openReceiver(t)
  const { url, child } = await startServerProcess(t, dataDir, {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_SERVICE_NAME: 'maps',
    WAYLEAVE_KEY_IN_URL: 'true',
    WAYLEAVE_TRUSTED_PROXIES: '127.0.0.1',
  })
  const items = `${url}/v1/ogc/collections/places/items`
  const headers = { 'x-api-key': secret }
  const parent = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }
  await (await fetch(`${items}?limit=1`, { headers })).arrayBuffer()
  // Two columns are sorted by the data engine. The first page with a key in its address is in memory by now.
  assert.equal(
    (await fetch(`${items}?sortby=half,number`, { headers: { ...headers, ...parent } })).status,
    200,
  )
  assert.equal((await fetch(`${items}?limit=2&api_key=${secret}`)).status, 200)
  const csv = await fetch(`${url}/v1/dataset/places/files/csv`, { headers })
  const requestId = csv.headers.get('x-request-id')
  await csv.arrayBuffer()
  await sleep(0)
  child.kill('SIGTERM')
  assert.deepEqual(await once(child, 'exit'), [0, null])

  const spans = receiver.received.flatMap((batch) => batch.spans)
  const { path, service } = receiver.received[0]!
  assert.deepEqual([path, service], ['/v1/traces', 'maps'])
  const value = (span: ReceivedSpan, key: string) => span.attributes.find((row) => row.key === key)?.value
  const tree = (span: ReceivedSpan): string[] =>
    spans
      .filter(({ parentSpanId }) => parentSpanId === span.spanId)
      .flatMap((child) => [child.name, ...tree(child).map((name) => `${child.name} > ${name}`)])
  const requests = spans.filter(({ kind }) => kind === 2)
  const pattern = '/v1/ogc/collections/:table/items'
  const sorted = requests.find(({ traceId }) => traceId === '0af7651916cd43dd8448eb211c80319c')!
  assert.equal(sorted.parentSpanId, 'b7ad6b7169203331')
  for (const name of ['key', 'select', 'select > duckdb', 'send'])
    assert.ok(tree(sorted).includes(name), name)
  assert.ok(requests.every(({ name }) => name.startsWith('GET /')))
  const inMemory = requests.filter(({ name }) => name === `GET ${pattern}`)
  assert.equal(inMemory.length, 3)
  assert.ok(
    inMemory.some((span) => tree(span).join() === 'key,select in memory,send'),
    inMemory.map(tree).join('; '),
  )
  const download = requests.find(({ name }) => name === 'GET /v1/dataset/:table/files/:format')!
  assert.equal(value(download, 'wayleave.request_id')?.stringValue, requestId)
  assert.equal(value(download, 'wayleave.key_id')?.stringValue, keyId)
  assert.equal(Number(value(download, 'http.response.status_code')?.intValue), 200)
  assert.ok(tree(download).includes('build export'))
  assert.ok(!receiver.received.some(({ body }) => body.includes(secret)), 'no span contains a secret')
})

test('traces are off unless a variable of OpenTelemetry asks for them', () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }
  assert.equal(isTracingWanted({}), false)
  assert.equal(isTracingWanted({ OTEL_SERVICE_NAME: 'maps' }), false)
  assert.equal(isTracingWanted(endpoint), true)
  assert.equal(isTracingWanted({ OTEL_TRACES_EXPORTER: 'otlp' }), true)
  assert.equal(isTracingWanted({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' }), false)
  assert.equal(isTracingWanted({ ...endpoint, OTEL_SDK_DISABLED: 'true' }), false)
})
