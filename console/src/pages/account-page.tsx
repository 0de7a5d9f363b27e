import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { CloseAccountDialog } from '../account/close-account-dialog.tsx'
import { OrganizationList } from '../account/organization-list.tsx'
import { download } from '../api/download.ts'
import { useMe } from '../api/queries.ts'
import { ProblemNote } from '../components/page/problem-note.tsx'
import { useTitle } from '../components/page/use-title.ts'
import { Day } from '../components/when.tsx'

/** The user's organizations, their data, and the end of the account. */
export function AccountPage() {
  useTitle('Account')
  const { user } = useMe().data!
  const [closing, setClosing] = useState(false)
  const data = useMutation({ mutationFn: () => download('/v1/auth/me/data', 'my-data.json') })
  return (
    <div className="stack">
      <div className="page-head">
        <div>
          <h1>Account</h1>
          <div className="row small soft">
            <span>{user.email}</span>
            <span>
              since <Day at={user.createdAt} />
            </span>
          </div>
        </div>
      </div>
      <OrganizationList />
      <section className="card stack">
        <h2>Your data</h2>
        <p>
          Everything that the service stores about you, as a JSON file: memberships, sessions, keys without
          their secrets, webhooks, orders, credits, usage, requests and events.
        </p>
        {data.isError && <ProblemNote error={data.error} />}
        <div>
          <button type="button" className="button" onClick={() => data.mutate()} disabled={data.isPending}>
            Download my data
          </button>
        </div>
      </section>
      <section className="card stack">
        <h2>Close the account</h2>
        <p>
          Deletes your account with its personal keys. The audit log keeps what you did under a number,
          without your address.
        </p>
        <div>
          <button type="button" className="button danger" onClick={() => setClosing(true)}>
            Close the account
          </button>
        </div>
      </section>
      {closing && <CloseAccountDialog email={user.email} onClose={() => setClosing(false)} />}
    </div>
  )
}
