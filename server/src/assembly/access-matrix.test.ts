import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADD_ONS } from '@wayleave/contract/add-ons'
import { VISIBILITIES } from '@wayleave/contract/visibilities'
import { needs } from '../../../scripts/test-run/needs.ts'
import { MINUTE } from '../base/clock.ts'
import { operator } from '../base/events/events.ts'
import { aboutOf } from '../http/about.ts'
import { pageHeads } from '../site/discovery/routes.ts'
import { createKey, openAccount } from '../testing/account.ts'
import { points, publishText } from '../testing/publish.ts'
import { signIn } from '../testing/sign-in.ts'
import { testClock } from '../testing/test-clock.ts'
import {
  type Answer,
  type DatabaseKind,
  databaseKinds,
  openTestServer,
  type RequestOptions,
  type TestServer,
  temporaryDatabase,
  temporaryFolder,
} from '../testing/test-server.ts'

needs('time')

/** The names have one length, so that responses that contain them have one length too. */
const NAMES = {
  public: 'm_public_1',
  open: 'm_opened_1',
  private: 'm_secret_1',
  draft: 'm_drafts_1',
} as const
const UNKNOWN = 'm_nowhere1'
const HIDDEN = [NAMES.private, NAMES.draft]

/** What stands for a parameter of a path. A route with another parameter has to be added here. */
const PARAMETERS: Record<string, (table: string) => string> = {
  table: (table) => table,
  format: () => 'csv',
  version: () => '1',
  tileMatrixSetId: () => 'WebMercatorQuad',
  tileMatrix: () => '0',
  tileRow: () => '0',
  tileCol: () => '0',
  grantId: () => 'grt_4f9QmZ1xYb7KcD2Lw8Rt',
}

/** Routes whose parameters name no dataset. */
const OTHERS =
  /:(organizationId|userId|keyId|webhookId|blockId|requestId|productId|orderId|invoiceFile|part|name|page|group|code)\b|^\/(v1\/jobs\/:id|sitemaps\/:file|v1\/basemap\/:file|v1\/ogc\/tileMatrixSets\/:tileMatrixSetId)$/

/** Bodies of requests that need one. */
const BODIES: Record<string, unknown> = {
  PATCH: { title: 'Changed' },
  PUT: points(3),
  POST: {},
}

/** The tools of assistants that name a dataset, with the rest of their input. */
const TOOLS: Record<string, object> = {
  describe_dataset: {},
  query_features: {},
  aggregate: { measures: ['count'] },
  get_feature: { id: '1' },
  prepare_download: { format: 'csv' },
}

interface Caller {
  name: string
  options: RequestOptions
  /** Which hidden datasets exist for the caller. */
  knows: readonly string[]
  /** Whether the key is refused whatever is asked. */
  isRefused?: true
}

/** The path of a route for a table; null for a route that names no dataset. */
function pathOf(url: string, table: string): string | null {
  if (url.startsWith('/v1/records/') && url.endsWith('/:id')) return url.replace(':id', table)
  if (url === '/v1/dataset/:table/files/:format/:file')
    return url.replace(':table', table).replace(':format', 'csv').replace(':file', `${table}.csv`)
  if (!url.includes(':table')) return null
  return url.replace(/\/\*$/, '/1').replace(/:(\w+)/g, (_all, name: string) => {
    const value = PARAMETERS[name]
    assert.ok(value, `Say in this test what stands for ":${name}" of ${url}.`)
    return value(table)
  })
}

