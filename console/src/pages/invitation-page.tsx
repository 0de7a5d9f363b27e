import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { OrganizationRecord } from '@wayleave/contract/records'
import { useLocation, useNavigate } from 'react-router'
import { call } from '../api/call.ts'
import { useMe } from '../api/queries.ts'
import { session } from '../api/session.ts'
import { Empty } from '../components/empty.tsx'
import { ProblemNote } from '../components/problem-note.tsx'
import { useTitle } from '../components/use-title.ts'

/** The page of an invitation link: explains what accepting means, and accepts on a click. */
export function InvitationPage() {
  useTitle('Invitation')
  const token = useLocation().hash.slice(1)
  const { data: me } = useMe()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const accept = useMutation({
    mutationFn: () => call<OrganizationRecord>('POST', '/v1/invitations/accept', { token }),
    onSuccess: async () => {
      await queries.invalidateQueries()
      navigate('/organization/members', { replace: true })
    },
  })
  if (!token) return <Empty title="This link is not whole: open it from the mail" />
  return (
    <div className="narrow stack">
      <h1>You are invited</h1>
      <p>
        You are signed in as <strong>{me?.user.email}</strong>. The invitation works for the address it was
        sent to.
      </p>
      {me?.organization && (
        <p className="note warn">
          You will leave <strong>{me.organization.name}</strong>, and your personal keys of it will stop at
          once.
        </p>
      )}
      {accept.isError && <ProblemNote error={accept.error} />}
      <button
        type="button"
        className="button primary wide"
        onClick={() => accept.mutate()}
        disabled={accept.isPending}
      >
        Accept the invitation
      </button>
      <p className="small">
        <button type="button" className="link" onClick={() => session.signOut()}>
          Sign in with another address
        </button>
      </p>
    </div>
  )
}
