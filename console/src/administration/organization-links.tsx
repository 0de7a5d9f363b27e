import type { AdminUser } from '@wayleave/contract/records'
import { Link } from 'react-router'

/** The organizations of a user, for administrators. */
export function OrganizationLinks({ organizations }: Pick<AdminUser, 'organizations'>) {
  if (organizations.length === 0) return <span className="soft">None</span>
  return organizations.map(({ id, name }, i) => (
    <span key={id}>
      {i > 0 && ', '}
      <Link to={`/administration/organizations/${id}`}>{name}</Link>
    </span>
  ))
}
