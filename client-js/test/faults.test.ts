import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { after, before, beforeEach, type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'
import { needs } from '../../scripts/test-run/needs.ts'
import * as errors from '../src/index.ts'
import { Wayleave, type WayleaveOptions } from '../src/index.ts'
import { pauseBeforeRetry, retryAfterSeconds } from '../src/retry.ts'
import { TestProxy } from './test-proxy.ts'
import { freePort, points, TestServer } from './test-server.ts'

needs('processes')

/** Behind a proxy, the service's public address differs from the address that clients connect to. */
const publicUrl = 'https://data.example.org'
const server = new TestServer({ WAYLEAVE_BASE_URL: publicUrl })
let key: string
let client: Wayleave
let waits: number[]

before(async () => {
  await server.publish('many', points(20_000))
  const wide = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`c${i}`, 'x'.repeat(254)]))
  const geometry = { type: 'Point', coordinates: [1, 2] }
  await server.publish('wide', [{ type: 'Feature', properties: wide, geometry }])
  key = await server.platformKey()
  await server.start()
  client = new Wayleave({ apiKey: key, baseUrl: server.url, maxRetries: 0 })
})
after(() => server.close())
beforeEach(() => {
  waits = []
})

/** A client that connects through a proxy, and records its retry pauses instead of waiting. */
async function fragile(t: TestContext, options: Partial<WayleaveOptions> = {}) {
  const proxy = await TestProxy.open(server.port)
  t.after(() => proxy.close())
  const sleep = async (ms: number) => void waits.push(ms)
  return {
    proxy,
    client: new Wayleave({ apiKey: key, baseUrl: proxy.url, sleep, random: () => 1, ...options }),
  }
}

test('every status has its error, with code, detail and request id', async () => {
  const account = await server.signIn('ada@example.org')
  const personal = new Wayleave({ apiKey: await account.key(), baseUrl: server.url, maxRetries: 0 })
  const expiring = new Wayleave({ apiKey: await account.key(500), baseUrl: server.url, maxRetries: 0 })
  const expired = Date.now() + 500
  await assert.rejects(client.items('many', { limit: 0 }).then(), (error) => {
    assert.ok(error instanceof errors.BadRequestError && error instanceof errors.APIStatusError)
    assert.deepEqual([error.status, error.code, error.errors[0]?.path], [400, 'invalid-input', 'limit'])
    assert.ok(error.requestId && error.message.includes(error.requestId))
    return true
  })
  await assert.rejects(personal.download('many', 'csv'), (error) => {
    assert.ok(error instanceof errors.PermissionDeniedError)
    assert.match(error.detail, /API_ACCESS/)
    return error.status === 403 && error.code === 'add-on-missing'
  })
  await account.grant(['API_ACCESS'], 0)
  await assert.rejects(personal.download('many', 'csv'), errors.PaymentRequiredError)
  await account.grant(['API_ACCESS'], 1)
  await assert.rejects(personal.download('many', 'csv', { maxCredits: 0 }), { code: 'price-higher' })
  assert.ok((await personal.download('many', 'csv', { maxCredits: 1 })).length > 0)
  while (Date.now() <= expired) await delay(50)
  await assert.rejects(expiring.download('many', 'csv'), errors.AuthenticationError)
  await assert.rejects(client.dataset('nothing'), errors.NotFoundError)
  await assert.rejects(client.dataset('../datasets'), errors.NotFoundError)
  await assert.rejects(client.download('many', 'docx'), { name: 'NotFoundError', status: 404 })
  await assert.rejects(client.download('wide', 'shp'), { name: 'ConflictError', code: 'export-impossible' })
})

test('a missing service, a silent one and a foreign one give different errors', async (t) => {
  const nobody = new Wayleave({ apiKey: key, baseUrl: `http://127.0.0.1:${await freePort()}`, maxRetries: 0 })
  await assert.rejects(nobody.datasets(), {
    name: 'ConnectionError',
    message: /^The connection to http:\/\/127\.0\.0\.1:\d+ failed: connect ECONNREFUSED/,
  })
  const { proxy, client } = await fragile(t, { maxRetries: 0 })
  proxy.stalls = 1
  await assert.rejects(client.datasets({ timeout: 100 }), errors.TimeoutError)
  const other = (text: string) => () => Buffer.from(`HTTP/1.1 ${text}`)
  proxy.change = other('502 Bad Gateway\r\ncontent-length: 6\r\n\r\n<html>')
  await assert.rejects(client.datasets(), {
    name: 'ServerError',
    status: 502,
    code: '',
    message: `502: ${proxy.url} responded without an explanation.`,
  })
  proxy.change = other('404 Not Found\r\ncontent-length: 6\r\n\r\n<html>')
  await assert.rejects(client.dataset('many'), {
    name: 'NotFoundError',
    message: `404: ${proxy.url} responded without an explanation. Is it the address of a Wayleave service?`,
  })
  proxy.change = other('200 OK\r\ncontent-length: 6\r\n\r\n<html>')
  await assert.rejects(client.datasets(), /is not JSON\. Is http:\S+ the address of a Wayleave service\?/)
  proxy.change = other('302 Found\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n')
  await assert.rejects(client.datasets(), /redirects to http:\/\/127\.0\.0\.1:9\//)
})

test('a download cut in the middle is resumed, in memory and into a stream', async (t) => {
  const whole = await client.download('many', 'geoparquet')
  const { proxy, client: cut } = await fragile(t)
  proxy.cuts = [100_000, 150_000]
  assert.ok(whole.equals(await cut.download('many', 'geoparquet')))
  assert.match(proxy.ranges.join(), /^bytes=9\d{4}-,bytes=2[34]\d{4}-$/)
  const again = await fragile(t)
  again.proxy.cuts = [100_000, 150_000]
  const chunks: Buffer[] = []
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      chunks.push(chunk)
      done()
    },
  })
  await again.client.downloadTo('many', 'geojson', stream)
  assert.ok(Buffer.concat(chunks).equals(await client.download('many', 'geojson')))
  assert.match(again.proxy.ranges.join(), /^bytes=0-,bytes=9\d{4}-,bytes=2[34]\d{4}-$/)
})

