import assert from 'node:assert/strict'
import { test } from 'node:test'
import Schema from 'typebox/schema'
import { type OgcService, openOgc, point } from '../testing/open-ogc.ts'

interface Link {
  href: string
  rel: string
  type: string
}

const link = (links: Link[], rel: string) => links.find((one) => one.rel === rel)!

/**
 * The ways in which a value violates its schema in an OpenAPI 3.0 definition. JSON Schema lacks OpenAPI's
 * `nullable`, so it is translated.
 */
function failures(schema: object, schemas: object, value: unknown): string[] {
  const whole = JSON.stringify({ ...schema, components: { schemas } }, (_, part) =>
    part?.nullable === true ? { anyOf: [{ ...part, nullable: undefined }, { type: 'null' }] } : part,
  )
  const [, errors] = Schema.Errors(JSON.parse(whole), value)
  return errors.map(({ instancePath, message }) => `${instancePath} ${message}`)
}

async function buildTiles({ parts }: OgcService): Promise<void> {
  const dataset = await parts.catalog.find('places')
  await parts.tileBuilds.build(dataset)
}

test('the landing page leads to everything, and every link has the type that it states', async (t) => {
  const service = await openOgc(t)
  await service.publish('places', [point(1, 2, { n: 1, day: '2020-01-01' })], {
    description: {
      title: 'Places <&> "more"',
      description: 'All of them.',
      license: 'https://example.org/license',
    },
  })
  await buildTiles(service)
  const landing = (await service.get('')).body
  assert.equal(link(landing.links, 'service-desc').type, 'application/vnd.oai.openapi+json;version=3.0')
  assert.equal(link(landing.links, 'service-doc').type, 'text/html')
  const seen = new Set<string>()
  const waiting: Link[] = [...landing.links]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { type, rel } = next
    const href = next.href.replace(/\{\w+\}/g, '0')
    if (rel === 'profile') continue
    assert.ok(href.startsWith(rel === 'license' ? 'https://example.org/' : `${service.url}/`), href)
    if (rel === 'license' || seen.has(`${href} ${type}`)) continue
    seen.add(`${href} ${type}`)
    const answer = await fetch(href, { headers: { 'x-api-key': service.key, accept: type } })
    assert.equal(answer.status, 200, href)
    assert.equal(answer.headers.get('content-type')!.split('; charset')[0], type, href)
    if (!/json$/.test(type) || /seq|nd/.test(type)) continue
    const body = (await answer.json()) as { links?: Link[]; collections?: { links: Link[] }[] }
    const rels = body.links ?? []
    if (rels.length > 0) assert.equal(link(rels, 'self').type, type, href)
    waiting.push(...rels, ...(body.collections ?? []).flatMap((collection) => collection.links))
  }
  assert.ok(seen.size > 20)
})

test('the API definition states the page size, the box and the root, and each collection by name', async (t) => {
  const service = await openOgc(t)
  await service.publish('places', [point(1, 2, { n: 1, f: 'x', at: '2020-01-01T00:00:00Z' })])
  await buildTiles(service)
  const answer = await service.get('/api', { headers: { accept: 'application/json' } })
  const { openapi, servers, paths, components } = answer.body
  assert.match(openapi, /^3\.0\./)
  assert.ok(!answer.text.includes('"required":[]'), 'a list of required members has some')
  assert.deepEqual(servers, [{ url: `${service.url}/v1/ogc` }])
  const { limit, bbox } = components.parameters
  assert.deepEqual(limit.schema, { type: 'integer', minimum: 1, maximum: 10_000, default: 1000 })
  assert.deepEqual(bbox.schema, {
    type: 'array',
    minItems: 4,
    maxItems: 6,
    items: { type: 'number' },
    oneOf: [
      { minItems: 4, maxItems: 4 },
      { minItems: 6, maxItems: 6 },
    ],
  })
  assert.deepEqual([bbox.style, bbox.explode], ['form', false])
  const own = paths['/collections/places/items'].get.parameters.map((one: { name?: string }) => one.name)
  assert.deepEqual(
    own.filter((name: string | undefined) => name !== undefined),
    ['crs', 'bbox-crs', 'filter-crs', 'sortby', 'properties', 'n', 'at', 'id', 'f'],
  )
  for (const path of Object.keys(paths)) {
    const filled = path
      .replace('{collectionId}', 'places')
      .replace('{featureId}', '1')
      .replace('{tileMatrixSetId}', 'WebMercatorQuad')
      .replace(/\{tile\w+\}/g, '0')
    const { get } = paths[path]
    if (!get) continue
    for (const [type, { schema }] of Object.entries<{ schema: object }>(get.responses[200].content)) {
      // GeoJSON has the areas of groups.
      const query = path.endsWith('/aggregate') ? '?groupby=tile(2)' : ''
      const given = await service.fetch((filled === '/' ? '' : filled) + query, { headers: { accept: type } })
      assert.equal(given.status, 200, path)
      const isJson = /json(;|$)/.test(type) && type !== 'application/x-ndjson'
      assert.equal(!('type' in schema), isJson, `${path} as ${type}`)
      if (isJson) assert.deepEqual(failures(schema, components.schemas, await given.json()), [], path)
    }
    for (const query of ['?unknown=1', '?f=none']) {
      const { status, body } = await service.get((filled === '/' ? '' : filled) + query)
      assert.ok(String(status) in get.responses, `${path} may answer ${status}`)
      assert.deepEqual(failures(components.schemas.Problem, components.schemas, body), [])
    }
    const tag = (await service.fetch(filled === '/' ? '' : filled)).headers.get('etag')!
    const again = await service.fetch(filled === '/' ? '' : filled, { headers: { 'if-none-match': tag } })
    assert.ok(String(again.status) in get.responses, `${path} may answer ${again.status}`)
  }
  const references = JSON.stringify(answer.body).matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)
  for (const [, kind, name] of references) assert.ok(components[kind!][name!], `${kind}/${name}`)
})

