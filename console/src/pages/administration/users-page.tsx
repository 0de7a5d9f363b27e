import type { AdminUser } from '@wayleave/contract/records'
import { useDeferredValue, useState } from 'react'
import { Link } from 'react-router'
import { OrganizationLinks } from '../../administration/organization-links.tsx'
import { type UserAction, UserDialog } from '../../administration/user-dialogs.tsx'
import { useAdminUsers } from '../../api/queries.ts'
import { EmailAddress } from '../../components/email-address.tsx'
import { RowButton } from '../../components/form/row-button.tsx'
import { SearchField } from '../../components/form/search-field.tsx'
import { ListCard } from '../../components/list-card.tsx'
import { useTitle } from '../../components/page/use-title.ts'
import { Ago, Day } from '../../components/when.tsx'

export function UsersPage() {
  useTitle('Users')
  const [search, setSearch] = useState('')
  const users = useAdminUsers(useDeferredValue(search))
  const [open, setOpen] = useState<{ action: UserAction; user: AdminUser } | null>(null)
  const button = (action: UserAction, label: string, user: AdminUser) => (
    <RowButton label={label} of={`: ${user.email}`} onClick={() => setOpen({ action, user })} />
  )
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
          kind: 'long',
          cell: ({ id, email, blockedAt, blockReason }) => (
            <>
              <Link to={`/administration/users/${id}`}>
                <EmailAddress email={email} />
              </Link>
              {blockedAt && (
                <div className="small">
                  <span className="badge bad">Blocked</span> <span className="soft">{blockReason}</span>
                </div>
              )}
            </>
          ),
        },
        {
          head: 'Organization',
          cell: ({ organizations }) => <OrganizationLinks organizations={organizations} />,
        },
        { head: 'Since', cell: ({ createdAt }) => <Day at={createdAt} /> },
        { head: 'Last sign-in', cell: ({ lastSignInAt }) => <Ago at={lastSignInAt} /> },
        {
          head: 'Actions',
          kind: 'actions',
          cell: (user) => (
            <>
              {button('sessions', 'Sessions', user)}
              {user.blockedAt ? button('unblock', 'Unblock', user) : button('block', 'Block', user)}
              {button('delete', 'Delete', user)}
            </>
          ),
        },
      ]}
    >
      {open && <UserDialog {...open} onClose={() => setOpen(null)} />}
    </ListCard>
  )
}