test('a packed download that is cut begins anew, since its bytes are others', async (t) => {
  const whole = await client.download('many', 'geojson')
  const { proxy, client: cut } = await fragile(t)
  proxy.cuts = [100_000]
  assert.ok(whole.equals(await cut.download('many', 'geojson')))
  assert.equal(waits.length, 1)
})

test('a dataset that changes under a broken download is begun anew in memory, and an error in a stream', async (t) => {
  await server.publish('changing', points(5000))
  for (const intoStream of [false, true]) {
    const { proxy, client } = await fragile(t, {
      sleep: () => server.publish('changing', points(intoStream ? 7000 : 6000)),
    })
    proxy.cuts = [50_000]
    if (intoStream) {
      await assert.rejects(
        client.downloadTo('changing', 'geoparquet', new WritableStream()),
        /dataset has changed/,
      )
    } else {
      const file = await client.download('changing', 'geoparquet')
      assert.ok(file.equals(await client.download('changing', 'geoparquet')))
    }
  }
})

test('the timeout restarts with each chunk, and a silent connection times out', async (t) => {
  const { proxy, client: cut } = await fragile(t)
  proxy.cuts = [10, 10, 10, 10]
  await assert.rejects(cut.download('many', 'geoparquet', { maxRetries: 3 }), errors.ConnectionError)
  assert.deepEqual(waits, [500, 1000, 2000])
  waits = []
  proxy.cuts = [50_000, 50_000, 50_000]
  await cut.download('many', 'geoparquet', { maxRetries: 1 })
  assert.deepEqual(waits, [500, 500, 500])
})

test('a signal ends a call at once: before it, in it, while it waits to retry, and in a download', async (t) => {
  const reason = new Error('enough')
  await assert.rejects(client.datasets({ signal: AbortSignal.abort(reason) }), reason)
  const { proxy, client: stalling } = await fragile(t)
  proxy.stalls = 1
  const during = new AbortController()
  setTimeout(() => during.abort(reason), 50)
  await assert.rejects(stalling.datasets({ signal: during.signal }), reason)
  const waiting = new AbortController()
  const nobody = new Wayleave({
    apiKey: key,
    baseUrl: `http://127.0.0.1:${await freePort()}`,
    random: () => 1,
  })
  setTimeout(() => waiting.abort(reason), 100)
  const started = performance.now()
  await assert.rejects(nobody.datasets({ signal: waiting.signal, maxRetries: 50 }), reason)
  assert.ok(performance.now() - started < 60_000)
  const downloading = new AbortController()
  const onProgress = ({ received }: { received: number }) => {
    if (received > 0) downloading.abort(reason)
  }
  let aborted: unknown
  const stream = new WritableStream({
    abort: (cause) => {
      aborted = cause
    },
  })
  const { signal } = downloading
  await assert.rejects(client.downloadTo('many', 'geojson', stream, { signal, onProgress }), reason)
  await delay(1)
  assert.equal(aborted, reason)
})

test('a stream that breaks ends the download with its own error', async () => {
  const broken = new Error('disk full')
  const failing = new Writable({ write: (_chunk, _encoding, done) => done(broken) })
  await assert.rejects(client.downloadTo('many', 'geojson', failing), broken)
  const leaving = new Writable({
    write() {
      this.destroy()
    },
  })
  await assert.rejects(client.downloadTo('many', 'geojson', leaving))
})

test('a server that goes away and comes back is waited for', async () => {
  const patient = new Wayleave({ apiKey: key, baseUrl: server.url, maxRetries: 20 })
  // The state of the tiles may change in between.
  const versions = async () => (await patient.datasets()).map(({ table, version }) => [table, version])
  const before = await versions()
  await server.stop()
  const back = delay(300).then(() => server.start())
  assert.deepEqual(await versions(), before)
  await back
})

