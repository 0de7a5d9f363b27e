import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signIn } from '../../testing/sign-in.ts'
import { openOgc, point } from '../testing/open-ogc.ts'

const EPSG = 'http://www.opengis.net/def/crs/EPSG/0'

/** A query, its status and, for errors, the parameter or code that the response names. */
const QUERIES: [query: string, status: number, named?: string][] = [
  ['', 200],
  ['?', 200],
  ['?limit=1', 200],
  ['?limit=10000', 200],
  ['?limit=10001', 200],
  ['?limit=999999999', 200],
  ['?limit=99999999999999999999999', 200],
  ['?limit=0', 400, 'limit'],
  ['?limit=-1', 400, 'limit'],
  ['?limit=1.5', 400, 'limit'],
  ['?limit=x', 400, 'limit'],
  ['?limit=', 400, 'limit'],
  ['?limit=1&limit=2', 400, 'limit'],
  ['?limit=1&%6Cimit=2', 400, 'limit'],
  [`?${Array.from({ length: 501 }, (_, i) => `a${i}`).join('&')}`, 400, 'query'],
  ['?offset=0', 200],
  ['?offset=99', 200],
  ['?offset=-1', 400, 'offset'],
  ['?offset=', 400, 'offset'],
  ['?offset=1&offset=1', 400, 'offset'],
  ['?bbox=0,0,1,1', 200],
  ['?bbox=0,0,0,1,1,9', 200],
  ['?bbox=170,0,-170,1', 200],
  ['?bbox=170,0,190,1', 200],
  ['?bbox=%201,%202,%203,%204', 200],
  ['?bbox=1e0,-2.5,.5e1,4.', 200],
  ['?bbox=0,0,1', 400, 'bbox'],
  ['?bbox=0,0,1,1,1', 400, 'bbox'],
  ['?bbox=0,0,1,1,1,1,1', 400, 'bbox'],
  ['?bbox=0,0,1,a', 400, 'bbox'],
  ['?bbox=0,0,1,', 400, 'bbox'],
  ['?bbox=0,0,1,NaN', 400, 'bbox'],
  ['?bbox=0,0,1,Infinity', 400, 'bbox'],
  ['?bbox=0,0,1,0x10', 400, 'bbox'],
  ['?bbox=0,1,1,0', 400, 'bbox'],
  ['?bbox=0,0,5,1,1,4', 400, 'bbox'],
  ['?bbox=', 400, 'bbox'],
  ['?bbox=0,0,1,1&bbox=0,0,1,1', 400, 'bbox'],
  [`?bbox=0,0,1,1&bbox-crs=${EPSG}/4326`, 200],
  [`?bbox=0,0,1,1&bbox-crs=${EPSG}/3857`, 200],
  [`?bbox=1,0,0,1&bbox-crs=${EPSG}/3857`, 400, 'bbox'],
  [`?bbox=0,0,1,1&bbox-crs=${EPSG}/2154`, 400, 'bbox-crs'],
  ['?bbox=0,0,1,1&bbox-crs=', 400, 'bbox-crs'],
  [`?crs=${EPSG}/4326`, 200],
  ['?crs=EPSG:3857', 200],
  ['?crs=%5BEPSG:3857%5D', 200],
  ['?crs=urn:ogc:def:crs:EPSG::3857', 200],
  ['?crs=http://www.opengis.net/def/crs/OGC/1.3/CRS84', 200],
  [`?crs=${EPSG}/999999`, 400, 'crs'],
  ['?crs=Berlin', 400, 'crs'],
  ['?crs=', 400, 'crs'],
  [`?crs=${EPSG}/4326&crs=${EPSG}/4326`, 400, 'crs'],
  ['?datetime=2020-01-01', 200],
  ['?datetime=2020-01-01T00:00:00Z', 200],
  ['?datetime=2020-01-01/2020-12-31', 200],
  ['?datetime=../2020-12-31', 200],
  ['?datetime=/2020-12-31', 200],
  ['?datetime=2020-01-01/..', 200],
  ['?datetime=2020-01-01/', 200],
  ['?datetime=2020-01-01T02:00:00%2B02:00/..', 200],
  ['?datetime=../..', 400, 'datetime'],
  ['?datetime=2020-12-31/2020-01-01', 400, 'datetime'],
  ['?datetime=2020-02-30', 400, 'datetime'],
  ['?datetime=yesterday', 400, 'datetime'],
  ['?datetime=2020-01-01/2020-01-02/2020-01-03', 400, 'datetime'],
  ['?datetime=', 400, 'datetime'],
  ['?datetime=2020-01-01&datetime=2020-01-01', 400, 'datetime'],
  ['?filter=n%3E1', 200],
  ['?filter=n%3E1&filter-lang=cql2-text', 200],
  ['?filter={"op":"%3E","args":[{"property":"n"},1]}', 200],
  ['?filter={"op":"%3E","args":[{"property":"n"},1]}&filter-lang=cql2-json', 200],
  ['?filter=n%3E1&filter-lang=sql', 400, 'filter-lang'],
  ['?filter=n%3E1&filter-lang=cql2-json', 400, 'invalid-filter'],
  [`?filter=n%3E1&filter-crs=${EPSG}/3857`, 200],
  [`?filter=n%3E1&filter-crs=${EPSG}/1`, 400, 'filter-crs'],
  ['?filter=n%3E', 400, 'invalid-filter'],
  ['?filter=nowhere%3E1', 400, 'invalid-filter'],
  ["?filter=n%3E'x'", 400, 'invalid-filter'],
  ['?filter=', 400, 'invalid-filter'],
  ['?filter=n%3E1&filter=n%3E1', 400, 'filter'],
  ['?sortby=n', 200],
  ['?sortby=-n,+name', 200],
  ['?sortby=-n,%2Bname', 200],
  ['?sortby=nowhere', 400, 'sortby'],
  ['?sortby=n,n', 400, 'sortby'],
  ['?sortby=nested', 400, 'sortby'],
  ['?sortby=geometry', 400, 'sortby'],
  ['?sortby=', 400, 'sortby'],
  ['?properties=n', 200],
  ['?properties=name,n', 200],
  ['?properties=', 200],
  ['?properties=nowhere', 400, 'properties'],
  ['?properties=n&properties=n', 400, 'properties'],
  ['?n=3', 200],
  ['?n=3.0', 200],
  ['?n=x', 400, 'n'],
  ['?n=3&n=4', 400, 'n'],
  ['?name=', 200],
  ['?name=A', 200],
  ['?open=true', 200],
  ['?open=1', 200],
  ['?open=2', 400, 'open'],
  ['?day=2020-01-01', 200],
  ['?day=soon', 400, 'day'],
  ['?nested=1', 400, 'nested'],
  ['?geometry=1', 400, 'geometry'],
  ['?f=json', 200],
  ['?f=geojson', 200],
  ['?f=html&bbox=&filter=', 200],
  ['?f=xml', 400, 'f'],
  ['?f=', 400, 'f'],
  ['?f=json&f=json', 400, 'f'],
  ['?cursor=x', 400, 'invalid-cursor'],
  ['?cursor=', 400, 'invalid-cursor'],
  ['?cursor=AAAAAAAAAAAAAAAAAAAAAAAA', 400, 'invalid-cursor'],
  ['?nowhere=1', 400, 'nowhere'],
  // The key of the header is used.
  ['?api_key=x', 200],
  ['?Limit=1', 400, 'Limit'],
  ['?__proto__=1', 400, '__proto__'],
  ['?limit=%', 400, 'query'],
  ['?limit=1&', 200],
  ['?&&limit=1', 200],
]

