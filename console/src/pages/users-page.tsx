import type { AdminUser } from '@wayleave/contract/records'
import { useDeferredValue, useState } from 'react'
import { type UserAction, UserDialog } from '../administration/user-dialogs.tsx'
import { useAdminUsers } from '../api/queries.ts'
import { Empty } from '../components/empty.tsx'
import { Loaded } from '../components/loaded.tsx'
import { MoreButton } from '../components/more-button.tsx'
import { SearchField } from '../components/search-field.tsx'
import { Table } from '../components/table.tsx'
import { useTitle } from '../components/use-title.ts'
import { Day, When } from '../components/when.tsx'

export function UsersPage() {
  useTitle('Users')
  const [search, setSearch] = useState('')
  const users = useAdminUsers(useDeferredValue(search))
  const [open, setOpen] = useState<{ action: UserAction; user: AdminUser } | null>(null)
  const button = (action: UserAction, label: string, user: AdminUser) => (
    <button
      type="button"
      className="button quiet small"
      aria-label={`${label}: ${user.email}`}
      onClick={() => setOpen({ action, user })}
    >
      {label}
    </button>
  )
  return (
    <section className="card flush">
      <div className="card-head">
        <SearchField search={search} onSearch={setSearch} placeholder="Mail address or id" />
      </div>
      <Loaded query={users} lines={6}>
        {({ pages }) => {
          const rows = pages.flatMap(({ data }) => data)
          if (rows.length === 0) return <Empty title="No user matches" />
          return (
            <>
              <Table
                label="Users"
                rows={rows}
                keyOf={({ id }) => id}
                columns={[
                  {
                    head: 'Mail address',
                    kind: 'long',
                    cell: ({ email, blockedAt, blockReason }) => (
                      <>
                        {email}
                        {blockedAt && (
                          <div className="small">
                            <span className="badge bad">Blocked</span>{' '}
                            <span className="soft">{blockReason}</span>
                          </div>
                        )}
                      </>
                    ),
                  },
                  {
                    head: 'Organization',
                    cell: ({ organizationName }) => organizationName ?? <span className="soft">None</span>,
                  },
                  { head: 'Since', cell: ({ createdAt }) => <Day at={createdAt} /> },
                  { head: 'Last sign-in', cell: ({ lastSignInAt }) => <When at={lastSignInAt} /> },
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
              />
              <MoreButton query={users} />
            </>
          )
        }}
      </Loaded>
      {open && <UserDialog {...open} onClose={() => setOpen(null)} />}
    </section>
  )
}
