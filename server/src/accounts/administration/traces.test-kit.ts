import assert from 'node:assert/strict'
import type { Tables } from '../../base/database/schema.ts'
import { operator } from '../../base/events/events.ts'
import { newId } from '../../base/id.ts'
import type { Account } from '../../testing/account.ts'
import { points, publishText } from '../../testing/publish.ts'
import { nextMail } from '../../testing/sign-in.ts'
import type { TestServer } from '../../testing/test-server.ts'

/**
 * What becomes of a row that names a user or an organization, when the account or the organization is closed:
 * `gone`, the row or the name in it is deleted; `id`, the row stays, with ids only; `kept`, it stays as it is;
 * `short`, it is deleted within a day anyway; `none`, the table names nobody.
 */
type Fate = 'gone' | 'id' | 'kept' | 'short' | 'none'

/** Every table has to be listed, so that a new one cannot be forgotten. */
const FATES: { [Table in keyof Tables]: [user: Fate, organization: Fate] } = {
  access_requests: ['gone', 'id'],
  add_ons: ['none', 'id'],
  address_blocks: ['id', 'none'],
  api_keys: ['gone', 'id'],
  assistant_codes: ['short', 'short'],
  billing_profiles: ['none', 'gone'],
  change_number: ['none', 'none'],
  changes: ['short', 'short'],
  credit_levels: ['none', 'gone'],
  // Like invoices.
  credit_notes: ['none', 'kept'],
  dataset_grants: ['id', 'gone'],
  datasets: ['none', 'gone'],
  events: ['id', 'id'],
  further_members: ['gone', 'gone'],
  heartbeat: ['none', 'none'],
  idempotency_keys: ['short', 'short'],
  installation_secrets: ['none', 'none'],
  invitations: ['gone', 'gone'],
  invoice_numbers: ['none', 'none'],
  // The law says how long they are kept, and that they do not change.
  invoices: ['none', 'kept'],
  jobs: ['id', 'id'],
  ledger: ['id', 'id'],
  member_budgets: ['gone', 'gone'],
  member_spending: ['id', 'id'],
  members: ['gone', 'gone'],
  migrations: ['none', 'none'],
  nodes: ['none', 'none'],
  notice_marks: ['id', 'id'],
  notice_switches: ['gone', 'none'],
  notices: ['short', 'gone'],
  orders: ['id', 'id'],
  organizations: ['none', 'id'],
  payment_customers: ['none', 'id'],
  payment_events: ['none', 'none'],
  product_revisions: ['none', 'none'],
  products: ['none', 'none'],
  purchases: ['id', 'id'],
  refresh_tokens: ['gone', 'id'],
  request_log: ['gone', 'gone'],
  revoked_secrets: ['id', 'id'],
  sign_in_links: ['gone', 'none'],
  sign_on_identities: ['gone', 'none'],
  signing_keys: ['none', 'none'],
  source_runs: ['none', 'none'],
  sources: ['id', 'gone'],
  subscriptions: ['none', 'id'],
  usage: ['id', 'id'],
  usage_batches: ['none', 'none'],
  users: ['gone', 'id'],
  version_numbers: ['none', 'none'],
  versions: ['none', 'none'],
  webhook_deliveries: ['id', 'gone'],
  webhooks: ['none', 'gone'],
  wrong_codes: ['gone', 'none'],
}

/** The address of the account that `leaveTraces` is for. */
const EMAIL = 'eve@example.org'

/** Columns that name somebody, by their names. */
const USER_COLUMN = /^(user_id|email|actor|invited_by|created_by|decided_by)$/
const ORGANIZATION_COLUMN = /^(.*_)?(organization_id|owner_id)$/

interface Named {
  /** Ids that mean somebody only as long as there is a row that says who that is. */
  ids: string[]
  /** Names and addresses. */
  texts: string[]
}

export type Traces = Record<'user' | 'organization', Named>
type Found = Record<keyof Traces, Map<string, 'ids' | 'texts'>>

/** The tables in which a user and an organization occur: by their names, or by ids only. */
export async function findTraces({ parts: { database } }: TestServer, traces: Traces): Promise<Found> {
  const found: Found = { user: new Map(), organization: new Map() }
  for (const { name } of await database.db.introspection.getTables()) {
    const rows = await database.db
      .selectFrom(name as keyof Tables)
      .selectAll()
      .execute()
    const text = JSON.stringify(rows)
    for (const who of ['user', 'organization'] as const) {
      if (traces[who].texts.some((each) => text.includes(each))) found[who].set(name, 'texts')
      else if (traces[who].ids.some((each) => text.includes(each))) found[who].set(name, 'ids')
    }
  }
  return found
}

