import { sql } from 'kysely'
import type { ControlDatabase, Db } from '../../base/database/open.ts'

/** Organizations whose balance is not the sum of their ledger. */
export async function wrongBalances(db: Db): Promise<{ id: string; credits: number; sum: number }[]> {
  const { rows } = await sql<{ id: string; credits: number; sum: number | string }>`
    select organizations.id as id, organizations.credits as credits, coalesce(sum(ledger.amount), 0) as sum
    from organizations left join ledger on ledger.organization_id = organizations.id
    group by organizations.id, organizations.credits
    having organizations.credits <> coalesce(sum(ledger.amount), 0)
    order by organizations.id`.execute(db)
  // PostgreSQL sums bigint columns to numeric, which the driver returns as text.
  return rows.map((row) => ({ ...row, sum: Number(row.sum) }))
}

/** Organizations whose ledger has a row that does not continue from the previous row's balance. */
export async function brokenLedgers(db: Db): Promise<{ id: string; ledgerId: number; rows: number }[]> {
  const { rows } = await sql<{ id: string; ledgerId: number; rows: number | string }>`
    select organization_id as id, min(id) as "ledgerId", count(*) as rows
    from (
      select id, organization_id, amount, balance,
        lag(balance, 1) over (partition by organization_id order by id) as previous
      from ledger
    ) as steps
    where balance <> coalesce(previous, 0) + amount
    group by organization_id order by organization_id`.execute(db)
  return rows.map((row) => ({ ...row, rows: Number(row.rows) }))
}

/** Refunds that do not return exactly the amount of the row that they refer to. */
export async function wrongRefunds(db: Db): Promise<{ ledgerId: number; refunds: number }[]> {
  const { rows } = await sql<{ ledgerId: number; refunds: number }>`
    select refund.id as "ledgerId", refund.refunds as refunds
    from ledger as refund left join ledger as paid on paid.id = refund.refunds
    where refund.refunds is not null
      and (paid.id is null or paid.organization_id <> refund.organization_id or paid.amount <> -refund.amount)
    order by refund.id`.execute(db)
  return rows
}

/** Orders whose ledger rows do not add up to what was booked: the credits of a paid order less those withdrawn. */
export async function wrongOrders(db: Db): Promise<{ id: string; booked: number; expected: number }[]> {
  const { rows } = await sql<{ id: string; booked: number | string; expected: number | string }>`
    select orders.id as id, coalesce(sum(ledger.amount), 0) as booked,
      case when orders.paid_at is null then 0 else orders.credits - orders.withdrawn_credits end as expected
    from orders left join ledger on ledger.order_id = orders.id and ledger.kind in ('purchase', 'reversal')
    group by orders.id, orders.paid_at, orders.credits, orders.withdrawn_credits
    having coalesce(sum(ledger.amount), 0)
      <> case when orders.paid_at is null then 0 else orders.credits - orders.withdrawn_credits end
    order by orders.id`.execute(db)
  return rows.map(({ id, booked, expected }) => ({ id, booked: Number(booked), expected: Number(expected) }))
}

/** Orders whose ledger rows do not have the money that was paid, less what was refunded. */
export async function wrongPayments(db: Db): Promise<{ id: string; booked: number; expected: number }[]> {
  const { rows } = await sql<{ id: string; booked: number | string; expected: number | string }>`
    select orders.id as id, coalesce(sum(ledger.money), 0) as booked,
      case when orders.paid_at is null then 0 else orders.amount - orders.refunded_amount end as expected
    from orders left join ledger on ledger.order_id = orders.id
    group by orders.id, orders.paid_at, orders.amount, orders.refunded_amount
    having coalesce(sum(ledger.money), 0)
      <> case when orders.paid_at is null then 0 else orders.amount - orders.refunded_amount end
    order by orders.id`.execute(db)
  return rows.map(({ id, booked, expected }) => ({ id, booked: Number(booked), expected: Number(expected) }))
}

/** Ledger rows of orders that do not exist or belong to another organization. */
export async function ledgerRowsWithoutOrder(db: Db): Promise<{ ledgerId: number }[]> {
  return db
    .selectFrom('ledger')
    .leftJoin('orders', (join) =>
      join
        .onRef('orders.id', '=', 'ledger.order_id')
        .onRef('orders.organization_id', '=', 'ledger.organization_id'),
    )
    .select('ledger.id as ledgerId')
    .where('ledger.kind', 'in', ['purchase', 'reversal', 'lapse'])
    .where('orders.id', 'is', null)
    .orderBy('ledger.id')
    .execute()
}

