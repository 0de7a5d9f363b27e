import type { AdminUser } from '@wayleave/contract/records'
import { useDeferredValue, useState } from 'react'
import { Link } from 'react-router'
import { OrganizationLinks } from '../../administration/organization-links.tsx'
import { type UserAction, UserDialog } from '../../administration/user-dialogs.tsx'
import { useAdminUsers } from '../../api/queries.ts'
import { RowMenu } from '../../components/form/row-menu.tsx'
import { SearchField } from '../../components/form/search-field.tsx'
import { ListCard } from '../../components/list-card.tsx'
import { useTitle } from '../../components/page/use-title.ts'
import { Ago, Day } from '../../components/when.tsx'

export function UsersPage() {
  useTitle('Users')
  const [search, setSearch] = useState('')
  const users = useAdminUsers(useDeferredValue(search))
  const [open, setOpen] = useState<{ action: UserAction; user: AdminUser } | null>(null)
  return (
    <ListCard
      label="Users"
      filters={<SearchField search={search} onSearch={setSearch} placeholder="Email address or id" />}
      query={users}
      keyOf={({ id }) => id}
      empty="No user matches"
      columns={[
        {
          head: 'Email address',
          kind: 'line',
          cell: ({ id, email, blockedAt, blockReason }) => (
            <>
              <Link to={`/administration/users/${id}`} title={email}>
                {email}
              </Link>{' '}
              {blockedAt && (
                <span className="badge bad" title={blockReason ?? undefined}>
                  Blocked
                </span>
              )}
            </>
          ),
        },
        {
          head: 'Organization',
          kind: 'line',
          cell: ({ organizations }) => <OrganizationLinks organizations={organizations} />,
        },
        { head: 'Since', cell: ({ createdAt }) => <Day at={createdAt} /> },
        { head: 'Last sign-in', cell: ({ lastSignInAt }) => <Ago at={lastSignInAt} /> },
        {
          head: 'Actions',
          kind: 'menu',
          cell: (user) => {
            const to = (action: UserAction) => () => setOpen({ action, user })
            return (
              <RowMenu
                of={user.email}
                actions={[
                  { label: 'End sessions', onChoose: to('sessions') },
                  user.blockedAt
                    ? { label: 'Unblock', onChoose: to('unblock') }
                    : { label: 'Block', onChoose: to('block') },
                  { label: 'Delete', isDanger: true, onChoose: to('delete') },
                ]}
                id={user.id}
              />
            )
          },
        },
      ]}
    >
      {open && <UserDialog {...open} onClose={() => setOpen(null)} />}
    </ListCard>
  )
}
