import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { inspect } from 'node:util'
import { needs } from '../../scripts/test-run/needs.ts'
import { ConflictError, type Progress, PublishError, Wayleave, WayleaveError } from '../src/index.ts'
import { INSPECT_PARAMETERS, PUBLISH_PARAMETERS } from '../src/publish-options.ts'
import { points, TestServer } from './test-server.ts'

needs('processes')

const MANY = 30_000
const server = new TestServer({ WAYLEAVE_ALLOW_INTERNAL_ADDRESSES: 'true' })
const awkward = [0, 1, 2].map((i) => ({
  type: 'Feature',
  properties: { 'size, in m²': i, '[a]': `t${i}`, b: i },
  geometry: { type: 'Point', coordinates: [i, i] },
}))
let key: string
let client: Wayleave

before(async () => {
  await server.publish('places', points(50))
  await server.publish('places', points(200), '--title', 'Places', '--credits', '2')
  await server.publish('many', points(MANY))
  await server.publish('awkward', awkward)
  const moving = (names: string[]) =>
    names.map((name, i) => ({
      type: 'Feature',
      properties: { code: `c${i}`, name },
      geometry: { type: 'Point', coordinates: [i, 0] },
    }))
  await server.publish('moving', moving(['a', 'b']), '--id-column', 'code')
  await server.publish('moving', moving(['a', 'ß', 'c']), '--id-column', 'code')
  key = await server.platformKey()
  await server.start()
  client = new Wayleave({ apiKey: key, baseUrl: `${server.url}/` })
})
after(() => server.close())

test('datasets, one dataset, its archives and its sample arrive as the service has them', async () => {
  assert.deepEqual((await client.datasets()).map(({ table }) => table).sort(), [
    'awkward',
    'many',
    'moving',
    'places',
  ])
  const places = await client.dataset('places')
  assert.deepEqual([places.title, places.rows, places.version, places.credits], ['Places', 200, 2, 2])
  assert.deepEqual(
    places.columns.map(({ name, type }) => [name, type]),
    [
      ['number', 'integer'],
      ['name', 'text'],
    ],
  )
  assert.deepEqual(
    (await client.archives('places')).map(({ version, current, rows }) => [version, current, rows]),
    [
      [2, true, 200],
      [1, false, 50],
    ],
  )
  const sample = await client.sample('places')
  assert.equal(sample.length, 20)
  assert.deepEqual(Object.keys(sample[0]!), ['number', 'name', 'longitude', 'latitude'])
})

test('changes are the features that differ between two versions', async () => {
  const changes = await client.changes<{ name: string }>('moving', { since: 1 })
  assert.deepEqual(
    changes.map(({ change, id, feature, before }) => [
      change,
      id,
      feature.properties.name,
      before?.properties.name,
    ]),
    [
      ['changed', 'c1', 'ß', 'b'],
      ['added', 'c2', 'c', undefined],
    ],
  )
  assert.deepEqual(await client.changes('moving', { since: 2, to: 2 }), [])
  await assert.rejects(client.changes('places', { since: 1 }), { code: 'no-stable-ids' })
  await assert.rejects(client.changes('moving', { since: 0 }), /since is the number of a version/)
})

test('items awaited are a page, and its next the following one', async () => {
  const page = await client.items<{ number: number }>('places', { limit: 150 })
  assert.deepEqual(
    [page.type, page.features.length, page.numberReturned, page.numberMatched],
    ['FeatureCollection', 150, 150, 200],
  )
  const last = await page.next()
  assert.equal(last?.features.length, 50)
  assert.equal(await last?.next(), undefined)
  assert.deepEqual(structuredClone(page).features, page.features)
})

test('items iterated are all features, each once', async () => {
  const seen = new Set<number>()
  for await (const feature of client.items<{ number: number }>('many', { limit: 10_000 })) {
    seen.add(feature.properties.number)
  }
  assert.equal(seen.size, MANY)
  const sizes: number[] = []
  for await (const page of client.items('many', { limit: 40_000 }).pages()) sizes.push(page.features.length)
  assert.deepEqual(sizes, Array(MANY / 10_000).fill(10_000))
})