test('429 is waited out for as long as the service says', async () => {
  const limited = new TestServer({ WAYLEAVE_KEY_RATE: '30', WAYLEAVE_KEY_BURST: '1' })
  const apiKey = await limited.platformKey()
  await limited.start()
  try {
    const sleep = async (ms: number) => {
      waits.push(ms)
      await delay(ms)
    }
    const client = new Wayleave({ apiKey, baseUrl: limited.url, sleep })
    for (let i = 0; i < 3; i++) await client.datasets()
    assert.ok(waits.length > 0 && waits.every((ms) => ms >= 1000 && ms <= 2250), `${waits}`)
    await assert.rejects(
      Promise.all([1, 2, 3, 4].map(() => client.datasets({ maxRetries: 0 }))),
      (error) => error instanceof errors.RateLimitError && [1, 2].includes(error.retryAfter!),
    )
  } finally {
    await limited.close()
  }
})

test('pauses grow, are spread, end, and follow Retry-After', () => {
  const broken = new errors.ConnectionError('x')
  const pauses = (random: number) => [0, 1, 2, 3, 4, 5].map((n) => pauseBeforeRetry(broken, n, () => random))
  assert.deepEqual(pauses(1), [500, 1000, 2000, 4000, 8000, 8000])
  assert.deepEqual(pauses(0), [250, 500, 1000, 2000, 4000, 4000])
  const after = (status: number, retryAfter?: number) =>
    pauseBeforeRetry(new errors.APIStatusError(status, {}, retryAfter), 0, () => 0)
  assert.deepEqual(
    [429, 502, 503, 504].map((status) => after(status)),
    [250, 250, 250, 250],
  )
  assert.deepEqual(
    [400, 401, 404, 500].map((status) => after(status)),
    Array(4).fill(undefined),
  )
  assert.deepEqual([after(429, 7), after(503, 60), after(429, 61)], [7000, 60_000, undefined])
  const now = Date.parse('2030-01-01T00:00:00Z')
  assert.equal(retryAfterSeconds('12', now), 12)
  assert.equal(retryAfterSeconds('Tue, 01 Jan 2030 00:00:30 GMT', now), 30)
  assert.equal(retryAfterSeconds('Mon, 01 Jan 2029 00:00:30 GMT', now), 0)
  assert.deepEqual([retryAfterSeconds('soon', now), retryAfterSeconds(null, now)], [undefined, undefined])
})

test('the key is in no error, and goes to no other address than the one given', async (t) => {
  const apiKey = 'svc_live_Zq7WmPk2VtXr9LcNb4YhDs6GfJ3aEu1T'
  const { proxy, client: behind } = await fragile(t, { apiKey, maxRetries: 0 })
  const shown: string[] = []
  for (const cuts of [[], [1]]) {
    proxy.cuts = cuts
    await assert.rejects(behind.download('many', 'csv'), (error: Error) => {
      shown.push(inspect(error, { depth: 9, showHidden: true }), String(error), error.stack ?? '')
      return error instanceof errors.WayleaveError
    })
  }
  assert.ok(shown.length === 6 && shown.every((text) => !text.includes(apiKey)))
  const paging = await fragile(t)
  for await (const page of paging.client.items('many', { limit: 10_000 }).pages()) {
    // Links contain the service's own address; the client keeps using the address it was configured with.
    for (const link of page.links) assert.ok(link.href.startsWith(publicUrl))
  }
  assert.equal(paging.proxy.received.match(/^GET \/v1\/ogc\/collections\/many\/items\?/gm)?.length, 2)
})

test('a download that is redirected to an object store is followed there without the key', async () => {
  const asked: { url: string; headers: Record<string, string> }[] = []
  const store = 'https://store.example.org/bucket/places.csv?X-Amz-Signature=abc'
  const redirecting = new Wayleave({
    apiKey: key,
    baseUrl: server.url,
    maxRetries: 0,
    fetch: async (input, init) => {
      asked.push({ url: String(input), headers: init?.headers as Record<string, string> })
      if (String(input) === store) return new Response('a,b\n1,2\n', { headers: { etag: '"stored"' } })
      const headers = { location: store, 'credits-charged': '2', 'credits-remaining': '8' }
      return new Response(null, { status: 307, headers })
    },
  })
  const bytes = await redirecting.download('places', 'csv')
  assert.equal(Buffer.from(bytes as Uint8Array).toString(), 'a,b\n1,2\n')
  assert.deepEqual(
    asked.map(({ url, headers }) => [url.startsWith(server.url), headers['X-API-Key'] === key]),
    [
      [true, true],
      [false, false],
    ],
  )
  // Only downloads are redirected to other hosts.
  await assert.rejects(redirecting.datasets(), /redirects to https:\/\/store/)
})
