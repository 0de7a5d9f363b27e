import { useLedger, useOrganization } from '../api/queries.ts'
import type { LedgerRow } from '../api/records.ts'
import { Empty } from '../components/empty.tsx'
import { Loaded } from '../components/loaded.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { Scroll } from '../components/scroll.tsx'
import { useTitle } from '../components/use-title.ts'
import { When } from '../components/when.tsx'
import { count, formatName } from '../words.ts'

const kinds: Record<LedgerRow['kind'], string> = {
  grant: 'Granted',
  correction: 'Corrected',
  download: 'Download',
  refund: 'Refund',
}

/** The balance, and every credit that came and went. */
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
            if (rows.length === 0) return <Empty title="No credit has come or gone yet" />
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
    <Scroll label="Ledger">
      <table>
        <thead>
          <tr>
            <th scope="col">When</th>
            <th scope="col">What</th>
            <th scope="col">For</th>
            <th scope="col" className="number">
              Credits
            </th>
            <th scope="col" className="number">
              Balance
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <td>
                <When at={row.at} />
              </td>
              <td>{kinds[row.kind]}</td>
              <td>
                {row.table ? (
                  <>
                    <code>{row.table}</code> {row.format && formatName(row.format)}
                    {row.version !== null && `, version ${row.version}`}
                  </>
                ) : (
                  <span className="soft">–</span>
                )}
              </td>
              <td className="number">
                {row.amount > 0 && '+'}
                {count(row.amount)}
              </td>
              <td className="number">{count(row.balance)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}
