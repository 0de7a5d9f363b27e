import { ORDER_STATES, type OrderState } from '@wayleave/contract/billing-states'
import type { AdminOrder } from '@wayleave/contract/records'
import { Command, Option } from 'commander'
import type { Parts } from '../../assembly/wiring.ts'
import { operator } from '../../base/events/events.ts'
import { type OperatorFlags, operatorCommand, print, tableText } from '../operator-command.ts'
import { withParts } from '../with-parts.ts'
import { amountOf } from './product.ts'

const EXAMPLE = 'ord_3kD8wPz5Tn7YbF2Vq6Hc'

export function orderCommand(): Command {
  return new Command('order')
    .description('Orders of organizations, and their payments.')
    .addCommand(
      operatorCommand('list', 'List the newest orders.', ['order list', 'order list --state held --json'])
        .addOption(new Option('--state <state>', 'only orders in this state').choices(ORDER_STATES))
        .action(list),
    )
    .addCommand(
      operatorCommand(
        'paid <orderId>',
        'Mark an order as paid: one by invoice, or one whose payment is held.',
        [`order paid ${EXAMPLE}`],
      ).action((id: string, flags: OperatorFlags) =>
        alter(flags, 'is paid', (orders) => orders.markPaid(operator, id)),
      ),
    )
    .addCommand(
      operatorCommand(
        'refund <orderId>',
        'Refund an order, or a part of it. Its credits are taken back, and the balance may become negative.',
        [`order refund ${EXAMPLE}`, `order refund ${EXAMPLE} --amount 500`],
      )
        .option('--amount <minor units>', 'in minor units, such as cents; without it, everything', amountOf)
        .action((id: string, flags: OperatorFlags & { amount?: number }) =>
          alter(flags, refundWords, (orders) => orders.refund(operator, id, flags.amount)),
        ),
    )
    .addCommand(
      operatorCommand('cancel <orderId>', 'Cancel an order that is not paid.', [
        `order cancel ${EXAMPLE}`,
      ]).action((id: string, flags: OperatorFlags) =>
        alter(flags, 'is cancelled', (orders) => orders.cancel(operator, id, 'The operator cancelled it.')),
      ),
    )
}

async function list(flags: OperatorFlags & { state?: OrderState }): Promise<void> {
  const { moneyText } = await import('../../accounts/billing/products/money.ts')
  const data = await withParts(flags, ({ billing }) =>
    billing.orders.all({ state: flags.state, limit: 1000 }),
  )
  const rows = data.map((order) => [
    order.id,
    order.createdAt,
    order.state,
    order.organizationName,
    `${order.quantity} × ${order.productName}`,
    moneyText(order.amount, order.currency),
    order.provider,
  ])
  const head = ['ID', 'CREATED', 'STATE', 'ORGANIZATION', 'PRODUCT', 'AMOUNT', 'PROVIDER']
  print(flags, { data }, tableText(head, rows, 'There are no such orders.'))
}

type Orders = Parts['billing']['orders']

async function alter(
  flags: OperatorFlags,
  what: string | ((order: AdminOrder) => string),
  work: (orders: Orders) => ReturnType<Orders['markPaid']>,
): Promise<void> {
  const order = await withParts(flags, ({ billing }) => work(billing.orders))
  print(flags, order, `Order ${order.id} ${typeof what === 'string' ? what : what(order)}.`)
}

/** A partly refunded order stays paid. */
export function refundWords(order: Pick<AdminOrder, 'state' | 'refundedAmount' | 'amount' | 'currency'>) {
  const { state, refundedAmount, amount, currency } = order
  return state === 'refunded'
    ? 'is refunded'
    : `is refunded in part: ${refundedAmount} of ${amount} minor units (${currency})`
}
