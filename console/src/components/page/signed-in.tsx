import { Navigate, Outlet, useLocation } from 'react-router'
import { useMe, useSession } from '../../api/queries.ts'
import { NoOrganization } from './no-organization.tsx'
import { ProblemNote } from './problem-note.tsx'
import { Skeleton } from './skeleton.tsx'

/** Pages for signed-in users: other visitors are sent to sign-in and then back. */
export function SignedIn() {
  const state = useSession()
  const { pathname, search, hash } = useLocation()
  const me = useMe()
  if (state !== 'signed-in') {
    const next = pathname + search + hash
    return <Navigate to="/sign-in" state={next === '/getting-started' ? null : { next }} replace />
  }
  if (me.isError) return <ProblemNote error={me.error} retry={me.refetch} />
  if (!me.data) return <Skeleton lines={8} />
  const needsOrganization = !/^\/(?:administration|account)(?:\/|$)/.test(pathname)
  if (!me.data.organization && needsOrganization) return <NoOrganization />
  return <Outlet />
}
