import type { NewProduct, Product, ProductChange } from '@wayleave/contract/records'
import type { Clock } from '../../base/clock.ts'
import type { ControlDatabase, Db, Tx } from '../../base/database/open.ts'
import { type Origin, recordEvent } from '../../base/events/events.ts'
import { isId, newId } from '../../base/id.ts'
import { invalidInput, notFound, Problem } from '../../base/problem.ts'
import { requireCurrency } from './money.ts'
import {
  findProduct,
  insertProduct,
  insertRevision,
  lockProduct,
  type RevisionRow,
  readProducts,
  updateProduct,
} from './product-store.ts'

/** What is sold. A product is never changed in place: a change is a new revision, and orders keep theirs. */
export class Products {
  readonly #database: ControlDatabase
  readonly #clock: Clock

  constructor(database: ControlDatabase, clock: Clock) {
    this.#database = database
    this.#clock = clock
  }

  /** What customers can buy now. */
  sold(): Promise<Product[]> {
    return readProducts(this.#database.db, { isSold: true })
  }

  all(): Promise<Product[]> {
    return readProducts(this.#database.db)
  }

  add(origin: Origin, newProduct: NewProduct): Promise<Product> {
    const { kind, period } = newProduct
    if (kind === 'plan' && period === undefined) throw invalidInput('/period', 'must be given for a plan')
    if (kind === 'pack' && period !== undefined) throw invalidInput('/period', 'is for plans only')
    const id = newId('prd')
    const at = this.#clock()
    const created_at = at.toISOString()
    const revision = revisionRow(id, 1, kind, newProduct, created_at)
    return this.#database.db.transaction().execute(async (tx) => {
      await insertProduct(tx, { id, kind, period: period ?? null, revision: 1, created_at, retired_at: null })
      await insertRevision(tx, revision)
      await recordProductEvent(tx, at, origin, 'product.added', revision)
      return requireProduct(tx, id)
    })
  }

  /** Adds a revision; what is left out stays as it is. */
  change(origin: Origin, id: string, change: ProductChange): Promise<Product> {
    return this.#alter(id, async (tx, at) => {
      const current = await requireProduct(tx, id)
      if (current.retiredAt !== null) throw new Problem('conflict', 'The product is retired.')
      const next = { ...current, ...change }
      const revision = revisionRow(id, current.revision + 1, current.kind, next, at.toISOString())
      await insertRevision(tx, revision)
      await updateProduct(tx, id, { revision: revision.revision })
      await recordProductEvent(tx, at, origin, 'product.changed', revision)
    })
  }

  /** It is not sold any more; plans that were bought go on. Idempotent. */
  retire(origin: Origin, id: string): Promise<Product> {
    return this.#alter(id, async (tx, at) => {
      const { retiredAt } = await requireProduct(tx, id)
      if (retiredAt !== null) return
      await updateProduct(tx, id, { retired_at: at.toISOString() })
      await recordEvent(tx, at, origin, {
        action: 'product.retired',
        organizationId: null,
        subject: `product:${id}`,
      })
    })
  }

  async #alter(id: string, work: (tx: Tx, at: Date) => Promise<void>): Promise<Product> {
    return this.#database.db.transaction().execute(async (tx) => {
      if (!isId('prd', id) || !(await lockProduct(this.#database, tx, id))) throw notFound('such product')
      await work(tx, this.#clock())
      return requireProduct(tx, id)
    })
  }
}

/** The current revision of a product, or 404. */
export async function requireProduct(db: Db | Tx, id: string): Promise<Product> {
  const product = isId('prd', id) ? await findProduct(db, id) : undefined
  if (!product) throw notFound('such product')
  return product
}

type Revision = Pick<NewProduct, 'name' | 'price' | 'currency' | 'limits'> &
  Partial<Pick<Product, 'description' | 'credits' | 'addOns' | 'keepsCredits'>>

function revisionRow(
  product_id: string,
  revision: number,
  kind: Product['kind'],
  values: Revision,
  created_at: string,
): RevisionRow {
  const { description = '', credits = 0, addOns = [], keepsCredits = false } = values
  const limits = Object.entries(values.limits ?? {}).filter(([, limit]) => limit !== null)
  if (kind === 'pack') {
    if (credits === 0) throw invalidInput('/credits', 'must be at least 1 for a pack')
    if (addOns.length > 0) throw invalidInput('/addOns', 'are for plans only')
    if (limits.length > 0) throw invalidInput('/limits', 'are for plans only')
  }
  requireCurrency(values.currency)
  return {
    product_id,
    revision,
    name: checkName(values.name),
    description: description.trim(),
    price: values.price,
    currency: values.currency,
    credits,
    add_ons: JSON.stringify([...new Set(addOns)]),
    keeps_credits: keepsCredits ? 1 : 0,
    limits: JSON.stringify(Object.fromEntries(limits)),
    created_at,
  }
}

function checkName(rawName: string): string {
  const name = rawName.trim()
  if (name === '' || [...name].length > 100) throw invalidInput('/name', 'must have 1 to 100 characters')
  if (!name.isWellFormed() || /\p{Cc}|\p{Zl}|\p{Zp}/u.test(name))
    throw invalidInput('/name', 'must be one line of text')
  return name
}

async function recordProductEvent(
  tx: Tx,
  at: Date,
  origin: Origin,
  action: string,
  { product_id, revision, name, price, currency, credits }: RevisionRow,
): Promise<void> {
  await recordEvent(tx, at, origin, {
    action,
    organizationId: null,
    subject: `product:${product_id}`,
    detail: { revision, name, price, currency, credits },
  })
}
