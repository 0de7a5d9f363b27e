import assert from 'node:assert/strict'
import { type Link, linksOf, read } from './documents.ts'
import type { Api, Suite } from './suite.ts'

const RECORDS = 'http://www.opengis.net/spec/ogcapi-records-1/1.0/conf'
const CATALOG_TYPE = 'application/ogc-catalog+json'
const GEOJSON = 'application/geo+json'

interface Catalog {
  id: string
  type: string
  title: string
  itemType: string
  links: Link[]
}

interface CatalogRecord {
  id: string
  type: string
  geometry: object | null
  time: { interval?: [string, string] } | null
  properties: {
    type: string
    title: string
    description?: string
    license?: string
    externalIds?: { value: string }[]
  }
  links: Link[]
}

interface RecordPage {
  type: string
  features: CatalogRecord[]
  links: Link[]
  numberMatched: number
  numberReturned: number
  timeStamp: string
}

/** The abstract tests of OGC API - Records, Part 1, for a searchable catalogue at this root. */
export async function recordsTests(suite: Suite, api: Api): Promise<void> {
  await suite.test('/conf/searchable-catalog/conformance', '/conformance', async () => {
    const { conformsTo } = await read<{ conformsTo: string[] }>(api, '/conformance')
    assert.ok(conformsTo.includes('http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core'))
    for (const name of ['searchable-catalog', 'json', 'html', 'oas30', 'autodiscovery'])
      assert.ok(conformsTo.includes(`${RECORDS}/${name}`), `declares ${name}`)
  })
  await suite.test('/conf/autodiscovery/links', '/', async () => {
    const { links } = await read<{ links: Link[] }>(api, '/')
    assert.ok(linksOf(links, 'http://www.opengis.net/def/rel/ogc/1.0/ogc-catalog').length > 0)
    for (const rel of ['service-desc', 'service-doc', 'conformance', 'data'])
      assert.ok(linksOf(links, rel).length > 0, `has a link "${rel}"`)
    for (const { href, type } of links)
      assert.equal((await api.get(href, type)).status, 200, `${href} as ${type}`)
  })
  const list = await read<{ collections: Catalog[]; links: Link[] }>(api, '/collections')
  const catalogs = list.collections.filter(({ itemType }) => itemType === 'record')
  await suite.test('/conf/records-api/catalogs-response', '/collections', async () =>
    assert.ok(catalogs.length > 0, 'has a collection of records'),
  )
  for (const { id } of catalogs) await catalogTests(suite, api, id)
}

async function catalogTests(suite: Suite, api: Api, id: string): Promise<void> {
  const path = `/collections/${id}`
  const items = `${path}/items`
  await suite.test(
    '/conf/json/collection-response, /conf/record-collection/default-mediatype',
    id,
    async () => {
      for (const accept of [CATALOG_TYPE, 'application/json', '*/*'])
        assert.match(
          (await api.get(path, accept)).headers.get('content-type')!,
          /^application\/ogc-catalog\+json/,
        )
    },
  )
  await suite.test('/conf/record-collection/mandatory-properties, itemType, links', id, async () => {
    const catalog = await read<Catalog>(api, path, CATALOG_TYPE)
    assert.deepEqual([catalog.id, catalog.type, catalog.itemType], [id, 'Catalog', 'record'])
    assert.ok(catalog.title)
    for (const rel of ['self', 'alternate', 'items'])
      assert.ok(linksOf(catalog.links, rel).length > 0, `has a link "${rel}"`)
  })
  await suite.test('/conf/html/definition, content', id, async () => {
    for (const one of ['/', '/conformance', '/collections', path, items]) {
      const response = await api.get(one, 'text/html')
      assert.equal(response.status, 200)
      assert.match(response.headers.get('content-type')!, /^text\/html/, one)
    }
  })
  await suite.test('/conf/oas30/oas30', '/api', async () => {
    const definition = await read<{ openapi: string; paths: Record<string, object> }>(
      api,
      '/api',
      'application/vnd.oai.openapi+json;version=3.0',
    )
    assert.match(definition.openapi, /^3\.0/)
    assert.ok(definition.paths[items] && definition.paths[`${items}/{recordId}`])
  })
  const all = await read<RecordPage>(api, `${items}?limit=1000`, GEOJSON)
  await suite.test('/conf/json/record-response, record-content', items, async () => {
    assert.equal(all.type, 'FeatureCollection')
    assert.ok(all.features.length > 0, 'has records')
    assert.equal(all.numberReturned, all.features.length)
    assert.equal(all.numberMatched, all.features.length)
    assert.ok(!Number.isNaN(Date.parse(all.timeStamp)))
  })
  for (const listed of all.features) await recordTests(suite, api, `${items}/${listed.id}`, listed)
  await parameterTests(suite, api, items, all)
}

