import { useQueryClient } from '@tanstack/react-query'
import type { AdminOrder } from '@wayleave/contract/records'
import { useState } from 'react'
import { Link } from 'react-router'
import { useAdminOrders } from '../../api/billing-queries.ts'
import { call } from '../../api/call.ts'
import { money } from '../../billing/money.ts'
import { AMOUNT_COLUMN, productWords } from '../../billing/order-columns.tsx'
import { ORDER_STATE_OPTIONS, OrderStateBadge, PROVIDER_NAMES } from '../../billing/order-state.tsx'
import { ActionDialog } from '../../components/form/action-dialog.tsx'
import { RowMenu } from '../../components/form/row-menu.tsx'
import { ListCard } from '../../components/list-card.tsx'
import { useTitle } from '../../components/page/use-title.ts'
import { Day } from '../../components/when.tsx'
import { SelectField } from '../../organization/filter-fields.tsx'
import { plural } from '../../words.ts'

type Action = 'paid' | 'refund' | 'cancel'
type Open = { action: Action; order: AdminOrder }

/** The orders of all organizations, and what an administrator can do with their payments. */
export function OrdersPage() {
  useTitle('Orders')
  const [state, setState] = useState('')
  const [open, setOpen] = useState<Open | null>(null)
  return (
    <ListCard
      label="Orders"
      filters={<SelectField label="State" value={state} onChange={setState} options={ORDER_STATE_OPTIONS} />}
      query={useAdminOrders(state)}
      keyOf={({ id }) => id}
      empty={state === '' ? 'No orders yet' : 'No such orders'}
      columns={[
        {
          head: 'Organization',
          kind: 'line',
          cell: ({ organizationId, organizationName }) => (
            <Link to={`/administration/organizations/${organizationId}`} title={organizationName}>
              {organizationName}
            </Link>
          ),
        },
        { head: 'Product', kind: 'line', cell: productWords },
        AMOUNT_COLUMN,
        {
          head: 'State',
          cell: ({ state, reason, provider }) => (
            <span className="nowrap">
              <OrderStateBadge state={state} reason={reason} />{' '}
              <span className="small soft">{PROVIDER_NAMES[provider]}</span>
            </span>
          ),
        },
        { head: 'When', cell: ({ createdAt }) => <Day at={createdAt} /> },
        {
          head: 'Actions',
          kind: 'menu',
          cell: (order) => {
            const to = (action: Action) => () => setOpen({ action, order })
            return (
              <RowMenu
                of={`order ${order.id}`}
                actions={[
                  isUnpaid(order) && { label: 'Mark as paid', onChoose: to('paid') },
                  isUnpaid(order) && { label: 'Cancel', isDanger: true, onChoose: to('cancel') },
                  order.paidAt !== null &&
                    order.state !== 'refunded' && {
                      label: 'Refund',
                      isDanger: true,
                      onChoose: to('refund'),
                    },
                ]}
                id={order.id}
              />
            )
          },
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
