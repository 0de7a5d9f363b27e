const PERMISSIONS = ['APIKEY_VIEW', 'APIKEY_CREATE', 'MEMBER_MANAGE', 'BILLING_VIEW', 'DATASET_PUBLISH']

/** Products, orders and their payments, plans, invoices, budgets of keys, and balances below zero. */
export function billingTables(kind: 'sqlite' | 'postgres'): string[] {
  const big = kind === 'sqlite' ? 'integer' : 'bigint'
  const table = (name: string, ...lines: string[]) =>
    `create table ${name} (${lines.join(', ')})${kind === 'sqlite' ? ' strict' : ''}`
  return [
    ...balancesBelowZero(kind),
    'alter table ledger add column order_id text',
    `alter table api_keys add column credit_limit ${big}`,
    'alter table datasets add column extract_price text',
    // Those who have all permissions keep all.
    `update members set permissions = '${JSON.stringify([...PERMISSIONS, 'BILLING_MANAGE'])}'
      where permissions = '${JSON.stringify(PERMISSIONS)}'`,
    table(
      'products',
      'id text primary key',
      'kind text not null',
      'period text',
      `revision ${big} not null`,
      'created_at text not null',
      'retired_at text',
    ),
    table(
      'product_revisions',
      'product_id text not null references products (id) on delete cascade',
      `revision ${big} not null`,
      'name text not null',
      'description text not null',
      `price ${big} not null check (price >= 0)`,
      'currency text not null',
      `credits ${big} not null check (credits >= 0)`,
      'add_ons text not null',
      'keeps_credits integer not null',
      'created_at text not null',
      'primary key (product_id, revision)',
    ),
    ...orderTables(table, big),
    ...subscriptionTables(table, big),
  ]
}

type TableStatement = (name: string, ...lines: string[]) => string

function orderTables(table: TableStatement, big: string): string[] {
  return [
    table(
      'orders',
      'id text primary key',
      'organization_id text not null references organizations (id) on delete cascade',
      'product_id text not null',
      `revision ${big} not null`,
      `quantity ${big} not null`,
      `amount ${big} not null check (amount >= 0)`,
      'currency text not null',
      `credits ${big} not null check (credits >= 0)`,
      'provider text not null',
      'reference text',
      'payment_reference text',
      'url text',
      'state text not null',
      'reason text not null',
      `refunded_amount ${big} not null`,
      `withdrawn_credits ${big} not null`,
      'subscription_id text',
      'period_start text',
      'period_end text',
      `reminders ${big} not null`,
      'created_by text not null',
      'created_at text not null',
      'paid_at text',
    ),
    'create unique index orders_reference on orders (provider, reference)',
    'create index orders_payment on orders (provider, payment_reference)',
    'create index orders_organization on orders (organization_id, created_at, id)',
    'create index orders_state on orders (state, created_at, id)',
    'create index orders_paid on orders (paid_at)',
    'create index orders_subscription on orders (subscription_id)',
    'create index ledger_order on ledger (order_id)',
    table('payment_events', 'id text primary key', 'kind text not null', 'order_id text', 'at text not null'),
    'create index payment_events_at on payment_events (at)',
    table('invoice_numbers', 'prefix text primary key', `last_number ${big} not null`),
    table(
      'invoices',
      'id text primary key',
      'organization_id text not null references organizations (id) on delete cascade',
      'order_id text not null unique references orders (id) on delete cascade',
      'issued_at text not null',
      'due_at text not null',
      'content text not null',
    ),
    'create index invoices_organization on invoices (organization_id, issued_at)',
    table(
      'billing_profiles',
      'organization_id text primary key references organizations (id) on delete cascade',
      'company text not null',
      'address text not null',
      'tax_number text not null',
    ),
  ]
}

function subscriptionTables(table: TableStatement, big: string): string[] {
  return [
    table(
      'subscriptions',
      'id text primary key',
      'organization_id text not null references organizations (id) on delete cascade',
      'product_id text not null',
      `revision ${big} not null`,
      'provider text not null',
      'reference text',
      'state text not null',
      'anchor text not null',
      `periods ${big} not null`,
      'period_start text not null',
      'period_end text not null',
      'cancels_at_end integer not null',
      'next_product_id text',
      'granted_add_ons text not null',
      'credit_order_id text',
      'grace_until text',
      'created_at text not null',
      'ended_at text',
    ),
    `create unique index subscriptions_current on subscriptions (organization_id) where state <> 'ended'`,
    'create index subscriptions_due on subscriptions (state, period_end)',
    'create index subscriptions_reference on subscriptions (provider, reference)',
  ]
}

/**
 * A refund may bring a balance below zero. SQLite cannot drop a check, but a check is dropped together with its
 * column, so the column is replaced by one of the same name.
 */
function balancesBelowZero(kind: 'sqlite' | 'postgres'): string[] {
  if (kind === 'postgres') {
    return [
      'alter table organizations drop constraint organizations_credits_check',
      'alter table ledger drop constraint ledger_balance_check',
    ]
  }
  return [
    ['organizations', 'credits'],
    ['ledger', 'balance'],
  ].flatMap(([table, column]) => [
    `alter table ${table} add column unchecked integer not null default 0`,
    `update ${table} set unchecked = ${column}`,
    `alter table ${table} drop column ${column}`,
    `alter table ${table} rename column unchecked to ${column}`,
  ])
}
