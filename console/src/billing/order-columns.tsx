import type { Order } from '@wayleave/contract/records'
import type { TableColumn } from '../components/table.tsx'
import { When } from '../components/when.tsx'
import { money } from './money.ts'
import { OrderStateBadge } from './order-state.tsx'

/** What every list of orders shows first. */
export const ORDER_COLUMNS: TableColumn<Order>[] = [
  {
    head: 'Product',
    kind: 'long',
    cell: ({ productName, quantity }) => (quantity > 1 ? `${quantity} × ${productName}` : productName),
  },
  { head: 'When', cell: ({ createdAt }) => <When at={createdAt} /> },
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