test('every parameter takes good values and refuses bad, repeated, empty and unknown ones', async (t) => {
  const service = await openOgc(t)
  await service.publish('places', [
    point(0.5, 0.5, { n: 3, name: 'A', open: true, day: '2020-01-01', nested: { a: [1] } }),
    point(2, 3, { n: 4, name: '', open: false, day: '2021-01-01', nested: null }),
  ])
  for (const [query, status, named] of QUERIES) {
    const answer = await service.get(`/collections/places/items${query}`)
    assert.equal(answer.status, status, `${query} ${answer.text}`)
    if (named === undefined) continue
    const names = [answer.body.code, ...(answer.body.errors ?? []).map(({ path }: { path: string }) => path)]
    assert.ok(names.includes(named), `${query} names ${names}`)
    assert.match(answer.headers.get('content-type')!, /^application\/problem\+json/)
  }
  const clamped = await service.get('/collections/places/items?limit=999999999')
  assert.equal(clamped.body.numberReturned, 2)
})

test('everywhere an unknown parameter is 400, a wrong segment 404, and a missing key 401', async (t) => {
  const service = await openOgc(t)
  await service.publish('places', [point(1, 2, { n: 1 }, 'a/b')], {})
  const open = ['', '/api', '/conformance', '/style.css']
  const closed = [
    '/collections',
    '/collections/places',
    '/collections/places/schema',
    '/collections/places/queryables',
    '/collections/places/sortables',
    '/collections/places/items',
    '/collections/places/items/a%2Fb',
  ]
  for (const path of [...open, ...closed]) {
    assert.equal((await service.fetch(path)).status, 200, path)
    assert.equal((await service.fetch(`${path}/`)).status, 200, `${path}/`)
    assert.equal((await service.fetch(`${path}?x=1`)).status, 400, path)
    assert.equal((await service.fetch(`${path}?f=json&f=json`)).status, 400, path)
    if (path !== '/style.css') assert.equal((await service.fetch(`${path}?f=tiff`)).status, 400, path)
    const options = await fetch(`${service.url}/v1/ogc${path}`, { method: 'OPTIONS' })
    assert.equal(options.status, 204, path)
    assert.match(options.headers.get('allow')!, /GET, HEAD, OPTIONS/)
    const posted = await service.fetch(path, { method: 'POST' })
    assert.equal(posted.status, 405, path)
    const head = await service.fetch(path, { method: 'HEAD' })
    const got = await service.fetch(path)
    assert.equal(head.status, 200, path)
    for (const name of ['content-type', 'content-length', 'etag', 'vary', 'content-crs']) {
      assert.equal(head.headers.get(name), got.headers.get(name), `${name} of ${path}`)
    }
    const anonymous = await fetch(`${service.url}/v1/ogc${path}`)
    assert.equal(anonymous.status, open.includes(path) ? 200 : 401, path)
  }
  for (const path of [
    '/nowhere',
    '/collections/nowhere',
    '/collections/Places%20',
    '/collections/nowhere/items',
  ]) {
    assert.equal((await service.get(path)).status, 404, path)
  }
  assert.equal((await service.get('/collections/places/items/zzz')).status, 404)
  assert.equal((await service.get(`/collections/places/items/${'z'.repeat(500)}`)).status, 404)
  const browser = await fetch(`${service.url}/v1/ogc/collections`, { headers: { accept: 'text/html' } })
  // A browser that is told of Basic asks for a password before it shows the page that leads to the sign-in.
  assert.equal(browser.headers.get('www-authenticate'), 'ApiKey header="X-API-Key"')
  const basic = Buffer.from(`${service.key}:`).toString('base64')
  const asked = await fetch(`${service.url}/v1/ogc/collections`, {
    headers: { accept: 'text/html', authorization: `Basic ${basic}` },
  })
  assert.equal(asked.status, 200)
  assert.match(asked.headers.get('content-type')!, /^text\/html/)
})

