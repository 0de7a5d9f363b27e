import { useMutation } from '@tanstack/react-query'
import type { InvoiceRecord } from '@wayleave/contract/records'
import { useInvoices, useOrders } from '../api/billing-queries.ts'
import { download } from '../api/download.ts'
import { asProblem } from '../api/problem.ts'
import { RowButton } from '../components/form/row-button.tsx'
import { ListCard } from '../components/list-card.tsx'
import { When } from '../components/when.tsx'
import { count, day } from '../words.ts'
import { money } from './money.ts'
import { OrderStateBadge } from './order-state.tsx'

export function OrdersCard() {
  const orders = useOrders()
  return (
    <ListCard
      label="Orders"
      query={{ ...orders, data: orders.data?.data }}
      keyOf={({ id }) => id}
      empty="No orders yet"
      columns={[
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
        { head: 'Credits', kind: 'number', cell: ({ credits }) => count(credits) },
        { head: 'Amount', kind: 'number', cell: ({ amount, currency }) => money(amount, currency) },
      ]}
    />
  )
}

export function InvoicesCard() {
  const invoices = useInvoices()
  return (
    <ListCard
      label="Invoices"
      query={{ ...invoices, data: invoices.data?.data }}
      keyOf={({ id }) => id}
      empty="No invoices yet"
      columns={[
        { head: 'Number', cell: ({ id }) => id },
        { head: 'Date', cell: ({ issuedAt }) => day(issuedAt) },
        {
          head: 'Paid',
          cell: ({ paidAt, dueAt }) =>
            paidAt ? day(paidAt) : <span className="soft">Due {day(dueAt)}</span>,
        },
        { head: 'Amount', kind: 'number', cell: ({ amount, currency }) => money(amount, currency) },
        { head: 'File', kind: 'actions', cell: (invoice) => <PdfButton invoice={invoice} /> },
      ]}
    />
  )
}

function PdfButton({ invoice: { id, url } }: { invoice: InvoiceRecord }) {
  const save = useMutation({ mutationFn: () => download(url, `${id}.pdf`) })
  return (
    <>
      <RowButton label="PDF" of={`of invoice ${id}`} onClick={() => save.mutate()} />
      {save.isError && (
        <span className="small" role="alert">
          {asProblem(save.error).message}
        </span>
      )}
    </>
  )
}