test('aggregate returns groups with their measures, all pages of them', async () => {
  const one = await client.aggregate('places', { measures: ['count', 'max(number)'], filter: 'number <= 10' })
  assert.deepEqual(one, {
    columns: [
      { name: 'count', type: 'integer' },
      { name: 'max(number)', type: 'integer' },
    ],
    rows: [[10, 10]],
    numberGroups: 1,
  })
  const all = await client.aggregate('many', { groupby: 'number', sortby: '-number' })
  assert.deepEqual([all.rows.length, all.numberGroups, all.rows[0]![0]], [MANY, MANY, MANY])
  const few = await client.aggregate('many', {
    groupby: ['interval(number,1000)'],
    having: 'count = 1000',
    limit: 3,
    others: true,
  })
  assert.equal(few.rows.length, 3)
  assert.deepEqual(few.others, [null, (few.numberGroups - 3) * 1000])
  const awkward = await client.aggregate('awkward', { groupby: ['"size, in m²"'], measures: 'count' })
  assert.deepEqual(
    awkward.rows.map(([size]) => size),
    [0, 1, 2],
  )
  await assert.rejects(client.aggregate('places', { groupby: 'numbr' }), /number/)
  // @ts-expect-error: no such option
  await assert.rejects(client.aggregate('places', { orderby: 'number' }), /sortby/)
})

test('items select by bbox, filter, order and columns', async () => {
  const page = await client.items('many', { bbox: [0, 30, 20, 40], limit: 10 })
  assert.equal(page.features.length, 10)
  for (const { geometry } of page.features) {
    assert.ok(geometry?.type === 'Point')
    const [x, y] = geometry.coordinates
    assert.ok(x! >= 0 && x! <= 20 && y! >= 30 && y! <= 40)
  }
  const options = { filter: 'number < 50', sortby: ['-number'], columns: ['number'], limit: 3 }
  const few = await client.items('many', options)
  assert.deepEqual(
    few.features.map((feature) => feature.properties),
    [{ number: 49 }, { number: 48 }, { number: 47 }],
  )
  const filter = { op: '=', args: [{ property: 'number' }, 77] }
  assert.deepEqual(
    (await client.items('many', { filter })).features.map(({ id }) => id),
    [77],
  )
  for (const [count, matched] of [
    ['exact', 49],
    ['none', undefined],
  ] as const) {
    assert.equal((await client.items('many', { ...options, count })).numberMatched, matched)
  }
})

test('names of columns may contain commas and brackets', async () => {
  const names = ['size, in m²', '[a]', 'b']
  for (const columns of [['size, in m²'], ['[a]'], ['b', 'size, in m²']]) {
    const { features } = await client.items('awkward', { columns })
    assert.equal(features.length, 3)
    for (const { properties } of features) {
      assert.deepEqual(
        Object.keys(properties),
        names.filter((name) => columns.includes(name)),
      )
    }
  }
  for (const sortby of [['-size, in m²'], ['-[a]', 'b'], '-b,[a]']) {
    const { features } = await client.items('awkward', { sortby })
    assert.deepEqual(
      features.map(({ properties }) => properties['b']),
      [2, 1, 0],
    )
  }
})

test('a download is a Buffer in Node, and a Blob where one is asked for', async () => {
  const csv = await client.download('places', 'csv')
  assert.ok(Buffer.isBuffer(csv))
  assert.equal(csv.toString().trim().split('\n').length, 201)
  const blob = await client.download('places', 'csv', { as: 'blob' })
  assert.ok(blob instanceof Blob)
  assert.equal(blob.type, 'text/csv; charset=utf-8')
  assert.equal(await blob.text(), csv.toString())
})

test('every format can be downloaded, and an older version', async () => {
  const { formats } = await client.dataset('places')
  assert.ok(formats.length >= 8)
  for (const { format } of formats) assert.ok((await client.download('places', format)).length > 0, format)
  const old = JSON.parse((await client.download('places', 'geojson', { version: 1 })).toString())
  assert.equal(old.features.length, 50)
})