async function recordTests(suite: Suite, api: Api, path: string, listed: CatalogRecord): Promise<void> {
  await suite.test('/conf/record-core/mandatory-properties-record, links, license, time', path, async () => {
    const record = await read<CatalogRecord>(api, path, GEOJSON)
    assert.deepEqual(record.properties, listed.properties)
    assert.equal(record.type, 'Feature')
    for (const name of ['id', 'geometry', 'time', 'properties', 'links']) assert.ok(name in record, name)
    assert.ok(record.properties.type && record.properties.title)
    for (const rel of ['self', 'alternate', 'collection', 'profile'])
      assert.ok(linksOf(record.links, rel).length > 0, `has a link "${rel}"`)
    assert.equal(linksOf(record.links, 'collection').length, 1)
    for (const { rel } of record.links) assert.ok(rel)
    if (record.properties.license === 'other') assert.ok('license' in record.properties)
    for (const end of record.time?.interval ?? [])
      assert.match(end, /^(\.\.|\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?Z)?)$/)
    assert.equal((await api.get(path, 'text/html')).status, 200)
  })
}

async function parameterTests(suite: Suite, api: Api, items: string, all: RecordPage): Promise<void> {
  const ids = async (query: string) =>
    (await read<RecordPage>(api, `${items}?${query}`, GEOJSON)).features.map(({ id }) => id)
  const every = all.features.map(({ id }) => id)
  const first = all.features[0]!
  const test = (name: string, run: () => Promise<void>) =>
    suite.test(`/conf/record-core-query-parameters/${name}`, items, run)

  await test('limit', async () => {
    const seen: string[] = []
    let path: string | undefined = `${items}?limit=1`
    while (path !== undefined) {
      const page: RecordPage = await read(api, path, GEOJSON)
      assert.equal(page.features.length, 1)
      seen.push(page.features[0]!.id)
      path = linksOf(page.links, 'next')[0]?.href
    }
    assert.deepEqual(seen, every)
    assert.equal((await api.get(`${items}?limit=0`)).status, 400)
  })
  await test('bbox', async () => {
    assert.deepEqual(await ids('bbox=-180,-90,180,90'), every)
    const placed = all.features.filter(({ geometry }) => geometry !== null).map(({ id }) => id)
    const none = await ids('bbox=-179.99,-89.99,-179.98,-89.98')
    assert.ok(none.length < every.length || placed.length === 0)
    assert.equal((await api.get(`${items}?bbox=1,2,3`)).status, 400)
  })
  await test('datetime', async () => {
    assert.deepEqual(await ids('datetime=../..'.replace('../..', '0001-01-01/..')), every)
    const timed = all.features.filter(({ time }) => time !== null).map(({ id }) => id)
    const before = await ids('datetime=../0001-01-02')
    for (const id of timed) assert.ok(!before.includes(id), `${id} has no time that early`)
    assert.equal((await api.get(`${items}?datetime=soon`)).status, 400)
  })
  await test('q-definition, q-response', async () => {
    const [word = ''] = first.properties.title.toUpperCase().split(/\s+/)
    assert.ok((await ids(`q=${encodeURIComponent(word)}`)).includes(first.id), 'in any case')
    assert.ok(
      (await ids(`q=${encodeURIComponent(`nothing like it,${word}`)}`)).includes(first.id),
      'one of two',
    )
    assert.deepEqual(await ids(`q=${encodeURIComponent(`${word} nothing like it`)}`), [])
    const phrase = first.properties.title.split(/\s+/).join('   ')
    assert.ok((await ids(`q=${encodeURIComponent(phrase)}`)).includes(first.id), 'a phrase')
  })
  await test('type-definition, type-response', async () => {
    assert.deepEqual(await ids(`type=${first.properties.type},service`), every)
    assert.deepEqual(await ids('type=service'), [])
  })
  await test('ids-definition, ids-response', async () => {
    assert.deepEqual(await ids(`ids=${first.id},none`), [first.id])
    assert.deepEqual(await ids('ids=none'), [])
  })
  await test('externalIds-definition, externalIds-response', async () => {
    const value = first.properties.externalIds?.[0]?.value ?? ''
    assert.deepEqual(await ids(`externalIds=${encodeURIComponent(value)}`), [first.id])
    assert.deepEqual(await ids('externalIds=none'), [])
  })
  await suite.test('/conf/records-api/query-params', items, async () => {
    assert.deepEqual(await ids(`ids=${first.id}&type=service`), [], 'parameters are combined by AND')
    assert.equal((await api.get(`${items}?unknown=1`)).status, 400)
  })
}
