import { assistantCodes } from './assistant-codes.ts'
import { assistantKeys } from './assistant-keys.ts'
import { billingLimits } from './billing-limits.ts'
import { billingTables } from './billing-tables.ts'
import { moneyOfBookings } from './money-of-bookings.ts'
import { plannedPlans } from './planned-plans.ts'
import { publishingColumns } from './publishing-columns.ts'
import { severalOrganizations, signOnIdentities } from './several-organizations.ts'
import { sourceTables } from './source-tables.ts'
import { versionChanges } from './version-changes.ts'
import { webhookTables } from './webhook-tables.ts'

export interface Migration {
  name: string
  statements(kind: 'sqlite' | 'postgres'): string[]
}

/** Indexes are created beside running writes on PostgreSQL, after the other statements. */
export function isIndexStatement(statement: string): boolean {
  return /^create (unique )?index /.test(statement)
}

export function indexName(statement: string): string {
  return /^create (?:unique )?index (\w+) on /.exec(statement)![1]!
}

/**
 * A released migration is never changed: a new schema is a new entry at the end. It only adds what nodes of the version
 * before can ignore (docs/decisions/migrations-beside-old-nodes.md); migrations.test.ts checks each statement.
 */
export const migrations: Migration[] = [
  { name: 'first schema', statements: firstSchema },
  { name: 'the session of a session key', statements: sessionOfKeys },
  { name: 'jobs that are taken up again', statements: repeatableJobs },
  { name: 'secrets that must not work again', statements: revokedSecrets },
  { name: 'usage by date', statements: usageByDate },
  { name: 'a token for each change', statements: tokensOfChanges },
  { name: 'when the installation last ran', statements: heartbeat },
  { name: 'codes bound to their request', statements: boundCodes },
  { name: 'blocked users and addresses, events by subject', statements: blocks },
  { name: 'jobs of several kinds with leases', statements: leasedJobs },
  { name: 'more about datasets, columns and versions', statements: richerMetadata },
  { name: 'usage of the console by user', statements: consoleUsage },
  { name: 'requests for access, suspended organizations', statements: accessRequests },
  { name: 'summaries of manifests', statements: summaries },
  { name: 'allowed callers of keys, rotation with an overlap', statements: allowedCallers },
  { name: 'who sees datasets, grants and publishers', statements: datasetAccess },
  { name: 'requests that are carried out once', statements: idempotencyKeys },
  { name: 'codes of assistants', statements: assistantCodes },
  { name: 'webhooks, notices, test keys and requests of keys', statements: webhookTables },
  { name: 'products, orders and plans', statements: billingTables },
  { name: 'schemas, drafts and versions that reuse a snapshot', statements: publishingColumns },
  { name: 'members of several organizations', statements: severalOrganizations },
  { name: 'who users are at the provider of single sign-on', statements: signOnIdentities },
  { name: 'changes between versions', statements: versionChanges },
  { name: 'sources of datasets', statements: sourceTables },
  { name: 'the programs that keys were given to', statements: assistantKeys },
  { name: 'limits of plans, budgets of members, credit notes', statements: billingLimits },
  { name: 'the price of the plan that follows', statements: plannedPlans },
  { name: 'the money of ledger rows', statements: moneyOfBookings },
]

function idempotencyKeys(kind: 'sqlite' | 'postgres'): string[] {
  const columns = [
    'id text primary key',
    'content_hash text not null',
    'token text not null',
    'lease_until text not null',
    'carried_out text',
    'response text',
    'created_at text not null',
  ]
  return [
    `create table idempotency_keys (${columns.join(', ')})${kind === 'sqlite' ? ' strict' : ''}`,
    'create index idempotency_keys_created on idempotency_keys (created_at)',
  ]
}

function allowedCallers(): string[] {
  return [
    'alter table api_keys add column allowed_origins text',
    'alter table api_keys add column allowed_addresses text',
    'alter table api_keys add column previous_secret_hash text',
    'alter table api_keys add column previous_prefix text',
    'alter table api_keys add column previous_ends_at text',
    'alter table api_keys add column previous_last_used_at text',
    'create unique index api_keys_previous_secret on api_keys (previous_secret_hash)',
  ]
}

