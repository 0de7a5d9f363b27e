import { ADD_ONS, type AddOn } from '@wayleave/contract/add-ons'
import { PLAN_PERIODS, PRODUCT_KINDS } from '@wayleave/contract/billing-states'
import type { NewProduct, PlanLimits, Product, ProductChange } from '@wayleave/contract/records'
import { Command, InvalidArgumentError, Option } from 'commander'
import { operator } from '../../base/events/events.ts'
import { newOrExistingConfig } from '../command-config.ts'
import { type OperatorFlags, operatorCommand, print, tableText } from '../operator-command.ts'
import { withControlPlane } from '../with-parts.ts'

const EXAMPLE = 'prd_6hN2vRt8Qm4XcJ1Zs9Lw'

interface ProductFlags extends OperatorFlags {
  name?: string
  description?: string
  price?: number
  currency?: string
  credits?: number
  addOns?: AddOn[]
  keepCredits?: boolean
  requestsPerMinute?: number
  featuresPerDay?: number
  maxKeys?: number
  maxMembers?: number
}

interface AddFlags extends ProductFlags {
  kind: 'pack' | 'plan'
  name: string
  price: number
  currency: string
  period?: 'month' | 'year'
}

export function productCommand(): Command {
  return new Command('product')
    .description('What is sold: credit packs and plans.')
    .addCommand(
      withFields(
        operatorCommand('add', 'Add a credit pack or a plan.', [
          'product add --kind pack --name "100 credits" --price 1900 --currency EUR --credits 100',
          'product add --kind plan --name Town --price 4900 --currency EUR --period month --credits 200 --add-ons API_ACCESS,GIS_ACCESS',
        ]).addOption(new Option('--kind <kind>', 'what it is').choices(PRODUCT_KINDS).makeOptionMandatory()),
        true,
      )
        .addOption(
          new Option('--period <period>', 'how long one payment for a plan lasts').choices(PLAN_PERIODS),
        )
        .action(add),
    )
    .addCommand(
      withFields(
        operatorCommand(
          'change <productId>',
          'Add a revision of a product. Orders and plans keep the one that was bought.',
          [`product change ${EXAMPLE} --price 2400`],
        ),
        false,
      ).action(change),
    )
    .addCommand(
      operatorCommand('list', 'List all products.', ['product list', 'product list --json']).action(list),
    )
    .addCommand(
      operatorCommand('retire <productId>', 'Stop selling a product. Plans that were bought go on.', [
        `product retire ${EXAMPLE}`,
      ]).action(retire),
    )
}

function withFields(command: Command, isNew: boolean): Command {
  const add = (flags: string, help: string, parse?: (text: string) => unknown) => {
    const option = new Option(flags, isNew ? `${help} (required)` : help)
    if (parse) option.argParser(parse)
    command.addOption(isNew ? option.makeOptionMandatory() : option)
  }
  add('--name <name>', 'a name of 1 to 100 characters')
  add('--price <minor units>', 'the price in minor units, such as cents', amountOf)
  add('--currency <code>', 'the currency by ISO 4217, such as EUR')
  return command
    .option('--description <text>', 'what customers read about it')
    .option('--credits <number>', 'credits of one pack, or of each period of a plan', amountOf)
    .option('--add-ons <list>', `add-ons of a plan: ${ADD_ONS.join(', ')}`, addOnsOf)
    .option('--keep-credits', 'credits that are left at the end of a period are kept')
    .option('--requests-per-minute <number>', 'the rate limit of a plan; 0 for none of its own', amountOf)
    .option('--features-per-day <number>', 'features a day of a plan; 0 for no limit of its own', amountOf)
    .option('--max-keys <number>', 'keys that a plan includes; 0 for no limit of its own', amountOf)
    .option('--max-members <number>', 'members that a plan includes; 0 for no limit of its own', amountOf)
}

async function add(flags: AddFlags): Promise<void> {
  const { kind, name, price, currency, period } = flags
  const limits = changedLimits(flags)
  const newProduct: NewProduct = {
    kind,
    name,
    price,
    currency,
    ...(period && { period }),
    ...optional(flags),
    ...(limits && { limits }),
  }
  const product = await withControlPlane(
    flags,
    ({ products }) => products.add(operator, newProduct),
    newOrExistingConfig,
  )
  print(flags, product, `Added ${product.kind} ${product.id} (${product.name}).`)
}

async function change(id: string, flags: ProductFlags): Promise<void> {
  const { name, price, currency } = flags
  const values: ProductChange = {
    ...(name !== undefined && { name }),
    ...(price !== undefined && { price }),
    ...(currency !== undefined && { currency }),
    ...optional(flags),
  }
  const limits = changedLimits(flags)
  const product = await withControlPlane(flags, async ({ products }) => {
    // An option that is left out changes nothing.
    const current = (await products.all()).find((each) => each.id === id)
    const change = limits ? { ...values, limits: { ...current?.limits, ...limits } } : values
    return products.change(operator, id, change)
  })
  print(flags, product, `Product ${id} has revision ${product.revision} now.`)
}

function optional({ description, credits, addOns, keepCredits }: ProductFlags) {
  return {
    ...(description !== undefined && { description }),
    ...(credits !== undefined && { credits }),
    ...(addOns !== undefined && { addOns }),
    ...(keepCredits !== undefined && { keepsCredits: keepCredits }),
  }
}

/** Null if the flags have no limits. */
function changedLimits(flags: ProductFlags): Partial<PlanLimits> | null {
  const { requestsPerMinute, featuresPerDay, maxKeys: keys, maxMembers: members } = flags
  const limits = Object.entries({ requestsPerMinute, featuresPerDay, keys, members })
    .filter(([, limit]) => limit !== undefined)
    .map(([name, limit]) => [name, limit || null])
  return limits.length === 0 ? null : Object.fromEntries(limits)
}

async function list(flags: OperatorFlags): Promise<void> {
  const { moneyText } = await import('../../accounts/billing/money.ts')
  const data = await withControlPlane(flags, ({ products }) => products.all())
  const rows = data.map((product: Product) => [
    product.id,
    product.kind,
    product.name,
    moneyText(product.price, product.currency),
    product.period ?? '-',
    String(product.credits),
    product.retiredAt === null ? 'sold' : 'retired',
  ])
  const head = ['ID', 'KIND', 'NAME', 'PRICE', 'PERIOD', 'CREDITS', 'STATE']
  print(flags, { data }, tableText(head, rows, 'There are no products.'))
}

async function retire(id: string, flags: OperatorFlags): Promise<void> {
  const product = await withControlPlane(flags, ({ products }) => products.retire(operator, id))
  print(flags, product, `Product ${id} (${product.name}) is not sold any more.`)
}

export function amountOf(text: string): number {
  const value = Number(text)
  if (!/^\d{1,12}$/.test(text)) throw new InvalidArgumentError('It is a whole number.')
  return value
}

function addOnsOf(text: string): AddOn[] {
  const names = text.split(',').map((name) => name.trim())
  if (names.every((name): name is AddOn => (ADD_ONS as readonly string[]).includes(name))) return names
  throw new InvalidArgumentError(`It is a list of ${ADD_ONS.join(', ')}.`)
}
