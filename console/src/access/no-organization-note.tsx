import type { ReactNode } from 'react'
import { Link } from 'react-router'
import { useOrganizations } from '../api/queries.ts'

/** Says to a user who acts for no organization why they cannot read the data, and how to get one. */
export function NoOrganizationNote({
  children,
}: {
  /** A sentence that goes before. */ children?: ReactNode
}) {
  const { data: organizations = [] } = useOrganizations()
  return (
    <p className="note warn small">
      {children}{' '}
      {organizations.length > 0 ? (
        <>
          You are no longer a member of the organization that you worked in.{' '}
          <Link to="/account">Switch to another one of yours</Link>.
        </>
      ) : (
        <>
          You do not belong to an organization. Credits and add-ons belong to organizations: open the link of
          an invitation, or <Link to="/getting-started">make an organization of your own</Link>.
        </>
      )}
    </p>
  )
}
