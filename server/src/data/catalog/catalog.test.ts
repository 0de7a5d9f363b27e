import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lacks } from '../../../../scripts/test-run/needs.ts'
import { openAccount } from '../../testing/account.ts'
import { points, publishText } from '../../testing/publish.ts'
import { openTestServer, temporaryDatabase, temporaryFolder } from '../../testing/test-server.ts'
import { storeMissingSummaries } from './store.ts'

const METADATA = [
  ...['table', 'title', 'description', 'license', 'attribution', 'contact', 'citation'],
  ...['updateFrequency', 'keywords', 'geometryType'],
  ...[
    'geometryTypes',
    'bbox',
    'timeExtent',
    'rows',
    'columns',
    'idColumn',
    'version',
    'updatedAt',
    'visibility',
    'owner',
    'credits',
    'extractPrice',
    'formats',
    'tiles',
    'sample',
  ],
]

test('metadata is public, has its fields, and says what was published', async (t) => {
  const service = await openTestServer(t)
  assert.deepEqual((await service.request('GET', '/v1/datasets')).body, { data: [], next: null })
  const description = {
    title: 'Places',
    description: 'Some',
    license: 'CC0',
    attribution: 'Us',
    keywords: ['a', 'b'],
    credits: 7,
  }
  await publishText(service, 'places', 'places.geojson', points(30), { description })
  await publishText(service, 'a_table', 'rows.csv', 'code,name,since\n007,James,1953-04-13\n008,Bill,\n')
  const { body } = await service.request('GET', '/v1/dataset/places')
  assert.deepEqual(Object.keys(body), [...METADATA, 'access', 'statistics'])
  assert.deepEqual(Object.keys(body.statistics), ['number', 'name', 'half'])
  assert.deepEqual([body.statistics.name.distinct, body.statistics.name.nulls], [30, 0])
  for (const [name, value] of Object.entries(description)) assert.deepEqual(body[name], value, name)
  assert.deepEqual([body.geometryType, body.rows, body.version], ['Point', 30, 1])
  assert.deepEqual([body.geometryTypes, body.timeExtent], [['Point'], null])
  assert.deepEqual(body.bbox, [-180, -90, -151, -61])
  assert.deepEqual(body.columns[1], { name: 'name', type: 'text', nullable: false })
  assert.deepEqual(body.idColumn, { name: 'id', type: 'integer' })
  assert.ok(Math.abs(Date.parse(body.updatedAt) - Date.now()) < 60_000)
  const csv = body.formats.find((one: { format: string }) => one.format === 'csv')
  assert.deepEqual(csv, {
    format: 'csv',
    mediaType: 'text/csv; charset=utf-8',
    url: `${service.url}/v1/dataset/places/files/csv`,
    bytes: null,
  })
  const { data } = (await service.request('GET', '/v1/datasets')).body
  assert.deepEqual(
    data.map((one: { table: string }) => one.table),
    ['a_table', 'places'],
  )
  const { statistics: _, access: _access, ...listed } = body
  assert.deepEqual(data[1], listed)
  assert.deepEqual([data[0].geometryType, data[0].bbox, data[0].title], [null, null, 'A table'])
  assert.deepEqual([data[0].geometryTypes, data[0].timeExtent], [[], ['1953-04-13', '1953-04-13']])
  assert.equal(data[0].columns[0].type, 'text', 'leading zeros are kept')

  // Versions that an earlier program published have no summary until a node has stored it.
  const { changes, database } = service.parts
  const { db } = database
  await db.updateTable('versions').set({ summary: null }).execute()
  await changes.commit(async (_tx, changed) => changed('dataset', 'places'))
  assert.deepEqual((await service.request('GET', '/v1/datasets')).body.data, data)
  assert.equal(await storeMissingSummaries(db), 2)
  assert.equal(await storeMissingSummaries(db), 0)
})

test('the list of datasets is searched by words and keyword, and read a page at a time', async (t) => {
  const service = await openTestServer(t)
  const publish = (table: string, description: object) =>
    publishText(service, table, 'rows.csv', 'n\n1\n', { description })
  await publish('rivers', { title: 'Flüsse und Bäche', keywords: ['Water', 'Nature'] })
  await publish('lakes', { title: 'Lakes', description: 'Stehende Gewässer', keywords: ['water'] })
  await publish('roads', { title: 'Roads', attribution: 'Office of Roads', keywords: ['Traffic'] })
  const tables = async (query: string) => {
    const { body } = await service.request('GET', `/v1/datasets?${query}`)
    return [...body.data.map((one: { table: string }) => one.table), body.next]
  }
  assert.deepEqual(await tables(''), ['lakes', 'rivers', 'roads', null])
  assert.deepEqual(await tables('q=flusse'), ['rivers', null])
  assert.deepEqual(await tables('q=FL%C3%9CSSE%20nature'), ['rivers', null])
  assert.deepEqual(await tables('q=roads%20office'), ['roads', null])
  assert.deepEqual(await tables('q=water%20traffic'), [null])
  assert.deepEqual(await tables('keyword=WATER'), ['lakes', 'rivers', null])
  assert.deepEqual(await tables('keyword=wat'), [null])
  assert.deepEqual(await tables('limit=2'), ['lakes', 'rivers', 'rivers'])
  assert.deepEqual(await tables('limit=2&after=rivers'), ['roads', null])
  assert.deepEqual(await tables('limit=1&keyword=water&after=lakes'), ['rivers', null])
  for (const query of ['limit=0', 'limit=1001', 'page=2', `q=${'a'.repeat(201)}`])
    assert.equal((await service.request('GET', `/v1/datasets?${query}`)).status, 400, query)
})