test('a download goes into a stream, web or Node, with its progress', async () => {
  const whole = await client.download('many', 'geojson')
  const path = join(server.folder, 'many.out')
  const seen: Progress[] = []
  const stream = createWriteStream(path)
  const bytes = await client.downloadTo('many', 'geojson', stream, { onProgress: (now) => seen.push(now) })
  assert.equal(bytes, whole.length)
  assert.ok(stream.closed || stream.writableFinished)
  assert.ok(whole.equals(await readFile(path)))
  assert.deepEqual(seen[0], { received: 0, total: whole.length })
  assert.deepEqual(seen.at(-1), { received: whole.length, total: whole.length })
  const chunks: Uint8Array[] = []
  let closed = false
  const web = new WritableStream<Uint8Array>({
    write: (chunk) => void chunks.push(chunk),
    close: () => {
      closed = true
    },
  })
  await client.downloadTo('many', 'geojson', web)
  assert.ok(closed && whole.equals(Buffer.concat(chunks)))
})

test('a key may come from a function, which is asked anew when one is refused', async () => {
  const asked: (string | undefined)[] = []
  const expired = 'svc_live_00000000000000000000000000000000'
  const apiKey = async (refused?: string) => {
    asked.push(refused)
    return refused ? key : expired
  }
  const session = new Wayleave({ apiKey, baseUrl: server.url })
  assert.equal((await session.items('places', { limit: 1 })).features.length, 1)
  assert.deepEqual(asked, [undefined, expired])
  const signedOut = new Wayleave({ apiKey: () => undefined, baseUrl: server.url })
  assert.equal((await signedOut.sample('places')).length, 20)
  await assert.rejects(signedOut.download('places', 'csv'), {
    name: 'AuthenticationError',
    code: 'key-missing',
  })
})

test('the constructor names what is missing, and the key is shown nowhere', () => {
  assert.throws(() => new Wayleave({ apiKey: ' ', baseUrl: server.url }), WayleaveError)
  assert.throws(() => new Wayleave({ apiKey: key }), /baseUrl/)
  for (const apiKey of ['a b', 'schlüssel', 'a\nx: 1']) {
    assert.throws(
      () => new Wayleave({ apiKey, baseUrl: server.url }),
      (error: Error) => error instanceof WayleaveError && !error.message.includes(apiKey),
    )
  }
  const shown = inspect([client, client.items('places')], { depth: 9, showHidden: true })
  assert.ok(!(shown + JSON.stringify(client)).includes(key))
})

test('a publisher looks at a file, publishes it, releases a draft and rolls back', async () => {
  const { publisher } = client
  const file = new Blob(['code,height\n1,2\n2,3\n'])
  const seen = await publisher.inspect(file, { filename: 'managed.csv', types: { code: 'text' } })
  assert.deepEqual([seen.rows, seen.columns.map(({ type }) => type)], [2, ['text', 'integer']])
  await assert.rejects(async () => client.dataset('managed'), { status: 404 })
  const phases: string[] = []
  const job = await publisher.publish('managed', new TextEncoder().encode('code,height\n1,2\n2,3\n'), {
    ...{ filename: 'managed.csv', title: 'Managed & <new>', keywords: ['one', 'two'], credits: 3 },
    onProgress: ({ phase }) => phases.push(phase),
  })
  assert.deepEqual([job.state, job.report.version, job.report.rows], ['done', 1, 2])
  const { title, keywords, credits } = await client.dataset('managed')
  assert.deepEqual([title, keywords, credits], ['Managed & <new>', ['one', 'two'], 3])
  assert.equal((await publisher.job(job.id)).state, 'done')
  assert.equal((await publisher.schema('managed')).isFixed, false)
  await publisher.setSchema('managed', { columns: [{ name: 'height', type: 'integer', unit: 'm' }] })
  assert.equal((await publisher.schema('managed')).isFixed, true)
  await publisher.publish('managed', file, { filename: 'managed.csv', draft: true })
  assert.equal((await client.dataset('managed')).version, 1)
  assert.equal(await publisher.release('managed'), 2)
  assert.equal(await publisher.rollBack('managed', 1), 3)
  await assert.rejects(async () => publisher.release('managed'), ConflictError)
  const broken = new Blob(['height\nx\n'])
  await assert.rejects(async () => publisher.publish('managed', broken, { format: 'csv' }), PublishError)
  const invalid = { type: 'Feature', properties: {}, geometry: { type: 'Point', coordinates: [500, 0] } }
  const rows = new Blob([JSON.stringify({ type: 'FeatureCollection', features: [invalid, invalid] })])
  const error = await publisher.publish('broken', rows).catch((reason) => reason)
  assert.deepEqual([error.name, error.problemCount, error.problems[0].row], ['PublishError', 2, 1])
})

