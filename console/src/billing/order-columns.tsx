import type { Order } from '@wayleave/contract/records'
import type { TableColumn } from '../components/table.tsx'
import { When } from '../components/when.tsx'
import { money } from './money.ts'
import { OrderStateBadge } from './order-state.tsx'

export function productWords({ productName, quantity }: Pick<Order, 'productName' | 'quantity'>): string {
  return quantity > 1 ? `${quantity} × ${productName}` : productName
}

const WHEN_COLUMN: TableColumn<Pick<Order, 'createdAt'>> = {
  head: 'When',
  cell: ({ createdAt }) => <When at={createdAt} />,
}

/** What an organization's list of its orders shows first. */
export const ORDER_COLUMNS: TableColumn<Order>[] = [
  { head: 'Product', kind: 'long', cell: productWords },
  WHEN_COLUMN,
  {
    head: 'State',
    kind: 'long',
    cell: ({ state, reason }) => <OrderStateBadge state={state} reason={reason} />,
  },
]

export const AMOUNT_COLUMN: TableColumn<Pick<Order, 'amount' | 'currency'>> = {
  head: 'Amount',
  kind: 'number',
  cell: ({ amount, currency }) => money(amount, currency),
}