test('a new version keeps the metadata that the publisher does not change', async (t) => {
  const service = await openTestServer(t)
  await publishText(service, 'places', 'places.geojson', points(3), {
    description: { title: 'First', credits: 9 },
  })
  await publishText(service, 'places', 'places.geojson', points(4), { description: { license: 'CC0' } })
  const { body } = await service.request('GET', '/v1/dataset/places')
  assert.deepEqual(
    [body.title, body.credits, body.license, body.version, body.rows],
    ['First', 9, 'CC0', 2, 4],
  )
})

test('the sample is free, small, spread, shaped like the json export, and fixed for a version', async (t) => {
  const service = await openTestServer(t)
  for (const [rows, expected] of [
    [1, 1],
    [5, 1],
    [200, 20],
    [5000, 100],
  ] as const) {
    await publishText(service, 'places', 'places.geojson', points(rows))
    const answer = await service.request('GET', '/v1/dataset/places/sample/json')
    assert.equal(answer.body.length, expected, `${rows} rows`)
    assert.deepEqual(Object.keys(answer.body[0]), ['number', 'name', 'half', 'longitude', 'latitude'])
    const again = await service.request('GET', '/v1/dataset/places/sample/json')
    assert.equal(again.text, answer.text)
    const headers = { 'if-none-match': answer.headers.get('etag')! }
    assert.equal((await service.request('GET', '/v1/dataset/places/sample/json', { headers })).status, 304)
    if (rows === 5000) {
      const numbers = answer.body.map((row: { longitude: number }) => row.longitude)
      assert.ok(Math.max(...numbers) > 100 && Math.min(...numbers) < -100, 'spread over the dataset')
    }
  }
})

test('a missing dataset is 404, unknown parameters are 400, a wrong key is 401', async (t) => {
  const service = await openTestServer(t)
  await publishText(service, 'places', 'places.geojson', points(3))
  const account = await openAccount(service, 'ada@example.org')
  for (const path of [
    '/v1/dataset/nowhere',
    '/v1/dataset/Bad%20Name',
    '/v1/dataset/nowhere/archives',
    '/v1/dataset/nowhere/sample/json',
    '/v1/dataset/places/sample/csv',
    '/v1/dataset/__proto__',
    `/v1/dataset/${'x'.repeat(150)}`,
  ]) {
    assert.equal((await service.request('GET', path)).status, 404, path)
  }
  for (const path of [
    '/v1/datasets',
    '/v1/dataset/places',
    '/v1/dataset/places/sample/json',
    '/v1/dataset/places/archives',
  ]) {
    assert.equal((await service.request('GET', `${path}?colour=red`)).status, 400, path)
    assert.equal((await service.request('GET', path, { key: 'svc_live_no' })).status, 401, path)
    assert.equal((await service.request('GET', path, { key: account.key })).status, 200, path)
  }
  await service.parts.meter.flush()
  const usage = (
    await service.request('GET', `/v1/api-keys/${account.keyId}/usage`, { token: account.token })
  ).body
  assert.deepEqual(usage.totals, { calls: 4, credits: 0 })
})

test('a version published on one node is seen by the next request to another', {
  skip: lacks('postgres'),
}, async (t) => {
  const databaseUrl = await temporaryDatabase(t)
  const dataDir = temporaryFolder(t)
  const one = await openTestServer(t, { databaseUrl, dataDir })
  const two = await openTestServer(t, { databaseUrl, dataDir })
  for (const rows of [2, 3, 4]) {
    await publishText(one, 'places', 'places.geojson', points(rows))
    assert.equal((await two.request('GET', '/v1/dataset/places')).body.rows, rows)
    assert.equal((await two.request('GET', '/v1/datasets')).body.data[0].rows, rows)
  }
})

test('a dataset that a caller may not know of costs no more queries than one that does not exist', async (t) => {
  const service = await openTestServer(t)
  const description = { title: 'Hidden', visibility: 'private' as const }
  await publishText(service, 'hidden', 'points.geojson', points(3), { description })
  const { catalog } = service.parts
  await catalog.all()
  const before = catalog.lookups.misses
  for (const table of ['hidden', 'absent']) {
    await assert.rejects(async () => catalog.findFor(null, table), { code: 'not-found' })
  }
  assert.equal(catalog.lookups.misses, before)
})
