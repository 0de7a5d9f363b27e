import { useMutation } from '@tanstack/react-query'
import { useOrganization, useOrganizations } from '../api/queries.ts'
import { RowButton } from '../components/form/row-button.tsx'
import { ListCard } from '../components/list-card.tsx'
import { ProblemNote } from '../components/page/problem-note.tsx'
import { Rights } from '../organization/rights.tsx'
import { switchOrganization } from './switch-organization.ts'

/** The organizations of the user, with a button to act for another one. */
export function OrganizationList() {
  const current = useOrganization()
  const change = useMutation({
    mutationFn: (id: string) => switchOrganization(id, '/getting-started'),
  })
  return (
    <ListCard
      label="Organizations"
      query={useOrganizations()}
      keyOf={({ id }) => id}
      empty="You do not belong to an organization"
      lines={2}
      columns={[
        {
          head: 'Name',
          kind: 'long',
          cell: ({ id, name }) => (
            <>
              {name} {id === current?.id && <span className="badge">Current</span>}
            </>
          ),
        },
        {
          head: 'Your role',
          cell: ({ permissions, name }) => <Rights permissions={permissions} of={name} />,
        },
        {
          head: 'Actions',
          kind: 'actions',
          cell: ({ id, name }) =>
            id === current?.id ? null : (
              <RowButton label="Switch" of={`to ${name}`} onClick={() => change.mutate(id)} />
            ),
        },
      ]}
    >
      {change.isError && <ProblemNote error={change.error} />}
    </ListCard>
  )
}