function datasetAccess(kind: 'sqlite' | 'postgres'): string[] {
  const columns = [
    'id text primary key',
    'table_name text not null references datasets (table_name) on delete cascade',
    'organization_id text not null references organizations (id) on delete cascade',
    'access text',
    `credits ${kind === 'sqlite' ? 'integer' : 'bigint'} check (credits >= 0)`,
    'expires_at text',
    'created_by text not null',
    'created_at text not null',
    'unique (table_name, organization_id)',
  ]
  const permissions = ['APIKEY_VIEW', 'APIKEY_CREATE', 'MEMBER_MANAGE', 'BILLING_VIEW']
  return [
    `alter table datasets add column visibility text not null default 'public'`,
    'alter table datasets add column owner_id text',
    'alter table organizations add column publishing integer not null default 0',
    'alter table jobs add column owner_id text',
    // Those who have all permissions keep all.
    `update members set permissions = '${JSON.stringify([...permissions, 'DATASET_PUBLISH'])}'
      where permissions = '${JSON.stringify(permissions)}'`,
    `create table dataset_grants (${columns.join(', ')})${kind === 'sqlite' ? ' strict' : ''}`,
    'create index dataset_grants_organization on dataset_grants (organization_id)',
    'create index datasets_owner on datasets (owner_id)',
    'create index usage_table on usage (table_name, date)',
  ]
}

/** They are filled by a running node (`data/catalog/store.ts`), because SQL cannot parse a manifest reliably. */
function summaries(): string[] {
  return ['alter table versions add column summary text']
}

function richerMetadata(): string[] {
  return [
    `alter table datasets add column contact text not null default ''`,
    `alter table datasets add column citation text not null default ''`,
    `alter table datasets add column update_frequency text not null default ''`,
    `alter table datasets add column column_notes text not null default '{}'`,
    `alter table versions add column note text not null default ''`,
  ]
}

/**
 * Running jobs go back to waiting, because the index allows one running job in each queue; jobs that nodes of the
 * earlier version add have an empty queue and are not limited. A node of the earlier version that is publishing such
 * a job finds that it is not running, and drops its result.
 */
function leasedJobs(): string[] {
  return [
    `alter table jobs add column kind text not null default 'publish'`,
    `alter table jobs add column queue text not null default ''`,
    'alter table jobs add column priority integer not null default 0',
    'alter table jobs add column single_key text',
    'alter table jobs add column retries integer not null default 0',
    'alter table jobs add column run_after text',
    'alter table jobs add column lease_token text',
    'alter table jobs add column lease_until text',
    `update jobs set queue = 'publish ' || table_name`,
    `update jobs set state = 'waiting' where state = 'running'`,
    `create unique index jobs_single on jobs (single_key) where state in ('waiting', 'running')`,
    `create unique index jobs_running on jobs (queue) where state = 'running' and queue <> ''`,
    `create index jobs_open on jobs (queue, created_at, id) where state in ('waiting', 'running')`,
    'create index jobs_listed on jobs (kind, created_at, id)',
    'alter table nodes add column job_kinds text',
  ]
}

/** An organization has at most one open request: the operator decides on a whole one. */
function accessRequests(kind: 'sqlite' | 'postgres'): string[] {
  const columns = [
    'id text primary key',
    'organization_id text not null references organizations (id) on delete cascade',
    'user_id text not null references users (id) on delete cascade',
    'add_ons text not null',
    `credits ${kind === 'sqlite' ? 'integer' : 'bigint'} not null`,
    'message text not null',
    'state text not null',
    'note text not null',
    'created_at text not null',
    'decided_at text',
    'decided_by text',
  ]
  return [
    `create table access_requests (${columns.join(', ')})${kind === 'sqlite' ? ' strict' : ''}`,
    `create unique index access_requests_open on access_requests (organization_id) where state = 'open'`,
    'create index access_requests_state on access_requests (state, created_at)',
    'alter table organizations add column suspended_at text',
    'alter table organizations add column suspend_reason text',
    'alter table organizations add column closed_at text',
  ]
}

/** The usage of session keys that still exist; older ones cannot be attributed. */
function consoleUsage(): string[] {
  const ofSessions = `select id from api_keys where kind = 'session'`
  return [
    `insert into usage (key_id, organization_id, date, operation, table_name, format, calls, credits)
      select 'user:' || api_keys.user_id || '@' || usage.organization_id, usage.organization_id, usage.date,
        usage.operation, usage.table_name, usage.format, sum(usage.calls), sum(usage.credits)
      from usage join api_keys on api_keys.id = usage.key_id
      where api_keys.kind = 'session' and usage.organization_id is not null
      group by api_keys.user_id, usage.organization_id, usage.date, usage.operation, usage.table_name,
        usage.format`,
    `delete from usage where key_id in (${ofSessions})`,
    `update ledger set key_id = null,
        actor = (select 'user:' || user_id from api_keys where api_keys.id = ledger.key_id)
      where key_id in (${ofSessions})`,
  ]
}