test('a collection is described: its extent rounded outward, its systems, its schema', async (t) => {
  const service = await openOgc(t, { settings: { crs: ['EPSG:25832'] } })
  const features = [
    point(1.123456789, 2.987654321, { day: '2020-01-01', n: 1, deep: { a: 1 } }),
    point(-3, 4, {}),
  ]
  await service.publish('places', features)
  const { body } = await service.get('/collections/places')
  assert.deepEqual(body.extent.spatial.bbox, [[-3, 2.9876543, 1.1234568, 4]])
  assert.deepEqual(
    body.crs.map((uri: string) => uri.split('/').at(-1)),
    ['CRS84', '4326', '3857', '25832'],
  )
  assert.equal(body.storageCrs, body.crs[0])
  assert.equal(body.itemType, 'feature')
  const schema = (await service.get('/collections/places/schema')).body
  assert.deepEqual(Object.keys(schema.properties), ['day', 'n', 'deep', 'geometry'])
  assert.equal(schema.properties.day['x-ogc-role'], 'primary-instant')
  assert.deepEqual(schema.properties.geometry.format, 'geometry-point')
  assert.deepEqual(Object.keys((await service.get('/collections/places/sortables')).body.properties), [
    'id',
    'day',
    'n',
  ])
  const queryables = (await service.get('/collections/places/queryables')).body
  assert.equal(queryables.$id, `${service.url}/v1/ogc/collections/places/queryables`)
  assert.equal(queryables.properties.geometry['x-ogc-role'], 'primary-geometry')
})

test('a collection tells its time: days from first to last second, moments as they are', async (t) => {
  const service = await openOgc(t)
  const trs = 'http://www.opengis.net/def/uom/ISO-8601/0/Gregorian'
  const times = ['2020-03-01', null, '2019-12-31']
  const moments = ['2020-03-01T10:00:00.5+01:00', null, '2020-03-01T09:30:00Z']
  await service.publish(
    'days',
    times.map((day) => point(1, 2, { day })),
  )
  await service.publish(
    'moments',
    moments.map((at) => ({ type: 'Feature', geometry: null, properties: { at } })),
  )
  const extentOf = async (table: string) => (await service.get(`/collections/${table}`)).body.extent
  const days = (await extentOf('days')).temporal
  assert.deepEqual(days, { interval: [['2019-12-31T00:00:00Z', '2020-03-01T23:59:59Z']], trs })
  const interval = ['2020-03-01T09:00:00.5Z', '2020-03-01T09:30:00Z']
  assert.deepEqual((await extentOf('moments')).temporal, { interval: [interval], trs })
  // A request for the whole interval returns every feature.
  const asked: [string, string[]][] = [
    ['days', days.interval[0]!],
    ['moments', interval],
  ]
  for (const [table, [start, end]] of asked) {
    const { body } = await service.get(`/collections/${table}/items?datetime=${start}/${end}`)
    assert.equal(body.numberReturned, 3, table)
  }
  const page = async () => (await service.fetch('/collections/days?f=html')).text()
  assert.match(await page(), /31 Dec 2019 to 1 Mar 2020/)
  // A snapshot made by an earlier version of the program has no time extent.
  await service.publish(
    'days',
    times.map((day) => point(1, 2, { day })),
  )
  delete (await service.parts.catalog.find('days')).manifest.timeExtent
  assert.deepEqual(Object.keys(await extentOf('days')), ['spatial'])
  assert.doesNotMatch(await page(), /2019-12-31/)
  assert.equal((await service.request('GET', '/v1/dataset/days')).body.timeExtent, null)
  const { body } = await service.get('/collections/days/items?datetime=2020-03-01')
  assert.equal(body.numberReturned, 2)
})