/** Numbers of invoices and credit notes that are missing among those that were given out. */
export async function invoiceGaps(
  db: Db,
): Promise<{ prefix: string; lastNumber: number; invoices: number }[]> {
  const { rows } = await sql<{ prefix: string; lastNumber: number; invoices: number | string }>`
    select prefix, last_number as "lastNumber", invoices from (
      select prefix, last_number,
        (select count(*) from invoices where invoices.id like invoice_numbers.prefix || '%')
        + (select count(*) from credit_notes where credit_notes.id like invoice_numbers.prefix || '%') as invoices
      from invoice_numbers
    ) as counted
    where last_number <> invoices
    order by prefix`.execute(db)
  return rows.map((row) => ({ ...row, invoices: Number(row.invoices) }))
}

/** Datasets whose current version does not exist. */
export async function datasetsWithoutVersion(db: Db): Promise<{ table: string; version: number }[]> {
  return db
    .selectFrom('datasets')
    .leftJoin('versions', (join) =>
      join
        .onRef('versions.table_name', '=', 'datasets.table_name')
        .onRef('versions.version', '=', 'datasets.current_version'),
    )
    .select(['datasets.table_name as table', 'datasets.current_version as version'])
    .where('versions.snapshot', 'is', null)
    .orderBy('datasets.table_name')
    .execute()
}

/** Versions with a number that could be assigned a second time. */
export async function versionsAboveLastNumber(db: Db): Promise<{ table: string; version: number }[]> {
  return db
    .selectFrom('versions')
    .leftJoin('version_numbers', 'version_numbers.table_name', 'versions.table_name')
    .select(['versions.table_name as table', 'versions.version as version'])
    .where((row) =>
      row.or([
        row('version_numbers.last_version', 'is', null),
        row('versions.version', '>', row.ref('version_numbers.last_version')),
      ]),
    )
    .orderBy('versions.table_name')
    .orderBy('versions.version')
    .execute()
}

/** Jobs that claim to have published a version whose number was never assigned. A dry run makes none. */
export async function jobsWithoutVersion(
  db: Db,
): Promise<{ id: string; table: string; version: number | null }[]> {
  return db
    .selectFrom('jobs')
    .leftJoin('version_numbers', 'version_numbers.table_name', 'jobs.table_name')
    .select(['jobs.id as id', 'jobs.table_name as table', 'jobs.version as version'])
    .where('jobs.kind', '=', 'publish')
    .where('jobs.state', '=', 'done')
    .where((row) =>
      row.or([row('jobs.request', 'is', null), row('jobs.request', 'not like', '%"dryRun":true%')]),
    )
    .where((row) =>
      row.or([
        row('jobs.version', 'is', null),
        row('version_numbers.last_version', 'is', null),
        row('jobs.version', '>', row.ref('version_numbers.last_version')),
      ]),
    )
    .execute()
}

/** Errors that SQLite itself finds in its file and its foreign keys. PostgreSQL checks both continuously. */
export async function sqliteDamage({ db, kind }: ControlDatabase): Promise<string[]> {
  if (kind !== 'sqlite') return []
  const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check(20)`.execute(db)
  const { rows: orphans } = await sql<{ table: string; parent: string }>`pragma foreign_key_check`.execute(db)
  return [
    ...rows.map((row) => row.integrity_check).filter((line) => line !== 'ok'),
    ...orphans
      .slice(0, 20)
      .map(({ table, parent }) => `A row of ${table} refers to a missing row of ${parent}.`),
  ]
}

/** Orders with an invoice whose credit notes do not add up to what was refunded, or to the whole if it was cancelled. */
export async function wrongCreditNotes(db: Db): Promise<{ id: string; noted: number; refunded: number }[]> {
  const refunded = sql`case when orders.state = 'cancelled' then orders.amount else orders.refunded_amount end`
  const { rows } = await sql<{ id: string; noted: number | string; refunded: number | string }>`
    select orders.id as id, coalesce(sum(credit_notes.amount), 0) as noted, ${refunded} as refunded
    from orders join invoices on invoices.order_id = orders.id
    left join credit_notes on credit_notes.order_id = orders.id
    group by orders.id, orders.state, orders.amount, orders.refunded_amount
    having coalesce(sum(credit_notes.amount), 0) not in (0, ${refunded})
    order by orders.id`.execute(db)
  return rows.map(({ id, noted, refunded }) => ({ id, noted: Number(noted), refunded: Number(refunded) }))
}
