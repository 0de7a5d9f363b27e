import { publisherRequests, userRequests } from './account-requests.ts'
import { get, type HostileRequest, legal, numbered, post, refused } from './hostile-request.ts'

interface Credentials {
  /** Reads. */
  key: string
  /** Publishes. */
  publisher: string
  /** Keys of one organization, which publish its dataset `own`. */
  colleagues: readonly string[]
  /** The access token of a user. */
  token: string
}

const COLLECTION = '/v1/ogc/collections/points'
/** Just below the limit of a request's head. */
const HEAD_CHARACTERS = 60_000
/** Just below the limit of a body. */
const BODY_CHARACTERS = 250_000

/**
 * The most expensive requests that each route accepts, and the most expensive that it refuses, of those whose names
 * contain `part`.
 */
export function hostileRequests(
  { key, publisher, colleagues, token }: Credentials,
  part: string,
): HostileRequest[] {
  const requests = [
    ...publicRequests(),
    ...assistantRequests(),
    ...userRequests(token),
    ...publisherRequests(publisher, colleagues),
    ...headerRequests(key),
    ...queryRequests(key),
    ...aggregateRequests(key),
    ...filterRequests(key),
  ]
  return requests.filter(({ name }) => name.includes(part))
}

/** Without a key. */
function publicRequests(): HostileRequest[] {
  const paths = [
    '/docs/search.json',
    '/docs/command-line',
    '/docs/api/features',
    '/problems/not-found',
    '/v1/openapi.json',
    '/v1/ogc/api',
    '/v1/ogc?f=html',
    '/v1/ogc/collections?f=html',
    '/v1/records?f=html',
    '/v1/records/collections/datasets/items?limit=1000',
    `/v1/records/collections/datasets/items?q=${'a,'.repeat(19)}a`,
    '/v1/datasets?limit=1000',
    '/v1/dataset/points',
    '/v1/dataset/points/sample/json',
    '/v1/dataset/points/preview',
    '/v1/dataset/points/thumbnail.svg',
    '/catalog.jsonld',
    '/catalog.ttl',
    '/sitemap.xml',
    '/robots.txt',
    '/clients',
    '/status',
    '/datasets/points',
    '/',
    '/connect',
    '/llms.txt',
    '/v1/basemap/style',
    '/v1/basemap/fine.json',
    '/v1/dataset/points/archives',
    '/v1/records/api',
    `${COLLECTION}/style`,
    '/.well-known/oauth-authorization-server',
  ]
  // Without a setting of the base URL, clients choose the port in links.
  const host = 'Host: 127.0.0.1:1\r\n'
  const members = `{${numbered(20_000, (i) => `"a${i}":1`)}}`
  return [
    ...paths.map((path) => legal(path.slice(0, 60), get(path, host))),
    refused('records, 1,000 terms', get(`/v1/records/collections/datasets/items?q=${'a,'.repeat(1000)}a`)),
    refused('path of 60,000 characters', get(`/docs/${'a'.repeat(HEAD_CHARACTERS)}`)),
    refused('path of 20,000 slashes', get('/'.repeat(20_000))),
    refused('sign-in, 20,000 members', post('/v1/auth/magic-link', '', members)),
    refused('sign-in, 125,000 brackets', post('/v1/auth/magic-link', '', '['.repeat(125_000))),
    refused(
      'sign-in, __proto__',
      post('/v1/auth/magic-link', '', `{"email":"${'\\u005f_proto__'.repeat(15_000)}"}`),
    ),
  ]
}