/** Requires of each table what its fate says. Before, all tables had rows that are to be gone. */
export function requireFates(before: Found, after: Found): void {
  const wrong = []
  for (const [table, fates] of Object.entries(FATES)) {
    for (const [index, who] of (['user', 'organization'] as const).entries()) {
      const [fate, was, is] = [fates[index], before[who].get(table), after[who].get(table)]
      const isRight =
        fate === 'none'
          ? (was ?? is) === undefined
          : fate === 'gone'
            ? was !== undefined && is === undefined
            : fate !== 'id' || is !== 'texts'
      if (!isRight) wrong.push(`${table} of the ${who}, ${fate}: before ${was}, after ${is}`)
    }
  }
  assert.deepEqual(wrong, [])
}

/** Columns that name somebody must not be in a table that is said to name nobody. */
export async function requireListedColumns({ parts: { database } }: TestServer): Promise<void> {
  const tables = await database.db.introspection.getTables()
  assert.deepEqual(tables.map(({ name }) => name).sort(), Object.keys(FATES).sort())
  for (const { name: table, columns } of tables) {
    const [user, organization] = FATES[table as keyof Tables]
    for (const { name } of columns) {
      if (USER_COLUMN.test(name)) assert.notEqual(user, 'none', `${table}.${name}`)
      if (ORGANIZATION_COLUMN.test(name)) assert.notEqual(organization, 'none', `${table}.${name}`)
    }
  }
}

/** Makes a row of the account in each table whose rows are to be gone. */
export async function leaveTraces(service: TestServer, account: Account, sharedKey: string): Promise<void> {
  const { token, organizationId, userId, key } = account
  const { db } = service.parts.database
  const at = new Date().toISOString()
  const send = async (method: string, path: string, body: unknown, asked = [200, 201]) => {
    const response = await service.request(method, path, { token, body })
    assert.ok(asked.includes(response.status), response.text)
    return response.body
  }
  await service.parts.organizationAdministration.setPublishing(operator, organizationId, true)
  await publishText(service, 'own', 'a.geojson', points(2))
  await db.updateTable('datasets').set({ owner_id: organizationId }).execute()
  await service.parts.grants.give(operator, 'own', { organizationId })
  await db
    .insertInto('sources')
    .values({
      table_name: 'own',
      owner_id: organizationId,
      kind: 'http',
      address: 'https://data.example.org/own.csv',
      credentials: null,
      options: '{}',
      schedule: null,
      next_run_at: null,
      validators: null,
      failures: 0,
      created_by: `user:${userId}`,
      created_at: at,
      updated_at: at,
    })
    .execute()
  await send('POST', '/v1/webhooks', {
    url: 'https://hooks.example.org/eve',
    events: ['key.created', 'member.added'],
  })
  await send('PATCH', '/v1/notices', { switches: { 'key-expiring': false }, creditLimit: 5 })
  await send('PATCH', '/v1/billing/profile', { company: 'Eve’s company', address: 'A street', taxNumber: '' })
  const product = { kind: 'pack', name: 'Credits', price: 100, currency: 'EUR', credits: 10 } as const
  const { id: productId } = await service.parts.products.add(operator, product)
  await send('POST', '/v1/billing/checkout', { productId })
  await nextMail(service, EMAIL)
  await send('POST', `/v1/organization/${organizationId}/access-requests`, {
    addOns: ['GIS_ACCESS'],
    credits: 0,
    message: 'For a map',
  })
  await send('POST', `/v1/organization/${organizationId}/invitations`, {
    email: 'carol@example.org',
    permissions: [],
  })
  await db
    .insertInto('notices')
    .values({
      id: 'ntc_1',
      notice: 'key-expiring',
      organization_id: organizationId,
      detail: '{}',
      created_at: at,
      lease_until: '9999',
    })
    .execute()
  const invitation = { organization_id: organizationId, permissions: '[]', invited_by: userId }
  for (const email of [EMAIL, 'carol@example.org']) {
    await db
      .insertInto('invitations')
      .values({
        ...invitation,
        id: newId('inv'),
        email,
        token_hash: email,
        created_at: at,
        expires_at: at,
        accepted_at: at,
      })
      .execute()
  }
  // As after an upgrade, while a node of 0.1 still ran: the row of `members` counts.
  const member = { user_id: userId, organization_id: organizationId, permissions: '[]', joined_at: at }
  await db.insertInto('further_members').values(member).execute()
  const budget = { organization_id: organizationId, user_id: userId, credit_limit: 5 }
  await db.insertInto('member_budgets').values(budget).execute()
  await db.insertInto('wrong_codes').values({ email: EMAIL, at }).execute()
  await db
    .insertInto('sign_on_identities')
    .values({ issuer: 'https://id.example.org', subject: 'eve', user_id: userId, created_at: at })
    .execute()
  for (const secret of [key, sharedKey]) await service.request('GET', '/v1/datasets', { key: secret })
  await service.parts.keyRequestLog!.flush()
}
