import { ADD_ON_MEANINGS, ADD_ON_NAMES, ADD_ONS } from '@wayleave/contract/add-ons'
import { useState } from 'react'
import { RequestAccessDialog } from '../../access/request-access-dialog.tsx'
import { requestColumns } from '../../access/request-columns.tsx'
import { useAccessRequests, useOrganization } from '../../api/queries.ts'
import { ListCard } from '../../components/list-card.tsx'
import { useTitle } from '../../components/page/use-title.ts'
import { Table } from '../../components/table.tsx'
import { site } from '../../site.ts'
import { plural } from '../../words.ts'

/** What the organization may use, and what its members asked the operator for. */
export function AccessPage() {
  useTitle('Access')
  const organization = useOrganization()!
  const requests = useAccessRequests(organization.id)
  const [asking, setAsking] = useState(false)
  const isOpen = requests.data?.some(({ state }) => state === 'open') ?? true
  const rows = ADD_ONS.map((addOn) => ({ addOn, isHeld: organization.addOns.includes(addOn) }))
  return (
    <div className="stack">
      <section className="card flush">
        <div className="card-head">
          <h2>What {organization.name} may use</h2>
        </div>
        <Table
          label="Add-ons"
          rows={rows}
          keyOf={({ addOn }) => addOn}
          columns={[
            { head: 'Add-on', cell: ({ addOn }) => <span title={addOn}>{ADD_ON_NAMES[addOn]}</span> },
            { head: 'Unlocks', kind: 'long', cell: ({ addOn }) => ADD_ON_MEANINGS[addOn] },
            {
              head: 'State',
              cell: ({ isHeld }) =>
                isHeld ? (
                  <span className="badge good">Granted</span>
                ) : (
                  <span className="badge">Not granted</span>
                ),
            },
          ]}
        />
        <p className="padded small soft">
          {plural(organization.credits.balance, 'credit')} left. Publishers who want to give{' '}
          {organization.name} access to a dataset ask for its id: <code>{organization.id}</code>.{' '}
          {site.contact?.url && (
            <>
              Questions? <a href={site.contact.url}>{site.contact.name ?? 'Contact the operator'}</a>.
            </>
          )}
        </p>
      </section>
      <ListCard
        label="Requests"
        head={
          <>
            <div>
              <h2>Requests</h2>
              {requests.data && isOpen && (
                <p className="small soft">One is open. Another one can be sent when it is answered.</p>
              )}
            </div>
            <button
              type="button"
              className="button primary"
              disabled={isOpen}
              onClick={() => setAsking(true)}
            >
              Request access
            </button>
          </>
        }
        query={requests}
        keyOf={({ id }) => id}
        columns={requestColumns}
        empty={{ title: 'No requests yet', text: <p>The operator grants add-ons and credits.</p> }}
        lines={2}
      >
        {asking && (
          <RequestAccessDialog organization={organization} addOns={[]} onClose={() => setAsking(false)} />
        )}
      </ListCard>
    </div>
  )
}
