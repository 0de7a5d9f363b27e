import type { AddOn } from '@wayleave/contract/add-ons'
import type { PlanLimits, Product } from '@wayleave/contract/records'
import type { ControlDatabase, Db, Tx } from '../../base/database/open.ts'
import type { Tables } from '../../base/database/schema.ts'

export type ProductRow = Tables['products']
export type RevisionRow = Tables['product_revisions']

/** A revision of a product, and the product as it is now. */
function revisions(db: Db | Tx) {
  return db
    .selectFrom('products')
    .innerJoin('product_revisions', 'product_revisions.product_id', 'products.id')
    .selectAll('product_revisions')
    .select(['products.kind', 'products.period', 'products.retired_at', 'products.created_at'])
}

const NO_LIMITS: PlanLimits = { requestsPerMinute: null, featuresPerDay: null, keys: null, members: null }

type JoinedRow = Awaited<ReturnType<ReturnType<typeof revisions>['execute']>>[number]

function productOf(row: JoinedRow): Product {
  return {
    id: row.product_id,
    revision: row.revision,
    kind: row.kind,
    period: row.period,
    name: row.name,
    description: row.description,
    price: row.price,
    currency: row.currency,
    credits: row.credits,
    addOns: JSON.parse(row.add_ons) as AddOn[],
    keepsCredits: row.keeps_credits === 1,
    limits: { ...NO_LIMITS, ...(JSON.parse(row.limits) as Partial<PlanLimits>) },
    createdAt: row.created_at,
    retiredAt: row.retired_at,
  }
}

/** The current revision of every product, the cheapest first. */
export async function readProducts(db: Db, filter: { isSold?: true } = {}): Promise<Product[]> {
  let query = revisions(db)
    .whereRef('product_revisions.revision', '=', 'products.revision')
    .orderBy('products.kind')
    .orderBy('product_revisions.price')
    .orderBy('products.id')
  if (filter.isSold) query = query.where('products.retired_at', 'is', null)
  return (await query.execute()).map(productOf)
}

/** The current revision. */
export async function findProduct(db: Db | Tx, id: string): Promise<Product | undefined> {
  const row = await revisions(db)
    .whereRef('product_revisions.revision', '=', 'products.revision')
    .where('products.id', '=', id)
    .executeTakeFirst()
  return row && productOf(row)
}

export async function findRevision(db: Db | Tx, id: string, revision: number): Promise<Product> {
  const row = await revisions(db)
    .where('products.id', '=', id)
    .where('product_revisions.revision', '=', revision)
    .executeTakeFirstOrThrow()
  return productOf(row)
}

export async function lockProduct(
  database: ControlDatabase,
  tx: Tx,
  id: string,
): Promise<ProductRow | undefined> {
  const query = tx.selectFrom('products').selectAll().where('id', '=', id)
  return database.forUpdate(query).executeTakeFirst()
}

export async function insertProduct(tx: Tx, row: ProductRow): Promise<void> {
  await tx.insertInto('products').values(row).execute()
}

export async function insertRevision(tx: Tx, row: RevisionRow): Promise<void> {
  await tx.insertInto('product_revisions').values(row).execute()
}

export async function updateProduct(
  tx: Tx,
  id: string,
  values: Partial<Pick<ProductRow, 'revision' | 'retired_at'>>,
): Promise<void> {
  await tx.updateTable('products').set(values).where('id', '=', id).execute()
}
