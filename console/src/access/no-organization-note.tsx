import type { ReactNode } from 'react'
import { Link } from 'react-router'

/** Says to a user without an organization why they cannot read the data, and how to get one. */
export function NoOrganizationNote({
  children,
}: {
  /** A sentence that goes before. */ children?: ReactNode
}) {
  return (
    <p className="note warn small">
      {children} You do not belong to an organization. Credits and add-ons belong to organizations: open the
      link of an invitation, or <Link to="/getting-started">make an organization of your own</Link>.
    </p>
  )
}
