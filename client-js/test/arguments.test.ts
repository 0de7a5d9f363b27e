import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AuthenticationError, Wayleave, WayleaveError, type WayleaveOptions } from '../src/index.ts'
import { nearestName } from '../src/nearest-name.ts'
import { transportOf } from '../src/settings.ts'
import { contains, unwrappedBox, wrappedBox } from '../src/view-box.ts'

// Some tests need a client without a key, regardless of this process's environment.
delete process.env['WAYLEAVE_API_KEY']
delete process.env['WAYLEAVE_BASE_URL']

const baseUrl = 'https://data.example.org'
const apiKey = 'svc_live_Zq7WmPk2VtXr9LcNb4YhDs6GfJ3aEu1T'

/** A client whose requests fail the test: wrong arguments must be found before anything is sent. */
const client = new Wayleave({
  apiKey,
  baseUrl,
  fetch: () => assert.fail('A request was sent.'),
})

/** Calls with arguments that the types forbid. */
const untyped = client as unknown as Record<string, (...args: unknown[]) => unknown>

test('a client without options says what is missing and where it can come from', () => {
  assert.throws(() => transportOf({}, {}), {
    name: 'WayleaveError',
    message: /no base URL.*baseUrl.*WAYLEAVE_BASE_URL.*no API key either.*apiKey.*WAYLEAVE_API_KEY/,
  })
  assert.throws(
    () => transportOf({ apiKey }, {}),
    (error: Error) => error instanceof WayleaveError && !/API key|svc_live/.test(error.message),
  )
})

test('address and key come from the options, then the environment, then the page', () => {
  const page = { location: { origin: 'https://page.example.org' } }
  const env = { WAYLEAVE_API_KEY: ` ${apiKey}\n`, WAYLEAVE_BASE_URL: 'https://env.example.org/' }
  const found = (options: WayleaveOptions, globals: Parameters<typeof transportOf>[1]) => {
    const transport = transportOf(options, globals)
    return [transport.baseUrl, transport.apiKey]
  }
  assert.deepEqual(found({}, { process: { env }, ...page }), ['https://env.example.org', apiKey])
  assert.deepEqual(found({ baseUrl, apiKey: 'other' }, { process: { env } }), [baseUrl, 'other'])
  assert.deepEqual(found({ apiKey: undefined, baseUrl: undefined }, { process: { env } })[1], apiKey)
  assert.deepEqual(found({}, page), ['https://page.example.org', undefined])
  const empty = { WAYLEAVE_API_KEY: '', WAYLEAVE_BASE_URL: '' }
  assert.deepEqual(found({}, { process: { env: empty }, ...page }), ['https://page.example.org', undefined])
  assert.throws(() => transportOf({}, { location: { origin: 'null' } }), /no base URL/)
})