async function openMatrix(service: TestServer, pass: (ms: number) => void, now: () => Date) {
  const { parts } = service
  const addOns = [...ADD_ONS]
  const owner = await openAccount(service, 'owner@example.org', { permissions: ['read', 'write'] })
  const stranger = await openAccount(service, 'stranger@example.org', {
    addOns,
    permissions: ['read', 'write'],
  })
  const rival = await openAccount(service, 'rival@example.org', { addOns, permissions: ['read', 'write'] })
  const former = await openAccount(service, 'former@example.org', { addOns })
  const customer = await openAccount(service, 'customer@example.org')
  for (const { organizationId } of [owner, rival])
    await parts.organizationAdministration.setPublishing(operator, organizationId, true)
  for (const visibility of VISIBILITIES) {
    const table = NAMES[visibility]
    const description = { visibility }
    const ownerId = owner.organizationId
    await publishText(service, table, 'a.geojson', points(30), { description, ownerId, tiles: true })
    await parts.tileBuilds.build(await parts.catalog.find(table))
    const expiresAt = new Date(now().getTime() + MINUTE)
    await parts.grants.give(operator, table, { organizationId: former.organizationId, expiresAt })
    await parts.grants.give(operator, table, { organizationId: customer.organizationId })
  }
  pass(2 * MINUTE)
  /** In an organization of their own, and in that of the owner with a key there. */
  const both = await openAccount(service, 'both@example.org', { addOns })
  await parts.members.add(operator, owner.organizationId, 'both@example.org', ['DATASET_PUBLISH'])
  const switched = await service.request('POST', '/v1/auth/switch', {
    token: both.token,
    body: { organizationId: owner.organizationId },
  })
  const bothForOwner = { token: switched.body.accessToken, organizationId: owner.organizationId }
  const { secret: bothKeyOfOwner } = await createKey(service, bothForOwner, ['read'])
  await signIn(service, 'member@example.org')
  await parts.members.add(operator, owner.organizationId, 'member@example.org', [])
  const member = await signIn(service, 'member@example.org')
  const root = await signIn(service, 'root@example.org')
  const sessionKey = async (token: string) =>
    (await service.request('POST', '/v1/auth/session-key', { token })).body.secret as string
  const platform = (permissions: string[]) =>
    parts.keys.createPlatform(operator, { name: 'Platform', permissions }).then(({ secret }) => secret)
  const { secret: rivalKey } = await createKey(service, rival, ['read', 'write'], 'organization')
  /** A key with a grant, for one page or one address only. */
  const restricted = async (lists: object) => {
    const body = { name: 'Restricted', permissions: ['read'], ...lists }
    const { token } = customer
    return (await service.request('POST', '/v1/api-keys/personal', { token, body })).body.secret as string
  }
  const key = await restricted({ allowedOrigins: ['https://maps.example.org'] })
  const callers: Caller[] = [
    { name: 'nobody', options: {}, knows: [] },
    { name: 'a wrong key', options: { key: 'svc_live_x' }, knows: [], isRefused: true },
    {
      name: 'a wrong origin',
      options: { key, headers: { origin: 'https://a.example' } },
      knows: [],
      isRefused: true,
    },
    { name: 'no origin', options: { key }, knows: [], isRefused: true },
    {
      name: 'a wrong address',
      options: { key: await restricted({ allowedAddresses: ['192.0.2.0/24'] }) },
      knows: [],
      isRefused: true,
    },
    {
      name: 'the right origin',
      options: { key, headers: { origin: 'https://maps.example.org' } },
      knows: [NAMES.private],
    },
    { name: 'a key without a grant', options: { key: stranger.key }, knows: [] },
    { name: 'a key with an expired grant', options: { key: former.key }, knows: [] },
    { name: 'a member of another organization', options: { token: stranger.token }, knows: [] },
    { name: 'their session', options: { key: await sessionKey(stranger.token) }, knows: [] },
    { name: 'another publisher', options: { token: rival.token }, knows: [] },
    { name: 'a key of another publisher', options: { key: rivalKey }, knows: [] },
    {
      name: 'a platform key of another dataset',
      options: { key: await platform(['read:x', 'write:x']) },
      knows: [],
    },
    { name: 'a member who acts for another organization', options: { token: both.token }, knows: [] },
    { name: 'their key of that organization', options: { key: both.key }, knows: [] },
    { name: 'their session for it', options: { key: await sessionKey(both.token) }, knows: [] },
    { name: 'the same member who acts for the owner', options: { token: bothForOwner.token }, knows: HIDDEN },
    { name: 'their key of the owner', options: { key: bothKeyOfOwner }, knows: [NAMES.private] },
    {
      name: 'their session for the owner',
      options: { key: await sessionKey(bothForOwner.token) },
      knows: HIDDEN,
    },
    { name: 'a member without permission', options: { token: member.token }, knows: [NAMES.private] },
    { name: 'their session', options: { key: await sessionKey(member.token) }, knows: [NAMES.private] },
    { name: 'a key with a grant', options: { key: customer.key }, knows: [NAMES.private] },
    { name: 'the owner', options: { key: owner.key }, knows: HIDDEN },
    { name: 'the token of the owner', options: { token: owner.token }, knows: HIDDEN },
    { name: 'the token of an administrator', options: { token: root.token }, knows: HIDDEN },
    { name: 'the session of the owner', options: { key: await sessionKey(owner.token) }, knows: HIDDEN },
    {
      name: 'the session of an administrator',
      options: { key: await sessionKey(root.token) },
      knows: HIDDEN,
    },
    { name: 'a platform key', options: { key: await platform(['read', 'write']) }, knows: HIDDEN },
  ]
  return { callers, organizationId: owner.organizationId }
}

