import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { needs } from '../../scripts/test-run/needs.ts'
import { BadRequestError, NotFoundError, Wayleave } from '../src/index.ts'
import { TestProxy } from './test-proxy.ts'
import { points, type TestAccount, TestServer } from './test-server.ts'

needs('processes')

delete process.env['WAYLEAVE_API_KEY']

const server = new TestServer({ WAYLEAVE_KEY_RATE: '6000', WAYLEAVE_KEY_BURST: '600' })
let account: TestAccount
let client: Wayleave
let keyless: Wayleave

before(async () => {
  await server.publish('places', points(3000), '--credits', '3')
  await server.start()
  account = await server.signIn('ada@example.org')
  await account.grant(['API_ACCESS', 'GIS_ACCESS'], 100)
  client = new Wayleave({ apiKey: await account.key(), baseUrl: server.url })
  keyless = new Wayleave({ baseUrl: server.url })
})
after(() => server.close())

test('metadata and samples need no key', async () => {
  assert.deepEqual(
    (await keyless.datasets()).map(({ table }) => table),
    ['places'],
  )
  assert.equal((await keyless.dataset('places')).rows, 3000)
  assert.equal((await keyless.archives('places')).length, 1)
  assert.equal((await keyless.sample('places')).length, 100)
})

test('a response tells what a download cost and what is left; a repeated one is free', async () => {
  const first = await client.download('places', 'csv').withResponse()
  assert.ok(Buffer.isBuffer(first.data))
  assert.deepEqual(first.response.credits, { charged: 3, remaining: 97 })
  assert.equal(first.response.status, 200)
  assert.match(first.response.headers.get('content-type')!, /^text\/csv/)
  const again = await client.download('places', 'csv').withResponse()
  assert.deepEqual(again.response.credits, { charged: 0, remaining: 97 })
  const chunks: Uint8Array[] = []
  const stream = new WritableStream<Uint8Array>({ write: (chunk) => void chunks.push(chunk) })
  const streamed = await client.downloadTo('places', 'kml', stream).withResponse()
  assert.equal(streamed.data, Buffer.concat(chunks).length)
  assert.deepEqual(streamed.response.credits, { charged: 3, remaining: 94 })
})

test('a download that was cut and resumed tells its whole price once', async (t) => {
  const proxy = await TestProxy.open(server.port)
  t.after(() => proxy.close())
  const apiKey = await account.key()
  const cut = new Wayleave({ apiKey, baseUrl: proxy.url, sleep: async () => {} })
  proxy.cuts = [20_000]
  const { response } = await cut.download('places', 'geoparquet').withResponse()
  assert.ok(proxy.ranges.some((range) => /^bytes=[1-9]/.test(range)))
  assert.equal(response.status, 206)
  assert.deepEqual(response.credits, { charged: 3, remaining: 91 })
})

test('a response tells the request id and the rate limit, and needs no second request', async (t) => {
  const proxy = await TestProxy.open(server.port)
  t.after(() => proxy.close())
  const alone = await server.signIn('alan@example.org')
  await alone.grant(['API_ACCESS', 'GIS_ACCESS'], 100)
  const counted = new Wayleave({ apiKey: await alone.key(), baseUrl: proxy.url })
  const call = counted.dataset('places')
  const { data, response } = await call.withResponse()
  assert.equal(data, await call)
  assert.equal(proxy.received.match(/^GET /gm)?.length, 1)
  assert.ok(response.requestId && response.requestId === response.headers.get('x-request-id'))
  assert.deepEqual(response.credits, { charged: 0, remaining: undefined })
  const { rateLimit } = response
  assert.deepEqual([rateLimit?.name, rateLimit?.limit, rateLimit?.windowSeconds], ['key', 6000, 60])
  assert.ok(rateLimit!.remaining > 500 && rateLimit!.remaining < 600 && rateLimit!.resetSeconds >= 0)
  const responses = [
    (await counted.datasets().withResponse()).response,
    (await counted.archives('places').withResponse()).response,
    (await counted.sample('places').withResponse()).response,
  ]
  assert.deepEqual(
    responses.map(({ status }) => status),
    [200, 200, 200],
  )
})

test('a page of features has its response, and so has every following one', async () => {
  // An account of its own: the limit reported is the owner's where other keys have just used more of that.
  const alone = await server.signIn('grace@example.org')
  await alone.grant(['API_ACCESS', 'GIS_ACCESS'], 100)
  const reader = new Wayleave({ apiKey: await alone.key(), baseUrl: server.url })
  const { data, response } = await reader.items('places', { limit: 1000 }).withResponse()
  assert.equal(data.features.length, 1000)
  assert.equal(response.rateLimit?.name, 'key')
  assert.deepEqual(response.credits, { charged: 0, remaining: undefined })
  const second = await data.next()
  assert.ok(second!.response.requestId && second!.response.requestId !== response.requestId)
  assert.ok(!Object.keys(data).includes('response'))
  assert.equal((await reader.items('places', { limit: 1 }).finally(() => {})).features.length, 1)
})

test('a call that fails rejects its withResponse too', async () => {
  await assert.rejects(client.dataset('nothing').withResponse(), NotFoundError)
})

test('a misspelt dataset, format or column gets the name that was meant', async () => {
  const hinted = (call: Promise<unknown>, kind: typeof NotFoundError, hint: string) =>
    assert.rejects(call, (error) => {
      assert.ok(error instanceof kind)
      assert.equal(error.hint, hint)
      assert.ok(error.message.includes(`${error.detail} ${hint}`) && error.stack!.includes(hint))
      assert.ok(error.requestId && error.code)
      return true
    })
  const places = 'Did you mean "places"?'
  await hinted(keyless.dataset('plaecs'), NotFoundError, places)
  await hinted(keyless.sample('Places'), NotFoundError, places)
  await hinted(keyless.archives('place'), NotFoundError, places)
  await hinted(client.items('placs').then(), NotFoundError, places)
  await hinted(client.download('plces', 'csv'), NotFoundError, places)
  await hinted(client.download('roads', 'csv'), NotFoundError, 'The datasets are places.')
  await hinted(client.download('places', 'geojsn'), NotFoundError, 'Did you mean "geojson"?')
  const { formats } = await keyless.dataset('places')
  const names = formats.map(({ format }) => format).join(', ')
  await hinted(client.download('places', 'docx'), NotFoundError, `The formats are ${names}.`)
  const number = 'Did you mean "number"?'
  await hinted(client.items('places', { filter: 'nmber < 5' }).then(), BadRequestError, number)
  await hinted(client.items('places', { sortby: '-numbr' }).then(), BadRequestError, number)
  await hinted(client.items('places', { columns: ['name', 'Nummber'] }).then(), BadRequestError, number)
})

test('an error without a misspelt name has no hint', async () => {
  const none = (call: Promise<unknown>) =>
    assert.rejects(
      call,
      (error: Error & { status?: number }) => !('hint' in error) && error.status !== undefined,
    )
  await none(client.items('places', { limit: 0 }).then())
  await none(client.items('places', { filter: 'number <' }).then())
  await none(client.items('places', { datetime: 'yesterday', columns: ['name'] }).then())
})