test('an address that cannot be a service is refused, and the right one named', () => {
  const of = (address: string) => transportOf({ baseUrl: address }, {}).baseUrl
  assert.equal(of('http://127.0.0.1:8081/'), 'http://127.0.0.1:8081')
  assert.equal(of('https://example.org/data//'), 'https://example.org/data')
  for (const address of ['127.0.0.1:8081', 'localhost', 'ftp://example.org', 'https://']) {
    assert.throws(() => of(address), /http:\/\/ or https:\/\//, address)
  }
  assert.throws(
    () => of('https://ada:secret@example.org'),
    (error: Error) => !/secret/.test(error.message),
  )
  for (const path of ['/v1', '/v1/', '/v1/ogc']) {
    assert.throws(() => of(`https://example.org${path}`), /use https:\/\/example\.org\.$/)
  }
})

test('an unknown option of the client is a TypeError that names the nearest one, and shows no value', () => {
  const message = (options: object | string) => {
    try {
      new Wayleave(options as WayleaveOptions)
      return 'none'
    } catch (error) {
      assert.ok(error instanceof TypeError)
      assert.ok(!error.message.includes(apiKey))
      return error.message
    }
  }
  for (const name of ['apikey', 'api_key', 'APIKey', 'key', 'token', 'apiKye']) {
    assert.match(message({ baseUrl, [name]: apiKey }), /Did you mean "apiKey"\?$/, name)
  }
  for (const name of ['baseURL', 'base_url', 'url', 'host']) {
    assert.match(message({ [name]: baseUrl }), /Did you mean "baseUrl"\?$/, name)
  }
  assert.match(message({ baseUrl, colour: 1 }), /no option "colour"\. The options are apiKey, baseUrl, /)
  assert.match(message(apiKey), /takes an object of options/)
  assert.match(message({ baseUrl, apiKey: 7 }), /apiKey takes a text/)
  assert.match(message({ baseUrl, timeout: '30' }), /timeout takes milliseconds/)
  assert.match(message({ baseUrl, maxRetries: Number.NaN }), /maxRetries takes a number/)
})

test('an unknown option of any call is a TypeError before anything is sent', async () => {
  const calls: [name: string, args: unknown[], option: string, nearest: string][] = [
    ['datasets', [], 'timout', 'timeout'],
    ['dataset', ['places'], 'Signal', 'signal'],
    ['archives', ['places'], 'retries', 'maxRetries'],
    ['sample', ['places'], 'time_out', 'timeout'],
    ['items', ['places'], 'bbx', 'bbox'],
    ['items', ['places'], 'properties', 'columns'],
    ['items', ['places'], 'where', 'filter'],
    ['items', ['places'], 'sortBy', 'sortby'],
    ['download', ['places', 'csv'], 'versoin', 'version'],
    ['download', ['places', 'csv'], 'progress', 'onProgress'],
    ['downloadTo', ['places', 'csv', new WritableStream()], 'onprogres', 'onProgress'],
  ]
  for (const [name, args, option, nearest] of calls) {
    const call = async () => untyped[name]!.call(client, ...args, { [option]: 1 })
    const message = `${name}() has no option "${option}". Did you mean "${nearest}"?`
    await assert.rejects(call, { name: 'TypeError', message })
  }
  await assert.rejects(async () => untyped['items']!.call(client, 'places', [1, 2, 3, 4]), /as an object/)
  await assert.rejects(async () => untyped['items']!.call(client, 'places', { limt: 1 }), /"limit"/)
})

test('a missing table, format or stream is a TypeError that says what to pass', async () => {
  const rejects = (name: string, args: unknown[], pattern: RegExp) =>
    assert.rejects(async () => untyped[name]!.call(client, ...args), { name: 'TypeError', message: pattern })
  for (const name of ['dataset', 'archives', 'sample', 'items', 'download']) {
    await rejects(name, [], /takes the name of a dataset first/)
    await rejects(name, [{ table: 'places' }], /Pass the field `table`/)
  }
  await rejects('download', ['places'], /takes the name of a format second/)
  await rejects('downloadTo', ['places', 'csv', 'places.csv'], /takes a stream third/)
  await rejects('downloadTo', ['places', 'csv'], /takes a stream third/)
})

test('a box that cannot be right is refused before anything is sent', () => {
  const wrong = (bbox: unknown) => () => client.items('places', { bbox: bbox as number[] })
  for (const bbox of ['1,2,3,4', [1, 2, 3], [1, 2, 3, Number.NaN], [1, 2, 3, '4'], 7]) {
    assert.throws(wrong(bbox), { name: 'TypeError', message: /west, south, east, north/ })
  }
  assert.throws(wrong([47, 110, 55, 120]), { name: 'RangeError', message: /Is the order right\?/ })
  assert.throws(wrong([5, 55, 11, 47]), { name: 'RangeError', message: /southern edge/ })
  for (const bbox of [
    [170, -10, -170, 10],
    [0, 0, 0, 0],
    [5, 47, 0, 11, 55, 9],
  ])
    wrong(bbox)()
})

test('a call that needs a key and has none says how to get one', async () => {
  const refuse = async () =>
    Response.json({ code: 'key-missing', status: 401, detail: 'Send it.' }, { status: 401 })
  const keyless = new Wayleave({ baseUrl, fetch: refuse })
  const calls = [
    () => keyless.items('places').then(),
    () => keyless.items('places').catch((error: unknown) => Promise.reject(error)),
    () => keyless.items('places').withResponse(),
    () => keyless.items('places').pages().next(),
    () => keyless.download('places', 'csv'),
    () => keyless.downloadTo('places', 'csv', new WritableStream()),
  ]
  for (const call of calls) {
    await assert.rejects(call(), (error) => {
      assert.ok(error instanceof AuthenticationError)
      assert.deepEqual([error.status, error.code], [401, 'key-missing'])
      assert.match(error.message, /apiKey.*WAYLEAVE_API_KEY.*keys page of https:\/\/data\.example\.org/)
      return true
    })
  }
})

test('the stack of an error that is awaited contains the line that awaits', async () => {
  const keyless = new Wayleave({ baseUrl, fetch: async () => new Response(null, { status: 401 }) })
  const readPlaces = async () => await keyless.items('places')
  await assert.rejects(readPlaces(), (error: Error) => /at async readPlaces/.test(error.stack!))
})

test('a map’s requests carry the key to this service’s API, and to no other address', async () => {
  const hidden = new Wayleave({ apiKey, baseUrl: 'https://example.org/data' })
  assert.deepEqual(hidden.transformRequest('https://example.org/data/v1/ogc/collections/a/items'), {
    url: 'https://example.org/data/v1/ogc/collections/a/items',
    headers: { 'X-API-Key': apiKey },
  })
  const others = [
    'https://example.org/v1/datasets',
    'https://example.org/data/other',
    'https://example.org/data/v1/../../style.json',
    'https://example.org/data/v1/%2e%2e/other',
    'http://example.org/data/v1/datasets',
    'https://example.org:8443/data/v1/datasets',
    'https://example.org.evil.example/data/v1/datasets',
    'https://example.org@evil.example/data/v1/datasets',
    'https://evil.example/https://example.org/data/v1/',
    'https://tiles.example.org/data/v1/1/2/3',
    'data:application/json,{}',
    'blob:https://example.org/data/v1/7',
    '/data/v1/datasets',
    'no address',
    '',
  ]
  for (const url of others) assert.equal(hidden.transformRequest(url), undefined, url)
  const url = `${baseUrl}/v1/datasets`
  const fetched = new Wayleave({ apiKey: async () => apiKey, baseUrl })
  assert.deepEqual(await fetched.transformRequest(url), { url, headers: { 'X-API-Key': apiKey } })
  assert.equal(new Wayleave({ baseUrl }).transformRequest(url), undefined)
})

test('a map’s view becomes a box of the service, wherever around the world it was dragged', () => {
  const view = (west: number, south: number, east: number, north: number) =>
    unwrappedBox({
      getWest: () => west,
      getSouth: () => south,
      getEast: () => east,
      getNorth: () => north,
    })
  assert.deepEqual(wrappedBox(view(4, 50, 8, 54)), [4, 50, 8, 54])
  assert.deepEqual(wrappedBox(view(170, -95, 190, 95)), [170, -90, -170, 90])
  assert.deepEqual(wrappedBox(view(-190, 0, -170, 1)), [170, 0, -170, 1])
  assert.deepEqual(wrappedBox(view(364, 50, 368, 54)), [4, 50, 8, 54])
  assert.deepEqual(wrappedBox(view(-720, 0, -300, 1)), [-180, 0, 180, 1])
  assert.deepEqual(wrappedBox(view(-180, -90, 180, 90)), [-180, -90, 180, 90])
  assert.ok(contains([170, 0, 190, 10], [175, 1, 185, 9]))
  assert.ok(!contains([170, 0, 190, 10], [165, 1, 185, 9]))
  assert.ok(contains([-200, -90, 200, 90], [500, 0, 510, 1]))
})

test('the nearest name is one that a person would have meant', () => {
  const names = ['places', 'countries', 'earthquakes', 'townships']
  const pairs = [
    ['plaecs', 'places'],
    ['Places', 'places'],
    ['place', 'places'],
    ['earthquake', 'earthquakes'],
    ['town_ships', 'townships'],
    ['roads', undefined],
    ['', undefined],
  ] as const
  for (const [name, nearest] of pairs) assert.equal(nearestName(name, names), nearest, name)
})