test('a table without geometry is a collection too', async (t) => {
  const service = await openOgc(t)
  await service.publish('rows', [
    { type: 'Feature', geometry: null, properties: { n: 1 } },
    { type: 'Feature', geometry: null, properties: { n: 2 } },
  ])
  assert.equal('extent' in (await service.get('/collections/rows')).body, false)
  assert.equal((await service.get('/collections/rows/items')).body.numberMatched, 2)
  assert.equal((await service.get('/collections/rows/items?bbox=-180,-90,180,90')).body.numberMatched, 2)
  assert.equal((await service.get('/collections/rows/items?filter=n=2')).body.numberReturned, 1)
  for (const f of ['html', 'csv', 'fgb', 'jsonfg', 'ndjson', 'geojsonseq']) {
    assert.equal((await service.fetch(`/collections/rows/items?f=${f}`)).status, 200, f)
  }
  assert.equal((await service.fetch('/collections/rows?f=html')).status, 200)
  const form = await (await service.fetch('/collections/rows/items?f=html')).text()
  assert.doesNotMatch(form, /name="(bbox|datetime)"/)
})

test('a column may have any name, also that of a member of Object.prototype', async (t) => {
  const service = await openOgc(t)
  await service.publish('rows', [point(1, 2, JSON.parse('{"__proto__": 1, "constructor": 2}'))])
  for (const kind of ['schema', 'queryables', 'sortables']) {
    const { text } = await service.get(`/collections/rows/${kind}`)
    const names = Object.keys(JSON.parse(text).properties).filter((name) => name !== 'geometry')
    const ids = kind === 'schema' ? [] : ['id']
    assert.deepEqual(names, [...ids, '__proto__', 'constructor'], kind)
  }
})

test('what has not changed is not sent again, and what has is', async (t) => {
  const service = await openOgc(t)
  await service.publish('places', [point(1, 2, { n: 1 })])
  const paths = [
    '',
    '/api',
    '/collections',
    '/collections/places',
    '/collections/places/items',
    '/collections/places/items/1',
  ]
  const tags = new Map<string, string>()
  for (const path of paths) {
    const first = await service.fetch(path)
    const tag = first.headers.get('etag')!
    tags.set(path, tag)
    assert.match(first.headers.get('vary')!, /Accept.*Origin/, path)
    assert.equal(first.headers.get('cache-control'), 'private, no-cache', path)
    const again = await service.fetch(path, { headers: { 'if-none-match': `"other", ${tag}` } })
    assert.equal(again.status, 304, path)
    assert.equal(again.headers.get('etag'), tag)
    const html = await service.fetch(`${path}?f=html`, { headers: { 'if-none-match': tag } })
    assert.equal(html.status, 200, path)
  }
  const page = await service.fetch('/collections/places/items?limit=5')
  assert.notEqual(page.headers.get('etag'), tags.get('/collections/places/items'))
  await service.publish('places', [point(1, 2, { n: 2 })])
  for (const path of ['/collections/places', '/collections/places/items', '/collections/places/items/1']) {
    const later = await service.fetch(path, { headers: { 'if-none-match': tags.get(path)! } })
    assert.equal(later.status, 200, path)
  }
})

test('links are absolute behind a trusted proxy, and a key in the address never gets into them', async (t) => {
  const service = await openOgc(t, { settings: { trustedProxies: ['127.0.0.1'], keyInUrl: true } })
  await service.publish('places', [point(1, 2, {}), point(1, 2, {})])
  const headers = { 'x-forwarded-host': 'data.example.org', 'x-forwarded-proto': 'https' }
  for (const path of [
    '',
    '/collections',
    '/collections/places/items?limit=1',
    '/collections/places/items/1',
  ]) {
    const { body } = await service.get(path, { headers })
    for (const { href } of body.links) assert.ok(href.startsWith('https://data.example.org/v1/'), href)
  }
  const inUrl = await fetch(`${service.url}/v1/ogc/collections/places/items?api_key=${service.key}&limit=1`)
  assert.equal(inUrl.status, 200)
  assert.ok(!(await inUrl.text()).includes(service.key))
  const strange = await service
    .get('/collections/places/items?limit=1&filter=%22n%22%20IS%20NULL', {})
    .catch(() => null)
  assert.ok(strange)
})

