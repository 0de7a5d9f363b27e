/** Webhooks and notices with their outboxes, test keys, and the requests of keys. */
export function webhookTables(kind: 'sqlite' | 'postgres'): string[] {
  const big = kind === 'sqlite' ? 'integer' : 'bigint'
  const serial =
    kind === 'sqlite'
      ? 'integer primary key autoincrement'
      : 'bigint generated always as identity primary key'
  const table = (name: string, ...columns: string[]) =>
    `create table ${name} (${columns.join(', ')})${kind === 'sqlite' ? ' strict' : ''}`
  return [
    'alter table api_keys add column test integer not null default 0',
    table(
      'webhooks',
      'id text primary key',
      'organization_id text references organizations (id) on delete cascade',
      'url text not null',
      'events text not null',
      'description text not null',
      'secret text not null',
      'previous_secret text',
      'previous_ends_at text',
      'created_at text not null',
      'failing_since text',
      'paused_at text',
      'pause_reason text',
      'lease_token text',
      'lease_until text',
    ),
    'create index webhooks_organization on webhooks (organization_id)',
    table(
      'webhook_deliveries',
      'id text primary key',
      'webhook_id text not null references webhooks (id) on delete cascade',
      'type text not null',
      'payload text not null',
      'state text not null',
      'attempts text not null',
      'failures integer not null',
      'next_at text',
      'created_at text not null',
    ),
    `create index webhook_deliveries_due on webhook_deliveries (next_at) where state = 'waiting'`,
    `create index webhook_deliveries_waiting on webhook_deliveries (webhook_id, next_at) where state = 'waiting'`,
    'create index webhook_deliveries_listed on webhook_deliveries (webhook_id, created_at, id)',
    'create index webhook_deliveries_created on webhook_deliveries (created_at)',
    table(
      'notices',
      'id text primary key',
      'notice text not null',
      'organization_id text references organizations (id) on delete cascade',
      'detail text not null',
      'created_at text not null',
      'lease_until text',
    ),
    table(
      'notice_switches',
      'email text not null',
      'notice text not null',
      'at text not null',
      'primary key (email, notice)',
    ),
    table('notice_marks', 'id text primary key', 'at text not null'),
    'create index notice_marks_at on notice_marks (at)',
    table(
      'credit_levels',
      'organization_id text primary key references organizations (id) on delete cascade',
      `low_limit ${big}`,
      'exhausted_at text',
    ),
    table(
      'request_log',
      `id ${serial}`,
      'key_id text not null',
      'at text not null',
      'operation text not null',
      'table_name text not null',
      'status integer not null',
      'milliseconds integer not null',
      `bytes ${big}`,
      `credits ${big} not null`,
      'weight integer not null',
    ),
    // To find the organizations that have bought a dataset.
    'create index ledger_table on ledger (table_name, organization_id)',
    'create index request_log_key on request_log (key_id, id)',
    'create index request_log_at on request_log (at)',
  ]
}
