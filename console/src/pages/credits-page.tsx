import type { LedgerRow } from '@wayleave/contract/records'
import { useLedger, useOrganization } from '../api/queries.ts'
import { Empty } from '../components/empty.tsx'
import { Loaded } from '../components/loaded.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { Table } from '../components/table.tsx'
import { useTitle } from '../components/use-title.ts'
import { When } from '../components/when.tsx'
import { count, formatName, signed } from '../words.ts'

const kinds: Record<LedgerRow['kind'], string> = {
  grant: 'Granted',
  correction: 'Corrected',
  download: 'Download',
  refund: 'Refund',
}

/** The balance and all rows of the credit ledger. */
export function CreditsPage() {
  useTitle('Credits')
  const organization = useOrganization()!
  const ledger = useLedger(organization.id)
  return (
    <div className="stack">
      <div className="figures">
        <div className="card figure">
          <strong>{count(organization.credits.balance)}</strong>
          <span>credits left</span>
        </div>
      </div>
      <section className="card flush">
        <div className="card-head">
          <h2>Ledger</h2>
        </div>
        <Loaded query={ledger} lines={6}>
          {({ pages }) => {
            const rows = pages.flatMap(({ data }) => data)
            if (rows.length === 0)
              return (
                <Empty title="No credit has come or gone yet">
                  <p>The operator adds credits. A download takes its dataset’s price.</p>
                </Empty>
              )
            return (
              <>
                <Ledger rows={rows} />
                <MoreButton query={ledger} />
              </>
            )
          }}
        </Loaded>
      </section>
    </div>
  )
}

function Ledger({ rows }: { rows: LedgerRow[] }) {
  return (
    <Table
      label="Ledger"
      isNamed={false}
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        { head: 'When', cell: ({ at }) => <When at={at} /> },
        { head: 'What', cell: ({ kind }) => kinds[kind] },
        { head: 'For', kind: 'long', cell: (row) => <Purchase row={row} /> },
        { head: 'Credits', kind: 'number', cell: ({ amount }) => signed(amount) },
        { head: 'Balance', kind: 'number', cell: ({ balance }) => count(balance) },
      ]}
    />
  )
}

function Purchase({ row: { table, format, version } }: { row: LedgerRow }) {
  if (!table) return <span className="soft">–</span>
  return (
    <>
      <code>{table}</code> {format && formatName(format)}
      {version !== null && `, version ${version}`}
    </>
  )
}
