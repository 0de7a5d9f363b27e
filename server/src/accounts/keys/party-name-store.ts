import type { Db } from '../../base/database/open.ts'

const STEP = 500

/**
 * The names of users, keys and organizations as events and the ledger refer to them: `user:<id>`, `key:<id>`,
 * `organization:<id>`. A deleted key has the last name that the audit log has of it; a deleted user has none.
 */
export async function readPartyNames(db: Db, parties: Iterable<string | null>): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  const all = [...new Set(parties)].filter((party) => party !== null)
  for (let from = 0; from < all.length; from += STEP) {
    const step = all.slice(from, from + STEP)
    const [users, keys, organizations] = await Promise.all([
      idsOf(step, 'user').length === 0
        ? []
        : db
            .selectFrom('users')
            .select(['id', 'email as name'])
            .where('id', 'in', idsOf(step, 'user'))
            .execute(),
      idsOf(step, 'key').length === 0
        ? []
        : db.selectFrom('api_keys').select(['id', 'name']).where('id', 'in', idsOf(step, 'key')).execute(),
      idsOf(step, 'organization').length === 0
        ? []
        : db
            .selectFrom('organizations')
            .select(['id', 'name'])
            .where('id', 'in', idsOf(step, 'organization'))
            .execute(),
    ])
    for (const { id, name } of users) names.set(`user:${id}`, name)
    for (const { id, name } of keys) names.set(`key:${id}`, name)
    for (const { id, name } of organizations) names.set(`organization:${id}`, name)
    const missing = step.filter((party) => party.startsWith('key:') && !names.has(party))
    for (const [party, name] of await namesInEvents(db, missing)) names.set(party, name)
  }
  return names
}

/** The mail addresses of the owners of personal keys, by key id. */
export async function readKeyOwners(db: Db, keyIds: Iterable<string | null>): Promise<Map<string, string>> {
  const owners = new Map<string, string>()
  const all = [...new Set(keyIds)].filter((id) => id !== null)
  for (let from = 0; from < all.length; from += STEP) {
    const rows = await db
      .selectFrom('api_keys')
      .innerJoin('users', 'users.id', 'api_keys.user_id')
      .select(['api_keys.id', 'users.email'])
      .where('api_keys.id', 'in', all.slice(from, from + STEP))
      .where('api_keys.scope', '=', 'user')
      .execute()
    for (const { id, email } of rows) owners.set(id, email)
  }
  return owners
}

/**
 * The organizations of the keys among the parties, null for the platform's. Those of deleted keys are known as long as
 * the audit log has an event of them.
 */
export async function readKeyOrganizations(
  db: Db,
  parties: readonly string[],
): Promise<Map<string, string | null>> {
  const organizations = new Map<string, string | null>()
  const ids = [...new Set(idsOf([...parties], 'key'))]
  for (let from = 0; from < ids.length; from += STEP) {
    const rows = await db
      .selectFrom('api_keys')
      .select(['id', 'organization_id'])
      .where('id', 'in', ids.slice(from, from + STEP))
      .execute()
    for (const { id, organization_id } of rows) organizations.set(`key:${id}`, organization_id)
  }
  const missing = [...new Set(parties)].filter(
    (party) => party.startsWith('key:') && !organizations.has(party),
  )
  for (const { subject, organization_id } of await keyEvents(db, missing))
    organizations.set(subject, organization_id)
  return organizations
}

function idsOf(parties: string[], kind: 'user' | 'key' | 'organization'): string[] {
  return parties.filter((party) => party.startsWith(`${kind}:`)).map((party) => party.slice(kind.length + 1))
}

/** Of each key the newest event in the audit log that has its name. */
async function keyEvents(db: Db, keys: readonly string[]) {
  if (keys.length === 0) return []
  return db
    .selectFrom('events')
    .select(['subject', 'organization_id', 'detail'])
    .where('id', 'in', (query) =>
      query
        .selectFrom('events')
        .select(({ fn }) => fn.max('id').as('id'))
        .where('subject', 'in', keys)
        // Not by the index of actions, in which SQLite would look through the keys of all users.
        .where(({ eb, fn }) =>
          eb(fn<string>('lower', ['action']), 'in', ['key.created', 'key.changed', 'key.deleted']),
        )
        .where('detail', 'like', '%"name":%')
        .groupBy('subject'),
    )
    .execute()
}

async function namesInEvents(db: Db, parties: string[]): Promise<Map<string, string>> {
  const names = new Map<string, string>()
  for (const { subject, detail } of await keyEvents(db, parties)) {
    const { name } = JSON.parse(detail) as { name?: unknown }
    if (typeof name === 'string') names.set(subject, name)
  }
  return names
}
