import assert from 'node:assert/strict'
import {
  type Collection,
  checkLinks,
  type Definition,
  GEOJSON,
  type Link,
  linksOf,
  type Parameter,
  read,
} from './documents.ts'
import type { Api, Suite } from './suite.ts'

const CORE = 'http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core'
const OPENAPI = 'application/vnd.oai.openapi+json;version=3.0'
const CRS84 = 'http://www.opengis.net/def/crs/OGC/1.3/CRS84'
/** The encodings of the declared conformance classes `geojson` and `html`. */
const DOCUMENT_TYPES = ['application/json', 'text/html']

/** The resources that the other tests use. */
export interface Found {
  definition: Definition
  collections: Collection[]
}

/** Part 1, annex A.2.1 to A.2.6: everything except the features themselves. */
export async function coreTests(suite: Suite, api: Api): Promise<Found> {
  await suite.test('/conf/core/http', '/', async () => assert.equal(await api.httpVersion(), '1.1'))
  for (const path of ['', '/']) {
    await suite.test('/conf/core/root-op, root-success', `{root}${path}`, async () => {
      const { links } = await read<{ links: Link[] }>(api, path)
      for (const rel of ['service-desc', 'service-doc', 'conformance', 'data']) {
        assert.ok(linksOf(links, rel).length > 0, `has a link "${rel}"`)
      }
      checkLinks(links, DOCUMENT_TYPES)
      for (const { href, type } of links) await requireOk(api, href, type)
    })
  }
  const definition = await read<Definition>(api, '/api', OPENAPI)
  await suite.test('/conf/core/api-definition-op, api-definition-success', '/api', () =>
    checkDefinition(api, definition),
  )
  await suite.test('/conf/core/conformance-op, conformance-success', '/conformance', async () => {
    const { conformsTo } = await read<{ conformsTo: string[] }>(api, '/conformance')
    assert.ok(conformsTo.includes(CORE), 'declares core')
    for (const one of conformsTo) assert.equal(typeof one, 'string')
  })
  const list = await read<{ links: Link[]; collections: Collection[]; crs: string[] }>(api, '/collections')
  await suite.test('/conf/core/fc-md-op, fc-md-success, fc-md-links', '/collections', async () => {
    checkLinks(list.links, DOCUMENT_TYPES)
    assert.ok(list.collections.length > 0, 'has collections')
    assert.equal(list.crs[0], CRS84, 'lists CRS84 first')
  })
  for (const collection of list.collections) await collectionTests(suite, api, collection)
  for (const path of [
    '',
    '/api',
    '/conformance',
    '/collections',
    `/collections/${list.collections[0]!.id}`,
  ]) {
    await suite.test('/conf/core/query-param-unknown, query-param-invalid', `{root}${path}`, async () => {
      for (const query of ['unknown=1', 'f=none', 'f=json&f=html']) {
        assert.equal((await api.get(`${path}?${query}`)).status, 400, query)
      }
    })
  }
  return { definition, collections: list.collections }
}

async function collectionTests(suite: Suite, api: Api, collection: Collection): Promise<void> {
  const { id, links } = collection
  await suite.test('/conf/core/fc-md-items, fc-md-items-links', id, async () => {
    assert.match(id, /^.+$/)
    const items = linksOf(links, 'items')
    for (const type of [GEOJSON, 'text/html'])
      assert.ok(
        items.some((link) => link.type === type),
        type,
      )
    for (const link of links) assert.ok(link.rel && link.type, `"${link.href}" has rel and type`)
    for (const { href, type } of items) await requireOk(api, href, type)
  })
  await suite.test('/conf/core/sfc-md-op, sfc-md-success', id, async () => {
    const one = await read<Collection>(api, `/collections/${id}`)
    for (const name of ['id', 'title', 'description', 'extent'] as const) {
      assert.deepEqual(one[name], collection[name], `"${name}" is the same as in /collections`)
    }
    checkLinks(one.links, DOCUMENT_TYPES)
  })
}

/** A link returns the type that it states, whatever `Accept` says. */
async function requireOk(api: Api, href: string, type: string): Promise<void> {
  const { status, headers } = await api.get(href, type)
  assert.equal(status, 200, `${href} requireOk ${status}`)
  const bare = (text: string) => text.split(';', 1)[0]
  assert.equal(bare(headers.get('content-type') ?? ''), bare(type), href)
}

async function checkDefinition(api: Api, definition: Definition): Promise<void> {
  assert.match(definition.openapi, /^3\.0\./)
  assert.equal(definition.servers[0]?.url, api.root, 'the server is the root')
  const operations = new Set<string>()
  for (const [path, methods] of Object.entries(definition.paths)) {
    const { operationId, responses } = (methods.get ?? methods.post)!
    assert.ok(!operations.has(operationId), `${operationId} is there once`)
    operations.add(operationId)
    assert.ok('200' in responses, `${path} has an answer`)
    const parameters = parametersOf(definition, path)
    const names = parameters.map((one) => `${one.in} ${one.name}`)
    assert.equal(new Set(names).size, names.length, `${path} has each parameter once`)
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => `path ${name}`)
    assert.deepEqual(names.filter((name) => name.startsWith('path ')).sort(), inPath.sort(), path)
  }
  for (const path of ['/conformance', '/collections', '/collections/{collectionId}/items']) {
    assert.ok(path in definition.paths, `has ${path}`)
  }
}

/** The parameters of a path, each resolved to its definition. */
export function parametersOf(definition: Definition, path: string): Parameter[] {
  const { get, post } = definition.paths[path]!
  return (get ?? post)!.parameters.map((entry) => {
    if (!('$ref' in entry)) return entry as Parameter
    const name = String(entry.$ref).replace('#/components/parameters/', '')
    const parameter = definition.components.parameters[name]
    assert.ok(parameter, `${entry.$ref} is defined`)
    return parameter
  })
}