/** Of assistants, without a key. */
function assistantRequests(): HostileRequest[] {
  const accept = 'Accept: application/json, text/event-stream\r\n'
  const call = (method: string, params: object) =>
    post('/mcp', accept, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
  const tool = (name: string, input: object) => call('tools/call', { name, arguments: input })
  const members = numbered(20_000, (i) => `"a${i}":1`)
  const uris = Array.from({ length: 10 }, (_, i) => `https://a.example/${i}${'a'.repeat(450)}`)
  return [
    legal('mcp, list of tools', call('tools/list', {})),
    legal('mcp, list of resources', call('resources/list', {})),
    legal('mcp, search of 200,000 characters', tool('search_datasets', { query: 'a '.repeat(100_000) })),
    legal('mcp, description', tool('describe_dataset', { table: 'points' })),
    refused(
      'mcp, 20,000 members',
      post('/mcp', accept, `{"jsonrpc":"2.0","id":1,"method":"a","params":{${members}}}`),
    ),
    refused('mcp, brackets', post('/mcp', accept, '['.repeat(BODY_CHARACTERS))),
    refused('assistant, 20,000 members', post('/v1/assistants/request', '', `{${members}}`)),
    legal('assistant, registration', post('/oauth/register', '', JSON.stringify({ redirect_uris: uris }))),
    refused('assistant, token', post('/oauth/token', '', `code=a&${'a=b&'.repeat(3900)}`)),
  ]
}

function headerRequests(key: string): HostileRequest[] {
  const page = `${COLLECTION}/items?limit=1`
  const long = (text: string) => text.repeat(Math.floor(HEAD_CHARACTERS / text.length))
  const headers: [string, string][] = [
    ['Accept', long('text/a;q=0.1,')],
    ['Accept-Encoding', long('gzip;q=0.1, ')],
    ['Accept-Language', long('de;q=0.1, ')],
    ['Cookie', long('a=b; ')],
    ['If-None-Match', long('"a", ')],
    ['Range', `bytes=${long('0-1,')}0-1`],
    ['X-Forwarded-For', long('1.2.3.4, ')],
    ['Traceparent', long('0')],
  ]
  return [
    ...headers.map(([name, value]) =>
      legal(`items, long ${name}`, get(page, `X-API-Key: ${key}\r\n${name}: ${value}\r\n`)),
    ),
    refused('items, long Basic', get(page, `Authorization: Basic ${long('YWE6')}\r\n`)),
    refused('items, long Bearer', get('/v1/auth/me', `Authorization: Bearer ${long('a.')}\r\n`)),
    refused('items, wrong key of 60,000', get(page, `X-API-Key: ${long('a')}\r\n`)),
    refused(
      '1,900 headers',
      get(
        page,
        numbered(1900, (i) => `X-A${i}: b\r\n`, ''),
      ),
    ),
  ]
}

function queryRequests(key: string): HostileRequest[] {
  const header = `X-API-Key: ${key}\r\n`
  const items = (query: string) => get(`${COLLECTION}/items?${query}`, header)
  return [
    legal('items, 10,000 features', items('limit=10000')),
    legal('items, 10,000 features as HTML', items('limit=10000&f=html')),
    legal('items, 1,000 ids', items(`limit=1000&ids=${numbered(1000, (i) => String(i * 7))}`)),
    legal('items, sorted by two columns', items('limit=1000&sortby=-name,value')),
    legal(
      'facets of all columns',
      get(`${COLLECTION}/facets?columns=name,kind,value,active,updated,opened&bins=100&limit=100`, header),
    ),
    legal('extract, all rows', get(`${COLLECTION}/extract?f=csv`, header)),
    refused('items, 9,000 parameters', items(numbered(9000, (i) => `a${i}`, '&'))),
    legal('items, 20,000 equal ids', items(`ids=${'1,'.repeat(20_000)}1`)),
    refused('items, long bbox', items(`bbox=${'1,'.repeat(20_000)}1`)),
    legal('items, long datetime', items(`datetime=2020-01-01T00:00:00.${'0'.repeat(50_000)}Z`)),
    refused('items, fraction of a second', items(`datetime=2020-01-01T00:00:00.${'0'.repeat(50_000)}1Z`)),
    refused('items, digits for a number', items(`value=${'9'.repeat(50_000)}x`)),
    refused('items, long sortby', items(`sortby=${'name,'.repeat(10_000)}name`)),
    refused('items, long properties', items(`properties=${'nothing,'.repeat(6000)}`)),
    refused('items, long cursor', items(`cursor=${'a'.repeat(50_000)}`)),
    refused('facets, long columns', get(`${COLLECTION}/facets?columns=${'name,'.repeat(10_000)}`, header)),
  ]
}

function aggregateRequests(key: string): HostileRequest[] {
  const header = `X-API-Key: ${key}\r\n`
  const groups = (query: string) => get(`${COLLECTION}/aggregate?${query}`, header)
  const measures = 'count,sum(value),mean(value),median(value),percentile(value,95),distinct(name)'
  return [
    legal('aggregate by name, six measures', groups(`groupby=name&measures=${measures}&limit=10000`)),
    legal('aggregate by cells', groups(`groupby=h3(6)&measures=${measures}&f=geojson`)),
    legal('aggregate as Parquet', groups(`groupby=h3(6)&measures=${measures}&f=parquet&limit=10000`)),
    legal('aggregate as Arrow', groups(`groupby=h3(6)&measures=${measures}&f=arrow&limit=10000`)),
    legal(
      'aggregate, long sortby',
      groups(`groupby=name&measures=count&sortby=${'count,'.repeat(9000)}count`),
    ),
    refused('aggregate, long groupby', groups(`groupby=${'name,'.repeat(10_000)}name&measures=count`)),
    refused('aggregate, long measures', groups(`measures=${'count,'.repeat(9000)}count`)),
    refused('aggregate, parentheses', groups(`measures=${'sum('.repeat(14_000)}`)),
    refused('aggregate, long having', groups(`groupby=name&measures=count&having=${'('.repeat(50_000)}`)),
    refused(
      'aggregate, body of brackets',
      post(`${COLLECTION}/aggregate`, header, '['.repeat(BODY_CHARACTERS)),
    ),
  ]
}

function filterRequests(key: string): HostileRequest[] {
  const header = `X-API-Key: ${key}\r\n`
  const search = (body: string) => post(`${COLLECTION}/search`, header, body)
  const filtered = (filter: string) => search(JSON.stringify({ limit: 1, filter }))
  const geometry = (coordinates: number[][]) =>
    JSON.stringify({
      limit: 1,
      filter: {
        op: 's_touches',
        args: [{ property: 'geometry' }, { type: 'Polygon', coordinates: [coordinates] }],
      },
    })
  const wkt = (coordinates: number[][]) => coordinates.map((position) => position.join(' ')).join()
  return [
    legal(
      'polygon of 12,000 corners, text',
      filtered(`S_INTERSECTS(geometry, POLYGON((${wkt(ring(12_000))})))`),
    ),
    legal('polygon of 10,000 corners, JSON', search(geometry(ring(10_000)))),
    legal('4,000 values', filtered(`number IN (${numbered(4000, String)})`)),
    legal('1,300 conditions', filtered(numbered(1300, (i) => `number=${i}`, ' OR '))),
    legal('240 patterns', filtered(numbered(240, (i) => `name LIKE '${'%a_'.repeat(21)}${i}'`, ' OR '))),
    refused('long patterns', filtered(numbered(240, (i) => `name LIKE '${'%a_'.repeat(300)}${i}'`, ' OR '))),
    legal('text of 240,000', filtered(`name = '${'a'.repeat(240_000)}'`)),
    legal('folded text', filtered(`casei(accenti(name)) = casei(accenti('${'É'.repeat(10_000)}'))`)),
    refused('240,000 parentheses', filtered('('.repeat(240_000))),
    refused('quotes without an end', filtered(`name = '${"''".repeat(120_000)}`)),
    refused('60,000 positions', filtered(`S_INTERSECTS(geometry, MULTIPOINT(${'0 0,'.repeat(60_000)}1 1))`)),
    refused('two stars', filtered(`S_TOUCHES(POLYGON((${wkt(star(3000))})), POLYGON((${wkt(star(3001))})))`)),
    refused('integer of 240,000 digits', filtered(`number = ${'9'.repeat(240_000)}`)),
    refused('body of brackets', search('['.repeat(BODY_CHARACTERS))),
    refused('body of 22,000 members', search(`{${numbered(20_000, (i) => `"a${i}":1`)}}`)),
    refused('body of empty arrays', search(`{"filter":[${'[],'.repeat(80_000)}[]]}`)),
    refused('body of long integers', search(`{"ids":[${'12345678901234567890,'.repeat(11_000)}1]}`)),
  ]
}

/** The corners of a polygon that is nearly a circle. */
function ring(corners: number): number[][] {
  return closed(corners, (i) => (i / corners) * 2 * Math.PI)
}

/** A polygon whose edges all cross each other. */
function star(corners: number): number[][] {
  return closed(corners, (i) => i * 0.7 * Math.PI * (1 + 1 / corners))
}

function closed(corners: number, angle: (i: number) => number): number[][] {
  const positions = Array.from({ length: corners }, (_, i) => {
    return [Number((60 * Math.cos(angle(i))).toFixed(4)), Number((60 * Math.sin(angle(i))).toFixed(4))]
  })
  return [...positions, positions[0]!]
}
