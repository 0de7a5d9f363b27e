import { useMutation, useQuery } from '@tanstack/react-query'
import type { InvitationPreview, OrganizationRecord } from '@wayleave/contract/records'
import { Link, useLocation } from 'react-router'
import { switchOrganization } from '../account/switch-organization.ts'
import { call } from '../api/call.ts'
import { asProblem } from '../api/problem.ts'
import { useMe, useSession } from '../api/queries.ts'
import { post, session } from '../api/session.ts'
import { IncompleteLink } from '../components/page/incomplete-link.tsx'
import { ProblemNote } from '../components/page/problem-note.tsx'
import { Skeleton } from '../components/page/skeleton.tsx'
import { useTitle } from '../components/page/use-title.ts'
import { Day } from '../components/when.tsx'
import { CUSTOM, rightsInWords, roleOf } from '../organization/roles.ts'

/** The page of an invitation link: who invites whom to what, before and after signing in. */
export function InvitationPage() {
  useTitle('Invitation')
  const token = useLocation().hash.slice(1)
  const state = useSession()
  const preview = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => post<InvitationPreview>('/v1/invitations/preview', { token }),
    enabled: token !== '',
    retry: false,
  })
  if (!token) {
    return (
      <IncompleteLink>
        Open it from the mail again, or copy it whole. If you cannot find the mail, ask the person who invited
        you for a new invitation.
      </IncompleteLink>
    )
  }
  if (preview.isError) return <InvalidInvitation error={preview.error} retry={preview.refetch} />
  return (
    <div className="narrow stack">
      <h1>You are invited</h1>
      {preview.isPending && <Skeleton lines={3} />}
      {preview.data && (
        <>
          <p>
            <strong>{preview.data.invitedBy}</strong> invites <strong>{preview.data.email}</strong> to join
            the organization <strong>{preview.data.organizationName}</strong>.
          </p>
          <Offer invitation={preview.data} />
          {state === 'signed-in' ? (
            <Accept token={token} invitation={preview.data} />
          ) : (
            <SignInLink token={token} email={preview.data.email} />
          )}
        </>
      )}
    </div>
  )
}

/** What the person will be able to do there, and until when the link works. */
function Offer({ invitation: { permissions, expiresAt } }: { invitation: InvitationPreview }) {
  const role = roleOf(permissions)
  return (
    <dl className="card facts">
      <dt>Your role</dt>
      <dd>
        {role?.name ?? CUSTOM} <span className="small soft">{rightsInWords(permissions)}</span>
      </dd>
      <dt>The link works</dt>
      <dd>
        until <Day at={expiresAt} />
      </dd>
    </dl>
  )
}

function InvalidInvitation({ error, retry }: { error: unknown; retry: () => unknown }) {
  if (asProblem(error).code !== 'invitation-invalid') return <ProblemNote error={error} retry={retry} />
  return (
    <div className="narrow stack">
      <h1>This invitation cannot be used</h1>
      <ProblemNote error={error} />
      <p>
        Ask the person who invited you for a new invitation. If you have joined already, the organization is
        in <Link to="/getting-started">your account</Link>.
      </p>
    </div>
  )
}

function SignInLink({ token, email }: { token: string; email: string }) {
  return (
    <Link className="button primary wide" to="/sign-in" state={{ next: `/invitation#${token}`, email }}>
      Sign in as {email}
    </Link>
  )
}

function Accept({ token, invitation }: { token: string; invitation: InvitationPreview }) {
  const { data: me } = useMe()
  const accept = useMutation({
    mutationFn: async () => {
      const { id } = await call<OrganizationRecord>('POST', '/v1/invitations/accept', { token })
      await switchOrganization(id, '/organization/members')
    },
  })
  if (!me) return <Skeleton lines={2} />
  if (me.user.email !== invitation.email) {
    return (
      <>
        <p className="note warn">
          You are signed in as <strong>{me.user.email}</strong>. The invitation is for another address.
        </p>
        <button type="button" className="button wide" onClick={() => session.signOut()}>
          Sign out
        </button>
      </>
    )
  }
  return (
    <>
      {me.organization && (
        <p className="note">
          You stay a member of <strong>{me.organization.name}</strong>, and can switch between both at any
          time.
        </p>
      )}
      {accept.isError && <ProblemNote error={accept.error} />}
      <button
        type="button"
        className="button primary wide"
        onClick={() => accept.mutate()}
        disabled={accept.isPending}
      >
        Join {invitation.organizationName}
      </button>
    </>
  )
}
