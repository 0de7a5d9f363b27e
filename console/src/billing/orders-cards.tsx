import { useMutation } from '@tanstack/react-query'
import type { InvoiceRecord } from '@wayleave/contract/records'
import { useInvoices, useOrders } from '../api/billing-queries.ts'
import { call } from '../api/call.ts'
import { download } from '../api/download.ts'
import { asProblem } from '../api/problem.ts'
import { RowButton } from '../components/form/row-button.tsx'
import { ListCard } from '../components/list-card.tsx'
import { count, day } from '../words.ts'
import { AMOUNT_COLUMN, ORDER_COLUMNS } from './order-columns.tsx'

export function OrdersCard() {
  const orders = useOrders()
  return (
    <ListCard
      label="Orders"
      query={{ ...orders, data: orders.data?.data }}
      keyOf={({ id }) => id}
      empty={{ title: 'No orders yet', text: <p>What the organization buys is listed here.</p> }}
      columns={[
        ...ORDER_COLUMNS,
        { head: 'Credits', kind: 'number', cell: ({ credits }) => count(credits) },
        AMOUNT_COLUMN,
      ]}
    />
  )
}

/** Stripe keeps its own invoices and how the organization pays. */
function PortalButton() {
  const open = useMutation({
    mutationFn: () => call<{ url: string }>('POST', '/v1/billing/portal'),
    onSuccess: ({ url }) => window.location.assign(url),
  })
  return (
    <span className="row">
      <button type="button" className="button" onClick={() => open.mutate()} disabled={open.isPending}>
        Invoices and cards at Stripe
      </button>
      {open.isError && (
        <span className="small" role="alert">
          {asProblem(open.error).message}
        </span>
      )}
    </span>
  )
}

/** Invoices and credit notes of the service, and the way to those of Stripe. */
export function InvoicesCard({ mayOpenPortal }: { mayOpenPortal: boolean }) {
  const invoices = useInvoices()
  return (
    <ListCard
      label="Invoices"
      head={
        <>
          <h2>Invoices</h2>
          {mayOpenPortal && <PortalButton />}
        </>
      }
      query={{ ...invoices, data: invoices.data?.data }}
      keyOf={({ id }) => id}
      empty={{ title: 'No invoices yet', text: <p>The invoice of each order is here as a PDF.</p> }}
      columns={[
        { head: 'Number', cell: ({ id }) => id },
        { head: 'Date', cell: ({ issuedAt }) => day(issuedAt) },
        { head: 'Paid', cell: (invoice) => <PaidWords invoice={invoice} /> },
        AMOUNT_COLUMN,
        { head: 'File', kind: 'actions', cell: (invoice) => <PdfButton invoice={invoice} /> },
      ]}
    />
  )
}

function PaidWords({ invoice: { paidAt, dueAt, invoiceId } }: { invoice: InvoiceRecord }) {
  if (invoiceId !== null) return <span className="soft">Credit note for {invoiceId}</span>
  return paidAt ? day(paidAt) : <span className="soft">{dueAt ? `Due ${day(dueAt)}` : 'Cancelled'}</span>
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
