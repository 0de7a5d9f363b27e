import type { KeyScope } from '@wayleave/contract/permissions'
import { sql } from 'kysely'
import type { Db } from '../../base/database/open.ts'
import type { Tables } from '../../base/database/schema.ts'
import type { Acting } from '../../base/events/events.ts'

export interface KeyRow {
  id: string
  scope: KeyScope
  kind: 'key' | 'session'
  permissions: string
  organization_id: string | null
  user_id: string | null
  rate: number | null
  burst: number | null
  expires_at: string | null
  revoked_at: string | null
  allowed_origins: string | null
  /** 1 for a key that gets samples only. */
  test: number
  allowed_addresses: string | null
  credit_limit: number | null
  /** When this secret ends because the key was rotated with an overlap; null for the current secret. */
  secret_ends_at: string | null
  /** The key's organization if its owner belongs to it at present. */
  owner_organization_id: string | null
  /** When the key's owner was blocked; null for keys without an owner too. */
  owner_blocked_at: string | null
  /** When the key's organization was suspended. */
  suspended_at: string | null
  /** When the key's organization was closed. */
  closed_at: string | null
  add_ons: string[]
  owner_email: string | null
  /** The permissions of the key's owner in the key's organization, in JSON. */
  owner_permissions: string | null
  /** 1 if the operator allows the key's organization to publish; null for a platform key. */
  publishing: number | null
}

/** The rights of an organization to single datasets. */
export type DatasetGrantRow = Pick<
  Tables['dataset_grants'],
  'table_name' | 'access' | 'credits' | 'expires_at'
>

const OWNER_ORGANIZATION = sql<
  string | null
>`coalesce(members.organization_id, further_members.organization_id)`
const OWNER_PERMISSIONS = sql<string | null>`coalesce(members.permissions, further_members.permissions)`
/** What is known of a key's owner, by either query. */
const OWNER_COLUMNS = [
  'users.blocked_at as owner_blocked_at',
  'users.email as owner_email',
  OWNER_PERMISSIONS.as('owner_permissions'),
  'organizations.suspended_at',
  'organizations.closed_at',
  'organizations.publishing',
  'add_ons.add_on',
] as const

export async function findKeyByHash(db: Db, secretHash: string): Promise<KeyRow | undefined> {
  const rows = await db
    .selectFrom('api_keys')
    .leftJoin('members', (join) =>
      join
        .onRef('members.user_id', '=', 'api_keys.user_id')
        .onRef('members.organization_id', '=', 'api_keys.organization_id'),
    )
    .leftJoin('further_members', (join) =>
      join
        .onRef('further_members.user_id', '=', 'api_keys.user_id')
        .onRef('further_members.organization_id', '=', 'api_keys.organization_id'),
    )
    .leftJoin('users', 'users.id', 'api_keys.user_id')
    .leftJoin('organizations', 'organizations.id', 'api_keys.organization_id')
    .leftJoin('add_ons', 'add_ons.organization_id', 'api_keys.organization_id')
    .where((key) =>
      key.or([
        key('api_keys.secret_hash', '=', secretHash),
        key('api_keys.previous_secret_hash', '=', secretHash),
      ]),
    )
    .select([
      'api_keys.id',
      'api_keys.scope',
      'api_keys.kind',
      'api_keys.permissions',
      'api_keys.organization_id',
      'api_keys.user_id',
      'api_keys.rate',
      'api_keys.burst',
      'api_keys.expires_at',
      'api_keys.revoked_at',
      'api_keys.allowed_origins',
      'api_keys.test',
      'api_keys.allowed_addresses',
      'api_keys.credit_limit',
      'api_keys.secret_hash',
      'api_keys.previous_ends_at',
      OWNER_ORGANIZATION.as('owner_organization_id'),
      ...OWNER_COLUMNS,
    ])
    .execute()
  const first = rows[0]
  if (!first) return undefined
  const secret_ends_at = first.secret_hash === secretHash ? null : first.previous_ends_at
  return {
    ...first,
    secret_ends_at,
    add_ons: rows.flatMap((row) => (row.add_on === null ? [] : [row.add_on])),
  }
}

/** A signed-in user, as a session key of theirs would be read. */
export async function findSignedInUser(
  db: Db,
  { userId, organizationId }: Acting,
): Promise<KeyRow | undefined> {
  const rows = await db
    .selectFrom('users')
    .leftJoin('members', (join) =>
      join.onRef('members.user_id', '=', 'users.id').on('members.organization_id', '=', organizationId ?? ''),
    )
    .leftJoin('further_members', (join) =>
      join
        .onRef('further_members.user_id', '=', 'users.id')
        .on('further_members.organization_id', '=', organizationId ?? ''),
    )
    .leftJoin('organizations', (join) =>
      join.on(OWNER_ORGANIZATION, '=', (row) => row.ref('organizations.id')),
    )
    .leftJoin('add_ons', 'add_ons.organization_id', 'organizations.id')
    .where('users.id', '=', userId)
    .select(['users.id as user_id', 'organizations.id as organization_id', ...OWNER_COLUMNS])
    .execute()
  const first = rows[0]
  if (!first) return undefined
  return {
    ...first,
    id: `user:${userId}`,
    scope: 'user',
    kind: 'session',
    permissions: '["read"]',
    rate: null,
    burst: null,
    expires_at: null,
    revoked_at: null,
    allowed_origins: null,
    test: 0,
    allowed_addresses: null,
    credit_limit: null,
    secret_ends_at: null,
    owner_organization_id: first.organization_id,
    add_ons: rows.flatMap((row) => (row.add_on === null ? [] : [row.add_on])),
  }
}

export function readDatasetGrants(db: Db, organizationId: string): Promise<DatasetGrantRow[]> {
  return db
    .selectFrom('dataset_grants')
    .select(['table_name', 'access', 'credits', 'expires_at'])
    .where('organization_id', '=', organizationId)
    .execute()
}