function blocks(kind: 'sqlite' | 'postgres'): string[] {
  const columns = [
    'id text primary key',
    'network text not null',
    'reason text not null',
    'created_by text not null',
    'created_at text not null',
    'expires_at text',
  ]
  return [
    'alter table users add column blocked_at text',
    'alter table users add column block_reason text',
    `create table address_blocks (${columns.join(', ')})${kind === 'sqlite' ? ' strict' : ''}`,
    'create index events_action on events (action, id)',
    'create index events_actor on events (actor, id)',
    'create index events_subject on events (subject, id)',
    'create index events_at on events (at)',
  ]
}

/** Links of earlier versions have no request; their codes work without one. */
function boundCodes(): string[] {
  return [
    'alter table sign_in_links add column request_hash text',
    'alter table sign_in_links add column bound integer not null default 0',
  ]
}

/** `request` is null for jobs of earlier versions, which cannot be resumed. */
function repeatableJobs(): string[] {
  return [
    'alter table jobs add column request text',
    'alter table jobs add column attempts integer not null default 0',
  ]
}

/** Old usage is deleted by date. Rows are mostly updated, rarely inserted, and updates skip this index. */
function usageByDate(): string[] {
  return ['create index usage_date on usage (date)']
}

/** A separate table: the old secret of a rotated key and that of a deleted key leave no other trace. */
function revokedSecrets(kind: 'sqlite' | 'postgres'): string[] {
  return [
    `create table revoked_secrets (secret_hash text primary key, key_id text not null, at text not null)${kind === 'sqlite' ? ' strict' : ''}`,
    'create index revoked_secrets_at on revoked_secrets (at)',
    'insert into revoked_secrets select secret_hash, id, revoked_at from api_keys where revoked_at is not null',
  ]
}

/** For an existing installation, `seen_at` starts as the time of its newest event. */
function heartbeat(kind: 'sqlite' | 'postgres'): string[] {
  const big = kind === 'sqlite' ? 'integer' : 'bigint'
  return [
    `create table heartbeat ("only" integer primary key check ("only" = 1), seen_at text, probes ${big} not null)${
      kind === 'sqlite' ? ' strict' : ''
    }`,
    'insert into heartbeat select 1, max(at), 0 from events',
  ]
}

/** Rows without a token prove nothing about the history: only the newest change is kept, with a token. */
function tokensOfChanges(kind: 'sqlite' | 'postgres'): string[] {
  const token = kind === 'sqlite' ? 'lower(hex(randomblob(16)))' : 'gen_random_uuid()::text'
  return [
    `alter table changes add column token text not null default ''`,
    `alter table change_number add column token text not null default ''`,
    'alter table nodes add column token text',
    `update change_number set token = ${token}`,
    'delete from changes',
    `insert into changes (number, subject, subject_id, at, token)
      select number, 'start', '', '', token from change_number`,
  ]
}

function sessionOfKeys(): string[] {
  return [
    'alter table api_keys add column session_id text',
    'create index api_keys_session on api_keys (session_id)',
  ]
}

