import { useKeys, useMembers, useOrganization } from '../../api/queries.ts'
import { useTitle } from '../../components/page/use-title.ts'
import { LedgerCard } from '../../organization/ledger-card.tsx'
import { count } from '../../words.ts'

/** The balance and all rows of the credit ledger. */
export function CreditsPage() {
  useTitle('Credits')
  const organization = useOrganization()!
  const { data: members = [] } = useMembers(organization.id)
  const { data: keys = [] } = useKeys()
  return (
    <div className="stack">
      <div className="figures">
        <div className="card figure">
          <strong>{count(organization.credits.balance)}</strong>
          <span>credits left</span>
        </div>
      </div>
      <LedgerCard path={`/v1/organization/${organization.id}`} keys={keys} members={members} hasCsv />
    </div>
  )
}