/** Everything of a response that could tell datasets apart, with one name for all of them. */
function shown({ status, headers, text }: Answer, table: string) {
  const general = (value: string) => value.replaceAll(table, UNKNOWN)
  return {
    status,
    headers: [...headers]
      .filter(([name]) => !/^(x-request-id|date|ratelimit|connection|keep-alive)/.test(name))
      .map(([name, value]) => [name, general(value)]),
    text: general(text)
      .replace(/"requestId":"[^"]*"/, '')
      .replace(/[0-9a-f-]{24}[0-9a-f]{12}/g, ''),
  }
}

/**
 * All callers on SQLite. What differs by database, the queries behind the caches, is the same for all routes, and HEAD
 * runs the handler of GET: on PostgreSQL and for HEAD every route gets a quarter of the callers, and every caller a
 * quarter of the routes.
 */
function callersOf(route: number, callers: Caller[], database: DatabaseKind, method = 'GET'): Caller[] {
  if (database === 'sqlite' && method !== 'HEAD') return callers
  return callers.filter((_, i) => (i + route) % 4 === 0)
}

/** The datasets that do not exist for the caller. */
function hiddenFrom({ knows }: Caller): string[] {
  return HIDDEN.filter((table) => !knows.includes(table))
}

for (const database of databaseKinds) {
  test(`no route reveals that a hidden dataset exists (${database})`, async (t) => {
    const { clock, pass } = testClock()
    const rates = { openRate: 1_000_000, tileRate: 1_000_000 }
    // One address for all nodes, because responses contain it.
    // The log of requests shows the names that its reader has asked for.
    const settings = {
      admins: ['root@example.org'],
      baseUrl: 'http://data.example.org',
      requestLogDays: 0,
      signIn: 'both' as const,
      oidcIssuer: 'http://127.0.0.1:1',
      oidcClientId: 'wayleave',
      ...rates,
    }
    const shared =
      database === 'postgres'
        ? { databaseUrl: await temporaryDatabase(t), dataDir: temporaryFolder(t) }
        : { database }
    const first = await openTestServer(t, { ...shared, clock, settings })
    const nodes = [first]
    if (database === 'postgres') nodes.push(await openTestServer(t, { ...shared, clock, settings }))
    const { callers, organizationId } = await openMatrix(first, pass, clock)
    let asked = 0
    // The nodes respond in turns.
    const request: TestServer['request'] = (...args) => nodes[asked++ % nodes.length]!.request(...args)
    const service = { ...first, request }
    const routes = service.routes.rows.filter(({ method }) => method !== 'OPTIONS')
    let compared = 0

    for (const [index, { method, url }] of routes.entries()) {
      // For the others there is nothing to hide.
      const asking = callersOf(index, callers, database, method).filter((one) => hiddenFrom(one).length > 0)
      const unknownPath = pathOf(url, UNKNOWN)
      if (unknownPath === null) {
        const path = url.replace(':organizationId', organizationId).replace(':file', '1.xml')
        assert.ok(
          !/[:*]/.test(url) || OTHERS.test(url),
          `Say in this test whether ${url} can name a dataset.`,
        )
        if (method !== 'GET' || path.includes(':')) continue
        for (const caller of asking) {
          const { text } = await service.request('GET', path, caller.options)
          for (const table of hiddenFrom(caller))
            assert.ok(!text.includes(table), `${caller.name}: ${url} shows ${table}`)
        }
        continue
      }
      const compare = async (caller: Caller) => {
        const { name, options, knows } = caller
        if (knows.length > 0 && method !== 'GET') return
        const body = BODIES[method]
        const query = method === 'PUT' ? '?dryRun=true' : ''
        const sent = { ...options, ...(body !== undefined && { body }) }
        const unknown = shown(await service.request(method, unknownPath + query, sent), UNKNOWN)
        for (const table of hiddenFrom(caller)) {
          const answer = await service.request(method, pathOf(url, table)! + query, sent)
          // Table names are unique in the installation: a publisher learns that a name is taken.
          if (method === 'PUT' && unknown.status === 202) assert.equal(answer.status, 403)
          else assert.deepEqual(shown(answer, table), unknown, `${name}: ${method} ${url} of ${table}`)
          compared++
        }
      }
      await Promise.all(asking.map(compare))
    }
    // The dataset of zones is named by a parameter.
    const zonesPath = (table: string) =>
      `/v1/ogc/collections/${NAMES.open}/aggregate?groupby=within(${table})`
    for (const caller of callersOf(0, callers, database)) {
      const { name, options } = caller
      const unknown = shown(await service.request('GET', zonesPath(UNKNOWN), options), UNKNOWN)
      for (const table of hiddenFrom(caller)) {
        const answer = await service.request('GET', zonesPath(table), options)
        assert.deepEqual(shown(answer, table), unknown, `${name}: zones of ${table}`)
      }
    }
    // So do the tools of assistants.
    const ask = (options: RequestOptions, method: string, params: object) => {
      const headers = { ...options.headers, accept: 'application/json, text/event-stream' }
      const body = { jsonrpc: '2.0', id: 1, method, params }
      return service.request('POST', '/mcp', { ...options, headers, body })
    }
    for (const caller of callersOf(1, callers, database)) {
      const { name, options, knows } = caller
      const hidden = hiddenFrom(caller)
      for (const [tool, args] of Object.entries(hidden.length > 0 ? TOOLS : {})) {
        const call = (table: string) =>
          ask(options, 'tools/call', { name: tool, arguments: { table, ...args } })
        const unknown = shown(await call(UNKNOWN), UNKNOWN)
        for (const table of hidden)
          assert.deepEqual(shown(await call(table), table), unknown, `${name}: ${tool} of ${table}`)
      }
      const lists = [
        await ask(options, 'tools/call', { name: 'search_datasets', arguments: {} }),
        await ask(options, 'resources/list', {}),
      ]
      for (const { text } of lists) {
        for (const table of hidden) assert.ok(!text.includes(table), `${name}: ${text}`)
        // A tool acts with a key; a token of the console is none.
        if (options.key !== undefined) for (const table of knows) assert.ok(text.includes(table), name)
      }
    }
    // The test would notice nothing if no caller got anything.
    assert.ok(compared > (database === 'sqlite' ? 500 : 100), String(compared))
    for (const { name, options, knows, isRefused = false } of callers) {
      for (const table of knows) {
        for (const path of [
          `/v1/dataset/${table}`,
          `/v1/dataset/${table}/sample/json`,
          `/v1/dataset/${table}/preview`,
        ])
          assert.equal((await service.request('GET', path, options)).status, 200, `${name}: ${path}`)
        assert.match((await service.request('GET', '/v1/datasets', options)).text, new RegExp(table))
        // Data needs a key.
        if (options.token !== undefined) continue
        const items = await service.request('GET', `/v1/ogc/collections/${table}/items`, options)
        assert.equal(items.status, 200, `${name}: items of ${table}: ${items.text}`)
      }
      const { status } = await service.request('GET', `/v1/dataset/${NAMES.public}`, options)
      assert.equal(status === 200, !isRefused, name)
    }

    // The heads of the console's pages, which know no caller.
    const heads = pageHeads({ ...service.parts, about: aboutOf(service.config) })
    const pageRequest = { host: 'example.org', protocol: 'http', headers: {} } as Parameters<typeof heads>[0]
    const headOf = async (table: string) => (await heads(pageRequest, table)).text
    for (const table of HIDDEN) assert.equal(await headOf(table), await headOf(UNKNOWN))
    assert.notEqual(await headOf(NAMES.open), await headOf(UNKNOWN))
  })
}
