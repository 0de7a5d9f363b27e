import { useQueryClient } from '@tanstack/react-query'
import type { AdminOrder } from '@wayleave/contract/records'
import { useState } from 'react'
import { Link } from 'react-router'
import { useAdminOrders } from '../../api/billing-queries.ts'
import { call } from '../../api/call.ts'
import { money } from '../../billing/money.ts'
import { AMOUNT_COLUMN, productWords, WHEN_COLUMN } from '../../billing/order-columns.tsx'
import { ORDER_STATE_OPTIONS, OrderStateBadge, PROVIDER_NAMES } from '../../billing/order-state.tsx'
import { ActionDialog } from '../../components/form/action-dialog.tsx'
import { RowButton } from '../../components/form/row-button.tsx'
import { ListCard } from '../../components/list-card.tsx'
import { useTitle } from '../../components/page/use-title.ts'
import { SelectField } from '../../organization/filter-fields.tsx'
import { plural } from '../../words.ts'

type Action = 'paid' | 'refund' | 'cancel'
type Open = { action: Action; order: AdminOrder }

/** The orders of all organizations, and what an administrator can do with their payments. */
export function OrdersPage() {
  useTitle('Orders')
  const [state, setState] = useState('')
  const [open, setOpen] = useState<Open | null>(null)
  const button = (action: Action, label: string, order: AdminOrder) => (
    <RowButton label={label} of={`order ${order.id}`} onClick={() => setOpen({ action, order })} />
  )
  return (
    <ListCard
      label="Orders"
      head={
        <>
          <h2>Orders</h2>
          <SelectField label="State" value={state} onChange={setState} options={ORDER_STATE_OPTIONS} />
        </>
      }
      query={useAdminOrders(state)}
      keyOf={({ id }) => id}
      empty={state === '' ? 'No orders yet' : 'No such orders'}
      columns={[
        {
          head: 'Order',
          kind: 'long',
          cell: (order) => (
            <>
              <Link to={`/administration/organizations/${order.organizationId}`}>
                {order.organizationName}
              </Link>
              <div className="small">{productWords(order)}</div>
              <div className="small soft mono">{order.id}</div>
            </>
          ),
        },
        WHEN_COLUMN,
        {
          head: 'State',
          cell: ({ state, reason, provider }) => (
            <>
              <OrderStateBadge state={state} reason={reason} />
              <div className="small soft">{PROVIDER_NAMES[provider]}</div>
            </>
          ),
        },
        AMOUNT_COLUMN,
        {
          head: 'Actions',
          kind: 'actions',
          cell: (order) => (
            <>
              {isUnpaid(order) && button('paid', 'Mark as paid', order)}
              {isUnpaid(order) && button('cancel', 'Cancel', order)}
              {order.paidAt !== null && order.state !== 'refunded' && button('refund', 'Refund', order)}
            </>
          ),
        },
      ]}
    >
      {open && <OrderDialog {...open} onClose={() => setOpen(null)} />}
    </ListCard>
  )
}

function isUnpaid({ state, paidAt }: AdminOrder): boolean {
  return state === 'open' || (state === 'held' && paidAt === null)
}

function OrderDialog({ action, order, onClose }: Open & { onClose: () => void }) {
  const queries = useQueryClient()
  const amount = money(order.amount - order.refundedAmount, order.currency)
  const texts: Record<Action, [title: string, button: string, text: string]> = {
    paid: [
      'Mark the order as paid?',
      'Mark as paid',
      `${order.organizationName} gets ${plural(order.credits, 'credit')} for ${amount}.`,
    ],
    refund: [
      'Refund the order?',
      'Refund',
      `${amount} are returned${order.provider === 'stripe' ? ' by Stripe' : ': transfer them yourself'}, and the credits are taken back. The balance may become negative.`,
    ],
    cancel: ['Cancel the order?', 'Cancel the order', 'Nothing is to be paid any more.'],
  }
  const [title, button, text] = texts[action]
  return (
    <ActionDialog
      title={title}
      action={button}
      danger={action !== 'paid'}
      onClose={onClose}
      onAction={async () => {
        const path = `/v1/admin/orders/${order.id}/${action}`
        await call('POST', path, action === 'refund' ? {} : undefined)
        await queries.invalidateQueries()
      }}
    >
      <p>{text}</p>
    </ActionDialog>
  )
}
