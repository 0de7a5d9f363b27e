import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAccount } from '../testing/account.ts'
import { points, publishText } from '../testing/publish.ts'
import { openTestServer } from '../testing/test-server.ts'

const COLLECTIONS = '/v1/ogc/collections'
/** What reads data, with the response for everybody. */
const DATA: [path: (table: string) => string, cacheControl: string][] = [
  [(table) => `${COLLECTIONS}/${table}`, 'public, max-age=60'],
  [(table) => `${COLLECTIONS}/${table}/queryables`, 'public, max-age=60'],
  [(table) => `${COLLECTIONS}/${table}/items`, 'public, max-age=60'],
  [(table) => `${COLLECTIONS}/${table}/items?limit=2&f=csv`, 'public, max-age=60'],
  [(table) => `${COLLECTIONS}/${table}/items/1`, 'public, max-age=60'],
  [(table) => `${COLLECTIONS}/${table}/facets`, 'public, max-age=60'],
  [(table) => `${COLLECTIONS}/${table}/extract?f=csv`, 'public, max-age=60'],
  [(table) => `${COLLECTIONS}/${table}/tiles/WebMercatorQuad?f=tilejson`, 'public, max-age=60'],
  [(table) => `${COLLECTIONS}/${table}/style`, 'public, max-age=60'],
  [(table) => `${COLLECTIONS}/${table}/tiles/WebMercatorQuad/0/0/0`, 'public, max-age=60'],
  [
    (table) => `${COLLECTIONS}/${table}/tiles/WebMercatorQuad/0/0/0?version=1`,
    'public, max-age=86400, immutable',
  ],
  [(table) => `/v1/dataset/${table}/files/csv`, 'public, max-age=60'],
  [(table) => `/v1/dataset/${table}/files/geojson/${table}.geojson`, 'public, max-age=60'],
  [(table) => `/v1/dataset/${table}/archives/1/files/csv`, 'public, max-age=60'],
]

test('everybody reads an open dataset without a key, for free, and shared caches may store it', async (t) => {
  const service = await openTestServer(t, { settings: { dailyFeatures: 3, openRate: 1000 } })
  for (const [table, visibility] of [
    ['trees', 'open'],
    ['salaries', 'private'],
  ] as const) {
    const description = { visibility, credits: 5 }
    await publishText(service, table, 'a.geojson', points(30), { description, tiles: true })
    await service.parts.tileBuilds.build(await service.parts.catalog.find(table))
  }
  const { key } = await openAccount(service, 'ada@example.org')
  const generalized = (text: string) =>
    text.replaceAll('salaries', 'nowhere').replace(/"requestId":"[^"]*"/, '')
  for (const [pathOf, cacheControl] of DATA) {
    const path = pathOf('trees')
    const everybody = await service.request('GET', path)
    assert.equal(everybody.status, 200, `${path} ${everybody.text}`)
    assert.equal(everybody.headers.get('cache-control'), cacheControl, path)
    assert.match(everybody.headers.get('ratelimit-policy') ?? '', /^"(open|tile)"/)
    // No add-on is needed and no credit either; what depends on a key is not shared.
    const holder = await service.request('GET', path, { key })
    assert.equal(holder.status, 200, `${path} ${holder.text}`)
    assert.match(holder.headers.get('cache-control') ?? '', /^private/)
    if (path.includes('/files/')) assert.equal(holder.headers.get('credits-charged'), '0')
    // Everything else is refused as before, and as if there were no such dataset.
    for (const options of [{}, { key }]) {
      const hidden = await service.request('GET', pathOf('salaries'), options)
      const unknown = await service.request('GET', pathOf('nowhere'), options)
      assert.equal(hidden.status, 'key' in options ? 404 : 401, hidden.text)
      assert.equal(generalized(hidden.text), generalized(unknown.text))
    }
    assert.equal((await service.request('GET', path, { key: 'svc_live_x' })).status, 401)
  }
  const search = await service.request('POST', `${COLLECTIONS}/trees/search`, { body: { limit: 1 } })
  assert.equal(search.body.features.length, 1)
  assert.equal((await service.request('GET', '/v1/dataset/trees')).body.credits, 0)
  await service.parts.meter.flush()
  const rows = await service.parts.database.db
    .selectFrom('usage')
    .select(['operation', 'calls', 'credits'])
    .where('key_id', '=', 'anonymous')
    .where('operation', '=', 'tiles')
    .execute()
  assert.deepEqual(rows, [{ operation: 'tiles', calls: 2, credits: 0 }])
})

test('open data without a key is limited by network address', async (t) => {
  const service = await openTestServer(t, { settings: { openRate: 2 } })
  await publishText(service, 'trees', 'a.geojson', points(3), { description: { visibility: 'open' } })
  const statuses = []
  for (let i = 0; i < 3; i++)
    statuses.push((await service.request('GET', `${COLLECTIONS}/trees/items`)).status)
  assert.deepEqual(statuses, [200, 200, 429])
  // Without an open dataset, the list of collections needs a key.
  await service.parts.publishing.unpublish('trees', {
    actor: 'operator',
    address: null,
    requestId: null,
  })
  assert.equal((await service.request('GET', COLLECTIONS)).status, 401)
})
