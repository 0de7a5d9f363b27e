/** Limits of plans, budgets of members, credit notes, and what is still to be asked or told a payment provider. */
export function billingLimits(kind: 'sqlite' | 'postgres'): string[] {
  const big = kind === 'sqlite' ? 'integer' : 'bigint'
  const table = (name: string, ...lines: string[]) =>
    `create table ${name} (${lines.join(', ')})${kind === 'sqlite' ? ' strict' : ''}`
  return [
    `alter table product_revisions add column limits text not null default '{}'`,
    `alter table orders add column checked_at text not null default ''`,
    'alter table orders add column upgrades_from text',
    `alter table subscriptions add column checked_at text not null default ''`,
    'alter table subscriptions add column to_cancel integer not null default 0',
    'alter table subscriptions add column to_reprice integer not null default 0',
    table(
      'member_budgets',
      'organization_id text not null references organizations (id) on delete cascade',
      'user_id text not null references users (id) on delete cascade',
      `credit_limit ${big} not null`,
      'primary key (organization_id, user_id)',
    ),
    table(
      'member_spending',
      'organization_id text not null references organizations (id) on delete cascade',
      'user_id text not null references users (id) on delete cascade',
      'month text not null',
      `credits ${big} not null`,
      'primary key (organization_id, user_id, month)',
    ),
    table(
      'credit_notes',
      'id text primary key',
      'organization_id text not null references organizations (id) on delete cascade',
      'order_id text not null references orders (id) on delete cascade',
      'invoice_id text not null',
      `amount ${big} not null`,
      'issued_at text not null',
      'content text not null',
    ),
    'create index credit_notes_order on credit_notes (order_id)',
    'create index credit_notes_organization on credit_notes (organization_id, issued_at)',
    table(
      'payment_customers',
      'organization_id text not null references organizations (id) on delete cascade',
      'provider text not null',
      'reference text not null',
      'primary key (organization_id, provider)',
    ),
    'create index subscriptions_to_tell on subscriptions (to_cancel, to_reprice) where to_cancel = 1 or to_reprice = 1',
  ]
}
