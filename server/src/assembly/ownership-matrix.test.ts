import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADD_ONS } from '@wayleave/contract/add-ons'
import { MEMBER_PERMISSIONS } from '@wayleave/contract/permissions'
import { needs } from '../../../scripts/test-run/needs.ts'
import type { Tables } from '../base/database/schema.ts'
import { operator } from '../base/events/events.ts'
import { newId } from '../base/id.ts'
import { openAccount } from '../testing/account.ts'
import { points, publishText } from '../testing/publish.ts'
import { signIn } from '../testing/sign-in.ts'
import {
  databaseKinds,
  openTestServer,
  type RequestOptions,
  type TestServer,
  temporaryDatabase,
  temporaryFolder,
} from '../testing/test-server.ts'
import { until } from '../testing/until.ts'

needs('time')

/** Part of each name, address and text of the organization that nobody else may read or change. */
const MARK = 'zqx_owner'
const URL_OF_WEBHOOK = `https://hooks.example.org/${MARK}`

/** Bodies that a caller with the right could send. A route that takes another body has to be added here. */
const BODIES: Record<string, unknown> = {
  'PATCH /v1/organization/:organizationId': { name: 'Stolen' },
  'PATCH /v1/organization/:organizationId/members/:userId': { permissions: [] },
  'PUT /v1/organization/:organizationId/members/:userId/budget': { creditLimit: 1 },
  'POST /v1/organization/:organizationId/invitations': { email: 'x@example.org' },
  'POST /v1/organization/:organizationId/access-requests': { credits: 5 },
  'POST /v1/organization': { name: 'Another' },
  'POST /v1/api-keys/organization/:organizationId': { name: 'Stolen', permissions: ['read'] },
  'POST /v1/api-keys/personal': { name: 'Own', permissions: ['read'] },
  'PATCH /v1/api-keys/:keyId': { name: 'Stolen' },
  'POST /v1/webhooks': { url: 'https://hooks.example.org/own', events: ['key.created'] },
  'PATCH /v1/webhooks/:webhookId': { paused: true },
  'PATCH /v1/notices': { switches: { 'credits-low': false }, creditLimit: 1 },
  'PATCH /v1/billing/profile': { company: 'Own' },
  'POST /v1/auth/oidc/token': { response: 'code=x&state=x' },
}

/** Whoever asks, the provider cannot be reached, and a response needs the cookie of the browser that asked. */
const SIGN_ON: Record<string, number> = { 'POST /v1/auth/oidc': 503, 'POST /v1/auth/oidc/token': 401 }

/** They end the session or the account of the caller, or change what the session is for. */
const LEFT_OUT = new Set(['DELETE /v1/auth/me', 'POST /v1/auth/switch', 'POST /v1/auth/sign-out'])

/** They are about the user in all organizations, whichever one the token is for. */
const OF_THE_USER = new Set(['/v1/organizations', '/v1/auth/me/data'])

interface Caller {
  name: string
  options: RequestOptions
  /** Reads a little of the organization, as its member. */
  isMember?: true
}

/** What a member without permissions may do with the organization that they act for. */
const FOR_MEMBERS = new Set([
  'GET /v1/organization/:organizationId',
  'GET /v1/organization/:organizationId/members',
  'GET /v1/organization/:organizationId/access-requests',
  'POST /v1/organization/:organizationId/access-requests',
])

