import type { BillingReport } from '@wayleave/contract/records'
import { useState } from 'react'
import { useBillingReport } from '../../api/billing-queries.ts'
import { money } from '../../billing/money.ts'
import { CsvButton } from '../../components/form/csv-button.tsx'
import { ListCard } from '../../components/list-card.tsx'
import { useTitle } from '../../components/page/use-title.ts'
import type { TableColumn } from '../../components/table.tsx'
import { DatasetLink } from '../../datasets/dataset-link.tsx'
import { DateField, dayRange } from '../../organization/filter-fields.tsx'
import { count, month } from '../../words.ts'

type Sums = Pick<BillingReport['months'][number], 'currency' | 'orders' | 'revenue' | 'refunded'>

const SUM_COLUMNS: TableColumn<Sums>[] = [
  { head: 'Orders', kind: 'number', cell: ({ orders }) => count(orders) },
  { head: 'Revenue', kind: 'number', cell: ({ revenue, currency }) => money(revenue, currency) },
  { head: 'Refunded', kind: 'number', cell: ({ refunded, currency }) => money(refunded, currency) },
  {
    head: 'Left',
    kind: 'number',
    cell: ({ revenue, refunded, currency }) => money(revenue - refunded, currency),
  },
]

/** Revenue by month and product, credits by dataset with the share of their publishers, and all bookings as CSV. */
export function RevenuePage() {
  useTitle('Revenue')
  const today = new Date().toISOString().slice(0, 10)
  const [first, setFirst] = useState(`${today.slice(0, 4)}-01-01`)
  const [last, setLast] = useState(today)
  const range = new URLSearchParams(dayRange(first || today, last || today)).toString()
  const { data, ...report } = useBillingReport(range)
  return (
    <div className="stack">
      <section className="card row spread">
        <div className="row">
          <DateField label="From" value={first} onChange={setFirst} />
          <DateField label="To" value={last} onChange={setLast} />
        </div>
        <span className="row">
          Bookings <CsvButton path={`/v1/admin/billing/bookings.csv?${range}`} name="bookings.csv" />
        </span>
      </section>
      <ListCard
        label="Revenue by month"
        query={{ ...report, data: data?.months }}
        keyOf={({ month, currency }) => month + currency}
        empty="No orders were paid in this time"
        columns={[{ head: 'Month', cell: ({ month: iso }) => month(iso) }, ...SUM_COLUMNS]}
      />
      <ListCard
        label="Revenue by product"
        query={{ ...report, data: data?.products }}
        keyOf={({ productId, currency }) => productId + currency}
        empty="No products were paid for in this time"
        columns={[{ head: 'Product', kind: 'long', cell: ({ productName }) => productName }, ...SUM_COLUMNS]}
      />
      <ListCard
        label="Credits by dataset"
        query={{ ...report, data: data?.datasets }}
        keyOf={({ table }) => table}
        empty="No credits were used in this time"
        columns={[
          {
            head: 'Dataset',
            kind: 'long',
            cell: ({ table }) => <DatasetLink table={table} />,
          },
          { head: 'Credits', kind: 'number', cell: ({ credits }) => count(credits) },
          {
            head: 'Share of the publisher',
            kind: 'number',
            cell: ({ publisherCredits }) => count(publisherCredits),
          },
        ]}
      />
    </div>
  )
}
