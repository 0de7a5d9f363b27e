import type { Schema } from './definition.ts'

/** The random part of the identifiers in examples. */
const RANDOM = '7Q2mX9aLr4TcVb81ZkWd'

/** What a text is if nothing is known about it; a test holds that no example has it. */
export const UNKNOWN = '…'

const TIME = '2026-03-01T09:30:00.000Z'

/** Examples by the name of a parameter or property, about one dataset of the demo where possible. */
const BY_NAME: Record<string, unknown> = {
  table: 'earthquakes',
  collectionId: 'earthquakes',
  featureId: 'us2000cmy3',
  format: 'geojson',
  file: 'earthquakes.geojson',
  filename: 'earthquakes.geojson',
  name: 'Town map',
  title: 'Earthquakes of one week',
  description: 'Earthquakes recorded worldwide, with magnitude and depth.',
  license: 'CC-BY-4.0',
  attribution: 'Survey of the county',
  contact: 'data@example.org',
  citation: 'Survey of the county (2026): Earthquakes of one week.',
  keywords: ['hazards', 'points'],
  updateFrequency: 'weekly',
  note: 'Corrected depths',
  reason: 'Agreed by mail',
  blockReason: 'Abuse',
  suspendReason: 'Unpaid invoice',
  pauseReason: 'Too many failures',
  message: 'We map evacuation routes and need tiles.',
  email: 'reader@example.org',
  userEmail: 'reader@example.org',
  invitedBy: 'owner@example.org',
  createdBy: 'owner@example.org',
  requestedBy: 'reader@example.org',
  actor: `usr_${RANDOM}`,
  actorName: 'owner@example.org',
  subject: `key_${RANDOM}`,
  subjectName: 'Town map',
  member: `usr_${RANDOM}`,
  organizationName: 'Survey of the county',
  keyName: 'Town map',
  permissions: ['read'],
  addOns: ['API_ACCESS'],
  events: ['dataset.version'],
  allowedOrigins: ['https://maps.example.org'],
  allowedAddresses: ['192.0.2.0/24'],
  network: '192.0.2.0/24',
  address: 'https://example.org/earthquakes.geojson',
  url: 'https://hooks.example.org/wayleave',
  href: 'https://example.org/data',
  links: [
    {
      href: 'https://example.org/v1/ogc/collections/earthquakes/items?cursor=eyJhIjoxMH0',
      rel: 'next',
      type: 'application/geo+json',
      title: 'The next page',
    },
  ],
  every: '6h',
  secret: `usr_live_${RANDOM}Yp3sN0hGf5Je`,
  prefix: 'usr_live_7Q2m',
  token: `${RANDOM}Yp3sN0hGf5Je`,
  accessToken: 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ1c3JfN1EybSJ9.c2lnbmF0dXJl',
  refreshToken: `rt_${RANDOM}Yp3sN0hGf5Je`,
  code: '204981',
  bind: true,
  request: RANDOM,
  api_key: `usr_live_${RANDOM}Yp3sN0hGf5Je`,
  cursor: 'eyJhZnRlciI6MTAwfQ',
  after: 'evt_7Q2mX9aLr4TcVb81ZkWd',
  bbox: [-125, 32, -114, 42],
  extent: [-125, 32, -114, 42],
  coordinates: [-122.8, 38.8],
  geometry: { type: 'Point', coordinates: [-122.8, 38.8] },
  datetime: '2018-02-05T00:00:00Z/..',
  filter: 'mag >= 5',
  'filter-lang': 'cql2-text',
  crs: 'http://www.opengis.net/def/crs/OGC/1.3/CRS84',
  'bbox-crs': 'http://www.opengis.net/def/crs/OGC/1.3/CRS84',
  'filter-crs': 'http://www.opengis.net/def/crs/OGC/1.3/CRS84',
  storageCrs: 'http://www.opengis.net/def/crs/OGC/1.3/CRS84',
  trs: 'http://www.opengis.net/def/uom/ISO-8601/0/Gregorian',
  sortby: ['-mag'],
  properties: ['mag', 'place'],
  columns: ['magType'],
  groupby: ['magType'],
  measures: ['count', 'mean(mag)'],
  having: 'count >= 10',
  ids: ['us2000cmy3'],
  tables: ['earthquakes'],
  omitted: ['us2000cmy3'],
  values: ['ml', 'mb'],
  value: 'ml',
  q: 'earthquakes',
  search: 'survey',
  keyword: 'hazards',
  query: 'SELECT * FROM earthquakes',
  sourceTable: 'public.earthquakes',
  build: '3f1c',
  by: ['mag'],
  color: 'mag',
  size: 'mag',
  label: 'place',
  classing: 'quantiles',
  sizing: 'continuous',
  colors: 'ml:aa3377',
  limit: 10,
  startDate: '2026-02-01',
  endDate: '2026-03-01',
  date: '2026-03-01',
  status: 200,
  operation: 'features',
  action: 'key.created',
  kind: 'key.created',
  detail: 'The key is missing.',
  problem: 'rate-limited',
  refusal: 'rate-limited',
  error: 'The file has no geometry.',
  meaning: 'The balance of the organization is too low.',
  notice: 'credits-low',
  layer: 'earthquakes',
  encoding: 'UTF-8',
  longitude: 'lon',
  latitude: 'lat',
  geometryColumn: 'geom',
  geometryType: 'Point',
  geometryTypes: ['Point'],
  idColumn: 'id',
  timeColumn: 'time',
  timeExtent: ['2018-01-31T00:00:00Z', '2018-02-07T00:00:00Z'],
  types: 'code=text',
  type: 'text',
  unit: 'km',
  schema: 'keep',
  source: 'https://example.org/earthquakes.geojson',
  inspection: `job_${RANDOM}`,
  misfits: ['n/a'],
  notes: ['The column `Mag.` is named `mag`.'],
  rel: 'next',
  mediaType: 'application/geo+json',
  path: '/sign-in#7Q2mX9aLr4TcVb81ZkWd',
  next: '/datasets',
  redirect: 'http://127.0.0.1:33418/callback?code=7Q2m',
  redirect_uri: 'http://127.0.0.1:33418/callback',
  returnsTo: 'http://127.0.0.1:33418',
  client_id: `cli_${RANDOM}`,
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  code_challenge_method: 'S256',
  response_type: 'code',
  resource: 'https://data.example.org/mcp',
  scope: 'read',
  state: 'done',
  issuer: 'https://login.example.org',
  host: 'data.example.org',
  route: '/v1/datasets',
  countedFor: 'key',
  payload: '{"type":"dataset.version","table":"earthquakes"}',
  headers: { authorization: 'Bearer 7Q2mX9aLr4Tc' },
  conformsTo: ['http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core'],
  'idempotency-key': '5f0c2f4e-order-1',
  points: 'M-122.8 -38.8h0',
  areas: 'M-125 -32h11v-10Z',
  cutAreas: 'M-125 -32h11v-10Z',
  lines: 'M-125 -32L-114 -42',
  sample: '/v1/dataset/earthquakes/sample/json',
  min: 2.5,
  max: 6.4,
  alg: 'ES256',
  crv: 'P-256',
  kty: 'EC',
  kid: '7Q2m',
  use: 'sig',
  x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
  y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
  productName: '100 credits',
  company: 'Survey of the county',
  taxNumber: 'DE999999999',
  month: '2026-03',
  options: { layer: 'earthquakes' },
  taxId: 'DE999999999',
  country: 'DE',
  currency: 'EUR',
  street: '1 Example Street',
  city: 'Exampletown',
  postalCode: '10115',
  number: 'INV-2026-0001',
  invoiceFile: 'INV-2026-0001.pdf',
  sessionId: `ses_${RANDOM}`,
  requestId: `req_${RANDOM}`,
  grantId: `grt_${RANDOM}`,
  rows: 1707,
  version: 3,
  from: 2,
  to: 3,
  credits: 2,
  balance: 998,
  tileMatrix: 2,
  tileRow: 1,
  tileCol: 0,
}