/** An organization that has one of everything; the ids of it stand for the parameters of paths. */
async function openOwner(service: TestServer) {
  const { parts } = service
  const ada = await openAccount(service, 'ada@example.org', { addOns: [...ADD_ONS], credits: 50 })
  const { organizationId, token, userId } = ada
  const send = async (method: string, path: string, body?: unknown) => {
    const answer = await service.request(method, path, { token, body })
    assert.ok(answer.status < 300, answer.text)
    return answer.body
  }
  await parts.organizationAdministration.setPublishing(operator, organizationId, true)
  await send('PATCH', `/v1/organization/${organizationId}`, { name: `${MARK} maps` })
  await publishText(service, `${MARK}_places`, 'a.geojson', points(3), {
    description: { visibility: 'draft' },
    ownerId: organizationId,
  })
  const { id } = await send('PUT', `/v1/dataset/${MARK}_more?dryRun=true`, points(3))
  const keyBody = { name: `${MARK} key`, permissions: ['read'] }
  const { id: keyId } = await send('POST', `/v1/api-keys/organization/${organizationId}`, keyBody)
  const { id: personalId } = await send('POST', '/v1/api-keys/personal', keyBody)
  const webhook = await send('POST', '/v1/webhooks', { url: URL_OF_WEBHOOK, events: ['key.created'] })
  // Nothing is sent meanwhile, so that rows change by requests only.
  await send('PATCH', `/v1/webhooks/${webhook.id}`, { description: MARK, paused: true })
  const messageId = newId('msg')
  const delivery = {
    type: 'key.created',
    payload: MARK,
    state: 'failed',
    attempts: '[]',
    failures: 1,
  } as const
  await parts.database.db
    .insertInto('webhook_deliveries')
    .values({ id: messageId, webhook_id: webhook.id, ...delivery, next_at: null, created_at: '2026-01-01' })
    .execute()
  await until('the end of the job', async () => (await send('GET', `/v1/jobs/${id}`)).state === 'done')
  await send('PATCH', '/v1/billing/profile', { company: `${MARK} company`, address: 'A street' })
  await send('PATCH', '/v1/notices', { creditLimit: 7 })
  const product = { name: 'Credits', price: 100, currency: 'EUR', credits: 10 } as const
  const pack = await parts.products.add(operator, { ...product, kind: 'pack' })
  const plan = await parts.products.add(operator, { ...product, kind: 'plan', period: 'month' })
  await send('POST', '/v1/billing/checkout', { productId: plan.id, provider: 'demo' })
  const { orderId } = await send('POST', '/v1/billing/checkout', { productId: pack.id, provider: 'invoice' })
  const [invoice] = (await send('GET', '/v1/billing/invoices')).data
  const invited = { email: `${MARK}@example.org`, permissions: [] }
  const { id: invitationId } = await send('POST', `/v1/organization/${organizationId}/invitations`, invited)
  const wish = { addOns: [], credits: 5, message: MARK }
  const { id: requestId } = await send('POST', `/v1/organization/${organizationId}/access-requests`, wish)
  const common = {
    organizationId,
    userId,
    webhookId: webhook.id,
    messageId,
    orderId,
    invitationId,
    requestId,
  }
  const values = { ...common, id, productId: pack.id, invoiceFile: `${invoice.id}.pdf`, keyId }
  return { ada, plan, values, keyIds: [keyId, personalId] as string[] }
}

/** A user with all permissions in the organization acts for their own one; others never belonged to it. */
async function openCallers(service: TestServer, ownerId: string) {
  const { parts } = service
  const eve = await openAccount(service, 'eve@example.org', { permissions: ['read', 'write'] })
  await parts.organizationAdministration.setPublishing(operator, eve.organizationId, true)
  await parts.members.add(operator, ownerId, 'eve@example.org', [...MEMBER_PERMISSIONS])
  const stranger = await openAccount(service, 'stranger@example.org')
  await parts.members.add(operator, ownerId, 'member@example.org', [])
  const member = await signIn(service, 'member@example.org')
  const platform = await parts.keys.createPlatform(operator, { name: 'P', permissions: ['read:x'] })
  const callers: Caller[] = [
    { name: 'nobody', options: {} },
    { name: 'a token for another organization', options: { token: eve.token } },
    { name: 'a key of another organization', options: { key: eve.key } },
    { name: 'a stranger', options: { token: stranger.token } },
    { name: 'a platform key of another dataset', options: { key: platform.secret } },
    { name: 'a member without permissions', options: { token: member.token }, isMember: true },
  ]
  return { callers, memberId: member.userId }
}