test('a key sees only what it may read, and an organization needs GIS_ACCESS', async (t) => {
  const service = await openOgc(t)
  await service.publish('parcels', [point(1, 2, {})])
  await service.publish('roads', [point(1, 2, {})])
  const { keys } = service.parts
  const origin = { actor: 'operator', address: null, requestId: null }
  const limited = await keys.createPlatform(origin, { name: 'one', permissions: ['read:parcels'] })
  const writing = await keys.createPlatform(origin, { name: 'none', permissions: ['write'] })
  const list = await service.get('/collections', { key: limited.secret })
  assert.deepEqual(
    list.body.collections.map(({ id }: { id: string }) => id),
    ['parcels'],
  )
  assert.equal((await service.get('/collections/parcels/items', { key: limited.secret })).status, 200)
  const refused = await service.get('/collections/roads/items', { key: limited.secret })
  assert.equal(refused.status, 403)
  assert.match(refused.body.detail, /read.*roads/)
  for (const path of ['/collections', '/collections/roads', '/collections/roads/items']) {
    assert.equal((await service.get(path, { key: writing.secret })).body.code, 'permission-missing', path)
  }

  const { token, organizationId } = await signIn(service, 'ann@example.org')
  const body = { name: 'mine', permissions: ['read'] }
  const { secret } = (await service.request('POST', '/v1/api-keys/personal', { token, body })).body
  for (const path of [
    '/collections',
    '/collections/roads',
    '/collections/roads/items',
    '/collections/roads/items/1',
  ]) {
    const lacking = await service.get(path, { key: secret })
    assert.deepEqual([lacking.status, lacking.body.code], [403, 'add-on-missing'], path)
    assert.match(lacking.body.detail, /GIS_ACCESS/)
  }
  await service.parts.administration.setAddOns(origin, organizationId, () => ['GIS_ACCESS'])
  assert.equal((await service.get('/collections/roads/items', { key: secret })).status, 200)
})