/** What `id` identifies, by the last word of the path that names a kind of record. */
const ID_PREFIXES: [word: RegExp, prefix: string][] = [
  [/invitations/, 'inv'],
  [/webhooks.*deliveries/, 'msg'],
  [/webhooks/, 'whk'],
  [/access-requests/, 'req'],
  [/grants/, 'grt'],
  [/address-blocks/, 'blk'],
  [/sessions/, 'ses'],
  [/events/, 'evt'],
  [/ledger/, 'led'],
  [/orders/, 'ord'],
  [/products/, 'prd'],
  [/keys|session-key|requests/, 'key'],
  [/jobs|inspect|source|dataset/, 'job'],
  [/users|members|auth/, 'usr'],
  [/organization/, 'org'],
]

export interface ExampleContext {
  path: string
  schemaOf: (schema: Schema) => Schema
  /** A request has only what is required; a response has everything. */
  isRequest: boolean
}

const MAX_DEPTH = 5

/** A value of a schema as a client would see or send it. */
export function exampleOf(schema: Schema, name: string, context: ExampleContext, depth = 0): unknown {
  const { type, oneOf, anyOf, allOf, ...own } = context.schemaOf(schema)
  const stated = own.example ?? own.examples?.[0] ?? own.const
  if (stated !== undefined) return stated
  const named = BY_NAME[name]
  if (own.enum) return own.enum.includes(named) ? named : own.enum.find((value) => value !== null)
  const choice = [...(oneOf ?? []), ...(anyOf ?? [])].find((one) => context.schemaOf(one).type !== 'null')
  if (choice && type === undefined && own.properties === undefined)
    return exampleOf(choice, name, context, depth)
  if (allOf) return Object.assign({}, ...allOf.map((one) => exampleOf(one, name, context, depth)))
  if (type === 'object' || own.properties) return objectExample({ ...own }, name, context, depth)
  if (type === 'array') {
    if (Array.isArray(named)) return named
    return own.items && depth < MAX_DEPTH ? [exampleOf(own.items, name, context, depth + 1)] : []
  }
  if (type === 'boolean') return own.default ?? true
  if (type === 'integer' || type === 'number')
    return typeof named === 'number' ? named : (own.default ?? Math.max(1, own.minimum ?? 1))
  return textExample(own, name, context.path)
}

