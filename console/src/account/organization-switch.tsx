import { useMutation } from '@tanstack/react-query'
import { useLocation } from 'react-router'
import { useOrganization, useOrganizations } from '../api/queries.ts'
import { pageAfterSwitch, switchOrganization } from './switch-organization.ts'

/** The menu of the bar in which a member of several organizations chooses one. */
export function OrganizationSwitch() {
  const current = useOrganization()
  const { data: organizations = [] } = useOrganizations()
  const location = useLocation()
  const change = useMutation({
    mutationFn: (id: string) => switchOrganization(id, pageAfterSwitch(location)),
  })
  if (current === null || organizations.length < 2) return null
  return (
    <select
      className="organization-switch"
      aria-label="Organization"
      value={current.id}
      disabled={change.isPending}
      onChange={(event) => change.mutate(event.target.value)}
    >
      {organizations.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  )
}