test('a publisher sets, reads and removes the source of a dataset', async () => {
  const { publisher } = client
  const address = 'https://data.example.org/places.csv'
  const source = await publisher.setSource('places', address, { reading: { idColumn: 'number' } })
  assert.deepEqual([source.every, source.options], [null, { idColumn: 'number' }])
  assert.equal((await publisher.source('places')).address, address)
  assert.equal(await publisher.removeSource('places'), undefined)
  await assert.rejects(async () => publisher.source('places'), { status: 404 })
})

test('a publisher runs a source, follows its job and cancels it', async (t) => {
  const { publisher } = client
  const silent = createServer().listen(0, '127.0.0.1')
  t.after(() => {
    silent.close()
    silent.closeAllConnections()
  })
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  await publisher.setSource('places', `http://127.0.0.1:${port}/places.csv`)
  const requested = once(silent, 'request')
  const id = await publisher.runSource('places')
  await requested
  assert.equal((await publisher.job(id)).state, 'running')
  assert.equal((await publisher.cancelJob(id)).state, 'cancelled')
  assert.equal((await publisher.job(id)).state, 'cancelled')
  await publisher.removeSource('places')
  await assert.rejects(async () => publisher.runSource('places'), { status: 404 })
  await assert.rejects(async () => publisher.cancelJob('job_none'), { status: 404 })
})

test('every option of the service is one of the publisher, and others are refused before anything is sent', async () => {
  const { paths } = (await (await fetch(`${server.url}/v1/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { parameters: { name: string; in: string }[] }>>
  }
  const options = (path: string, method: string) =>
    paths[path]![method]!.parameters.filter((one) => one.in === 'query').map(({ name }) => name)
  const without = (names: string[]) =>
    names.filter((name) => !['columns', 'inspection'].includes(name)).sort()
  assert.deepEqual(without(options('/v1/dataset/{table}', 'put')), [...PUBLISH_PARAMETERS].sort())
  assert.deepEqual(without(options('/v1/inspect', 'post')), [...INSPECT_PARAMETERS].sort())
  const offline = new Wayleave({
    baseUrl: 'https://data.example.org',
    fetch: () => assert.fail('a request was sent'),
  }).publisher
  const file = new Blob(['a\n1\n'])
  // @ts-expect-error: a misspelt option
  await assert.rejects(async () => offline.publish('a', file, { titel: 'T' }), /Did you mean "title"/)
  // @ts-expect-error: a path
  await assert.rejects(async () => offline.publish('a', 'a.csv'), /openAsBlob/)
})

test('an upload is repeated if it was refused, and not if its response was lost', async () => {
  const answers: (() => Response)[] = [
    () => new Response('', { status: 503 }),
    () => {
      throw new TypeError('fetch failed')
    },
  ]
  let sent = 0
  const flaky = new Wayleave({
    ...{ baseUrl: server.url, apiKey: key, sleep: async () => {} },
    fetch: async () => answers[sent++]!(),
  })
  await assert.rejects(async () => flaky.publisher.publish('lost', new Blob(['a\n1\n'])), {
    name: 'ConnectionError',
  })
  assert.equal(sent, 2)
})