function objectExample(schema: Schema, name: string, context: ExampleContext, depth: number): unknown {
  const { properties = {}, required = [], additionalProperties } = schema
  const names = Object.keys(properties)
  const needed = names.filter((one) => required.includes(one))
  const shown = context.isRequest ? (needed.length > 0 ? needed : names.slice(0, 2)) : names
  if (depth >= MAX_DEPTH) return {}
  const entries = shown.map((one) => [one, exampleOf(properties[one]!, one, context, depth + 1)])
  if (names.length > 0) return Object.fromEntries(entries)
  const named = BY_NAME[name]
  if (typeof named === 'object' && !Array.isArray(named)) return named
  if (name === 'properties') return { mag: 4.6, place: '9 km north of Exampletown', time: TIME }
  if (typeof additionalProperties !== 'object') return {}
  return { mag: exampleOf(additionalProperties, name, context, depth + 1) }
}

function textExample({ format, pattern, default: usual }: Schema, name: string, path: string): unknown {
  const prefix = /^\^([a-z]{3})_\[/.exec(pattern ?? '')?.[1]
  if (prefix) return `${prefix}_${RANDOM}`
  if (format === 'date-time' || /(At|Until|^time)$/.test(name)) return TIME
  if (format === 'date') return '2026-03-01'
  if (format === 'binary') return '(the bytes of a file)'
  const named = BY_NAME[name]
  if (name === 'id') return `${ID_PREFIXES.find(([word]) => word.test(path))?.[1] ?? 'job'}_${RANDOM}`
  if (/Id$/.test(name) && named === undefined) return `${idPrefix(name)}_${RANDOM}`
  if (named !== undefined) return Array.isArray(named) ? named[0] : named
  if (usual !== undefined) return usual
  if (format === 'uri') return 'https://example.org/'
  if (format === 'email') return 'reader@example.org'
  return UNKNOWN
}

const OWN_PREFIXES: Record<string, string> = {
  organizationId: 'org',
  userId: 'usr',
  keyId: 'key',
  orderId: 'ord',
  productId: 'prd',
  jobId: 'job',
  webhookId: 'whk',
}

function idPrefix(name: string): string {
  return OWN_PREFIXES[name] ?? name.slice(0, 3)
}