/** All rows that name the organization, without those of the member, who has keys of their own in it. */
async function rowsOf(
  { parts: { database } }: TestServer,
  organizationId: string,
  memberId: string,
): Promise<string[]> {
  const rows: string[] = []
  for (const { name } of await database.db.introspection.getTables()) {
    // Of the callers, or of work in the background.
    if (['refresh_tokens', 'usage', 'changes', 'notices'].includes(name)) continue
    const stored = await database.db
      .selectFrom(name as keyof Tables)
      .selectAll()
      .execute()
    for (const row of stored.map((each) => `${name} ${JSON.stringify(each)}`))
      if ((row.includes(organizationId) || row.includes(MARK)) && !row.includes(memberId)) rows.push(row)
  }
  return rows.sort()
}

for (const database of databaseKinds) {
  test(`no route reads or changes what belongs to another organization (${database})`, async (t) => {
    const shared =
      database === 'postgres'
        ? { databaseUrl: await temporaryDatabase(t), dataDir: temporaryFolder(t) }
        : { database }
    // Nobody listens at the address of the provider of single sign-on.
    const signOn = { signIn: 'both' as const, oidcIssuer: 'http://127.0.0.1:1', oidcClientId: 'wayleave' }
    const settings = { payments: ['demo', 'invoice'] as ('demo' | 'invoice')[], ...signOn }
    const first = await openTestServer(t, { ...shared, settings })
    const nodes = [first]
    if (database === 'postgres') nodes.push(await openTestServer(t, { ...shared, settings }))
    const { ada, plan, values, keyIds } = await openOwner(first)
    const { callers, memberId } = await openCallers(first, ada.organizationId)
    const before = await rowsOf(first, ada.organizationId, memberId)
    const bodies: Record<string, unknown> = {
      ...BODIES,
      'POST /v1/billing/checkout': { productId: plan.id, provider: 'demo' },
      'POST /v1/billing/subscription/change': { productId: plan.id },
      'POST /v1/billing/subscription/upgrade': { productId: plan.id },
    }
    let asked = 0
    let refused = 0
    for (const [index, { method, url }] of first.routes.rows.entries()) {
      const route = `${method} ${url}`
      const isOther = !/^\/(v1|mcp|oauth)\b/.test(url) || /:table|\*|tileMatrixSetId|basemap/.test(url)
      if (isOther || ['OPTIONS', 'HEAD'].includes(method) || LEFT_OUT.has(route)) continue
      for (const keyId of url.includes(':keyId') ? keyIds : ['']) {
        const path = url.replace(/:(\w+)/g, (_all, name: string) => {
          const value = { ...values, keyId, sessionId: 'x', blockId: 'x' }[name]
          assert.ok(value !== undefined, `Say in this test what stands for ":${name}" of ${url}.`)
          return value
        })
        for (const [i, { name, options, isMember }] of callers.entries()) {
          // What differs by database is the same for all routes, so each gets a third of the callers on PostgreSQL.
          if (database === 'postgres' && (i + index) % 3 !== 0) continue
          const body = bodies[route] ?? (method === 'POST' || method === 'PATCH' ? {} : undefined)
          const node = nodes[asked++ % nodes.length]!
          const { status, text } = await node.request(method, path, { ...options, body })
          const says = `${name}: ${route}: ${status} ${text}`
          const isOfOwner = path !== url && !url.startsWith('/v1/admin')
          const isForMembers = isMember && (FOR_MEMBERS.has(route) || !isOfOwner)
          if (isOfOwner && !isForMembers) assert.ok([401, 403, 404].includes(status), says)
          if (url.startsWith('/v1/auth/oidc')) assert.equal(status, SIGN_ON[route], says)
          if (url.startsWith('/v1/admin')) assert.ok([401, 403].includes(status), says)
          if (!isForMembers && !OF_THE_USER.has(url)) assert.ok(!text.includes(MARK), says)
          if (status > 400) refused++
        }
      }
    }
    assert.ok(refused > (database === 'sqlite' ? 500 : 150), String(refused))
    const paths = first.routes.rows.map(({ method, url }) => `${method} ${url}`)
    for (const route of Object.keys(SIGN_ON)) assert.ok(paths.includes(route), route)
    assert.deepEqual(await rowsOf(first, ada.organizationId, memberId), before)
  })
}
