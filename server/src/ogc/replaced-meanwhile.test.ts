import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { lacks } from '../../../scripts/test-run/needs.ts'
import { openAccount } from '../testing/account.ts'
import { points, publishText } from '../testing/publish.ts'
import { openTestServer, type RequestOptions } from '../testing/test-server.ts'

const ROOT = '/v1/ogc/collections/places'

async function openReplacing(t: TestContext) {
  const service = await openTestServer(t, { settings: { keepVersions: 1 } })
  const { key } = await openAccount(service, 'ada@example.org', { addOns: ['GIS_ACCESS'], credits: 100 })
  const { snapshots } = service.parts
  const use = snapshots.use.bind(snapshots)
  let rows = 10
  const publish = () => publishText(service, 'places', 'places.geojson', points(rows))
  await publish()
  /**
   * The response to a request that has found a version when another one, with more rows, replaces it. Most of an
   * open snapshot could still be read, so none is open.
   */
  const request = async (method: string, path: string, options: RequestOptions = {}) => {
    await snapshots.close()
    return requestOpen(method, path, options)
  }
  const requestOpen = async (method: string, path: string, options: RequestOptions = {}) => {
    let isReplaced = false
    snapshots.use = async (version, work) => {
      snapshots.use = use
      rows += 10
      await publish()
      isReplaced = true
      return use(version, work)
    }
    const answer = await service.request(method, path, { key, ...options })
    assert.ok(isReplaced, path)
    return { ...answer, rows }
  }
  return { service, key, request, requestOpen }
}

const filter = (text: string) => `filter=${encodeURIComponent(text)}`

test('a page of features of a version that is replaced meanwhile is one of the new version', async (t) => {
  const { service, key, request } = await openReplacing(t)
  const paths = [
    `${ROOT}/items?limit=1000`,
    `${ROOT}/items?limit=1000&${filter("name LIKE 'Point%'")}`,
    `${ROOT}/items?limit=1000&${filter("CASEI(name) LIKE CASEI('POINT%')")}&sortby=-number`,
    `${ROOT}/items?limit=1000&f=jsonfg`,
  ]
  for (const path of paths) {
    const { status, body, text, headers, rows } = await request('GET', path)
    assert.equal(status, 200, `${path} ${text}`)
    assert.deepEqual([body.numberReturned, body.numberMatched], [rows, rows], path)
    const again = await service.request('GET', path, { key })
    assert.deepEqual(again.body.features, body.features, path)
    for (const name of ['etag', 'vary', 'content-type', 'content-crs'])
      assert.equal(headers.get(name), again.headers.get(name), `${path} ${name}`)
  }
  const search = await request('POST', `${ROOT}/search`, { body: { limit: 1000 } })
  assert.deepEqual([search.status, search.body.numberReturned], [200, search.rows], search.text)
})

test('a search in a snapshot that is open when it is removed finds the features of either version', {
  skip: lacks('time'),
}, async (t) => {
  const { service, key, requestOpen } = await openReplacing(t)
  const filters = ["name LIKE 'Point%'", "CASEI(name) LIKE CASEI('POINT%')", 'half + number >= 0']
  for (const text of filters) {
    const before = await service.request('GET', `${ROOT}/items/1`, { key })
    assert.equal(before.status, 200)
    const path = `${ROOT}/items?limit=1000&f=csv&${filter(text)}`
    const page = await requestOpen('GET', path)
    assert.equal(page.status, 200, `${text} ${page.text}`)
    const count = Number(page.headers.get('ogc-numbermatched'))
    assert.ok([page.rows - 10, page.rows].includes(count), `${text} ${count}`)
  }
})

test('a single feature, facets, the schema and an extract are of the new version too', async (t) => {
  const { request } = await openReplacing(t)
  const item = await request('GET', `${ROOT}/items/15`)
  assert.deepEqual([item.status, item.body.properties?.number], [200, 14], item.text)
  const facets = await request('GET', `${ROOT}/facets?columns=name`)
  assert.deepEqual([facets.status, facets.body.numberMatched], [200, facets.rows], facets.text)
  const schema = await request('GET', `${ROOT}/feature-schema`)
  assert.equal(schema.status, 200, schema.text)
  const extract = await request('GET', `${ROOT}/extract?f=json`)
  assert.deepEqual([extract.status, extract.body.features?.length], [200, extract.rows], extract.text)
})

test('a repeated page is counted once, and one of a cursor is not repeated', async (t) => {
  const { service, key, request } = await openReplacing(t)
  const { db } = service.parts.database
  await request('GET', `${ROOT}/items?limit=5`)
  await service.parts.meter.flush()
  const usage = await db.selectFrom('usage').select('calls').where('operation', '=', 'items').execute()
  assert.deepEqual(usage, [{ calls: 1 }])
  const { body } = await service.request('GET', `${ROOT}/items?limit=5`, { key })
  const next: string = body.links.find(({ rel }: { rel: string }) => rel === 'next').href
  const after = await request('GET', next.slice(service.url.length))
  assert.deepEqual([after.status, after.body.code], [404, 'not-found'], after.text)
})