test('the encoding is chosen by f, then by Accept', async (t) => {
  const service = await openOgc(t)
  await service.publish('places', [point(1, 2, {})])
  const cases: [accept: string, type: string | null][] = [
    ['*/*', 'application/geo+json'],
    ['application/json', 'application/geo+json'],
    ['application/geo+json', 'application/geo+json'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html; charset=utf-8'],
    ['text/csv', 'text/csv; charset=utf-8'],
    ['text/*', 'text/csv; charset=utf-8'],
    ['text/html;q=0.1, text/csv;q=0.5', 'text/csv; charset=utf-8'],
    ['application/vnd.flatgeobuf', 'application/vnd.flatgeobuf'],
    ['application/geo+json;q=0, */*', 'application/vnd.ogc.fg+json'],
    ['image/png', null],
    ['image/png, */*;q=0', null],
  ]
  for (const [accept, type] of cases) {
    const answer = await service.fetch('/collections/places/items', { headers: { accept } })
    assert.equal(answer.status, type === null ? 406 : 200, accept)
    if (type !== null) assert.equal(answer.headers.get('content-type'), type, accept)
    const chosen = await service.fetch('/collections/places/items?f=ndjson', { headers: { accept } })
    assert.equal(chosen.headers.get('content-type'), 'application/x-ndjson', accept)
  }
})

test('the landing page shows the operator’s texts, and no document states the software’s licence for the data', async (t) => {
  const plain = await openOgc(t)
  const landing = (await plain.get('')).body
  assert.deepEqual([landing.title, landing.contact, landing.license], ['Wayleave', undefined, undefined])
  for (const path of ['/v1/ogc/api', '/v1/openapi.json']) {
    assert.equal('license' in (await plain.request('GET', path)).body.info, false, path)
  }
  const settings = {
    title: 'Data of <Town>',
    description: 'All that the town has measured.',
    contactName: 'The land office',
    contactUrl: 'mailto:land@example.org',
    termsUrl: 'https://example.org/terms',
    license: 'https://example.org/license',
  }
  const service = await openOgc(t, { settings })
  const { body } = await service.get('')
  assert.deepEqual(
    [body.title, body.description, body.contact, body.license],
    [
      settings.title,
      settings.description,
      { name: 'The land office', email: 'land@example.org' },
      settings.license,
    ],
  )
  assert.equal(link(body.links, 'terms-of-service').href, settings.termsUrl)
  assert.equal(link(body.links, 'license').href, settings.license)
  for (const path of ['/v1/ogc/api', '/v1/openapi.json']) {
    const { info } = (await service.request('GET', path)).body
    assert.equal(info.title, settings.title, path)
    assert.equal(info.termsOfService, settings.termsUrl)
    assert.deepEqual(info.contact, { name: 'The land office', email: 'land@example.org' })
    assert.deepEqual(info.license, { name: settings.license, url: settings.license })
  }
  const html = await (await service.fetch('?f=html')).text()
  assert.match(html, /Data of &lt;Town&gt;/)
  assert.match(html, /mailto:land@example\.org/)
  assert.match(html, /GDAL_HTTP_USERPWD/)
})

test('describedby leads to the schema of a GeoJSON feature, and the logical schema has its own relation', async (t) => {
  const service = await openOgc(t)
  const properties = { n: 1, big: 5_000_000_000, share: 0.5, day: '2020-01-01', at: '2020-01-01T00:00:00Z' }
  await service.publish('places', [point(1, 2, { ...properties, text: 'x', open: true, deep: [1] }, 'a')])
  const { links } = (await service.get('/collections/places')).body
  const described = link(links, 'describedby')
  assert.equal(described.type, 'application/schema+json')
  const schema = (await service.get(described.href.slice(`${service.url}/v1/ogc`.length))).body
  assert.equal(schema.$id, described.href)
  const types = Object.entries<{ type?: string; format?: string }>(schema.properties.properties.properties)
  assert.deepEqual(
    types.map(([name, { type, format }]) => [name, type, format]),
    [
      ['n', 'integer', undefined],
      ['big', 'number', undefined],
      ['share', 'number', undefined],
      ['day', 'string', 'date'],
      ['at', 'string', 'date-time'],
      ['text', 'string', undefined],
      ['open', 'boolean', undefined],
      ['deep', undefined, undefined],
    ],
  )
  assert.equal(schema.properties.id.type, 'string')
  assert.deepEqual(schema.properties.geometry.oneOf[1], { $ref: 'https://geojson.org/schema/Point.json' })
  const logical = link(links, 'http://www.opengis.net/def/rel/ogc/1.0/schema')
  assert.equal(logical.href, `${service.url}/v1/ogc/collections/places/schema`)
  const { conformsTo } = (await service.get('/conformance')).body
  assert.ok(conformsTo.includes('http://www.opengis.net/spec/ogcapi-common-3/1.0/conf/schemas'))
  assert.ok(conformsTo.includes('http://www.opengis.net/spec/cql2/1.0/conf/array-functions'))
  assert.ok(!conformsTo.some((uri: string) => uri.includes('ogcapi-features-5')))
})