function firstSchema(kind: 'sqlite' | 'postgres'): string[] {
  const big = kind === 'sqlite' ? 'integer' : 'bigint'
  const serial =
    kind === 'sqlite'
      ? 'integer primary key autoincrement'
      : 'bigint generated always as identity primary key'
  const table = (name: string, ...lines: string[]) =>
    `create table ${name} (${lines.join(', ')})${kind === 'sqlite' ? ' strict' : ''}`
  return [
    table(
      'users',
      'id text primary key',
      'email text not null unique',
      'created_at text not null',
      'last_sign_in_at text',
    ),
    table(
      'sign_in_links',
      'id text primary key',
      'email text not null',
      'token_hash text not null unique',
      'code_hash text not null',
      'wrong_codes integer not null',
      'created_at text not null',
      'expires_at text not null',
      'used_at text',
    ),
    'create index sign_in_links_email on sign_in_links (email, created_at)',
    table('wrong_codes', `id ${serial}`, 'email text not null', 'at text not null'),
    'create index wrong_codes_email on wrong_codes (email, at)',
    table(
      'refresh_tokens',
      'token_hash text primary key',
      'family_id text not null',
      'user_id text not null references users (id) on delete cascade',
      'created_at text not null',
      'expires_at text not null',
      'replaced_at text',
    ),
    'create index refresh_tokens_family on refresh_tokens (family_id)',
    'create index refresh_tokens_user on refresh_tokens (user_id)',
    table(
      'signing_keys',
      'kid text primary key',
      'private_jwk text not null',
      'public_jwk text not null',
      'created_at text not null',
      'retired_at text',
    ),
    table('installation_secrets', 'name text primary key', 'value text not null'),

    table(
      'organizations',
      'id text primary key',
      'name text not null',
      `credits ${big} not null check (credits >= 0)`,
      'created_at text not null',
    ),
    table(
      'add_ons',
      'organization_id text not null references organizations (id) on delete cascade',
      'add_on text not null',
      'granted_at text not null',
      'primary key (organization_id, add_on)',
    ),
    table(
      'members',
      'user_id text primary key references users (id) on delete cascade',
      'organization_id text not null references organizations (id) on delete cascade',
      'permissions text not null',
      'joined_at text not null',
    ),
    'create index members_organization on members (organization_id)',
    table(
      'invitations',
      'id text primary key',
      'organization_id text not null references organizations (id) on delete cascade',
      'email text not null',
      'permissions text not null',
      'token_hash text not null unique',
      'invited_by text not null',
      'created_at text not null',
      'expires_at text not null',
      'accepted_at text',
    ),
    'create index invitations_organization on invitations (organization_id)',
    'create index invitations_email on invitations (email)',

    table(
      'api_keys',
      'id text primary key',
      'name text not null',
      `scope text not null check (scope in ('user', 'organization', 'platform'))`,
      'permissions text not null',
      'prefix text not null',
      'secret_hash text not null unique',
      `kind text not null check (kind in ('key', 'session'))`,
      'organization_id text references organizations (id) on delete cascade',
      'user_id text references users (id) on delete cascade',
      `rate ${big}`,
      `burst ${big}`,
      'expires_at text',
      'created_at text not null',
      'rotated_at text',
      'revoked_at text',
      'last_used_at text',
    ),
    'create index api_keys_organization on api_keys (organization_id)',
    'create index api_keys_user on api_keys (user_id)',

    table(
      'changes',
      `number ${big} primary key`,
      'subject text not null',
      'subject_id text not null',
      'at text not null',
    ),
    table('change_number', '"only" integer primary key check ("only" = 1)', `number ${big} not null`),
    'insert into change_number values (1, 0)',
    table('nodes', 'id text primary key', 'lease_until text not null', `acknowledged ${big} not null`),

    table(
      'usage',
      'key_id text not null',
      'organization_id text',
      'date text not null',
      'operation text not null',
      'table_name text not null',
      'format text not null',
      `calls ${big} not null`,
      `credits ${big} not null`,
      'primary key (key_id, date, operation, table_name, format)',
    ),
    'create index usage_organization on usage (organization_id, date)',
    table('usage_batches', 'id text primary key', 'at text not null'),

    table(
      'ledger',
      `id ${serial}`,
      'organization_id text not null references organizations (id) on delete cascade',
      'at text not null',
      `amount ${big} not null`,
      `balance ${big} not null check (balance >= 0)`,
      'kind text not null',
      'key_id text',
      'table_name text',
      `version ${big}`,
      'format text',
      'actor text',
      `refunds ${big} unique`,
    ),
    'create index ledger_organization on ledger (organization_id, id)',
    table(
      'purchases',
      'payer text not null',
      'table_name text not null',
      `version ${big} not null`,
      'format text not null',
      'paid_at text not null',
      `ledger_id ${big}`,
      'primary key (payer, table_name, version, format)',
    ),

    table(
      'datasets',
      'table_name text primary key',
      'title text not null',
      'description text not null',
      'license text not null',
      'attribution text not null',
      'keywords text not null',
      `credits ${big} not null check (credits >= 0)`,
      `current_version ${big} not null`,
      'created_at text not null',
      'updated_at text not null',
    ),
    table(
      'versions',
      'table_name text not null references datasets (table_name) on delete cascade',
      `version ${big} not null`,
      'snapshot text not null unique',
      'created_at text not null',
      `rows ${big} not null`,
      'manifest text not null',
      'has_sample integer not null',
      'primary key (table_name, version)',
    ),
    table('version_numbers', 'table_name text primary key', `last_version ${big} not null`),
    table(
      'jobs',
      'id text primary key',
      'table_name text not null',
      'state text not null',
      'progress text',
      'report text',
      'problem text',
      `version ${big}`,
      'actor text not null',
      'node_id text not null',
      'created_at text not null',
      'updated_at text not null',
    ),

    table(
      'events',
      `id ${serial}`,
      'at text not null',
      'organization_id text',
      'actor text not null',
      'action text not null',
      'subject text not null',
      'detail text not null',
      'address text',
      'request_id text',
    ),
    'create index events_organization on events (organization_id, id)',
  ]
}
