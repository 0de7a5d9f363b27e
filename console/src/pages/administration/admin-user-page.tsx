import type { AdminUser } from '@wayleave/contract/records'
import { Fragment, useState } from 'react'
import { Link, useParams } from 'react-router'
import { type UserAction, UserDialog } from '../../administration/user-dialogs.tsx'
import { useAdminUser, usePlatformEvents, useSessions } from '../../api/queries.ts'
import { ListCard } from '../../components/list-card.tsx'
import { Loaded } from '../../components/page/loaded.tsx'
import { useTitle } from '../../components/page/use-title.ts'
import { Ago, Day, When } from '../../components/when.tsx'
import { eventColumns, eventDay } from '../../organization/event-columns.tsx'
import { Rights } from '../../organization/rights.tsx'

/** One user, for administrators. */
export function AdminUserPage() {
  const { userId = '' } = useParams()
  return (
    <Loaded query={useAdminUser(userId)} lines={8}>
      {(user) => <User key={user.id} user={user} />}
    </Loaded>
  )
}

function User({ user }: { user: AdminUser }) {
  useTitle(user.email)
  const [open, setOpen] = useState<UserAction | null>(null)
  const button = (action: UserAction, label: string, style = '') => (
    <button type="button" className={`button ${style}`} onClick={() => setOpen(action)}>
      {label}
    </button>
  )
  return (
    <div className="stack">
      <div className="page-head">
        <div>
          <h1>{user.email}</h1>
          <div className="row small soft">
            <span>
              since <Day at={user.createdAt} />
            </span>
            <span>
              {user.lastSignInAt ? (
                <>
                  last sign-in <Ago at={user.lastSignInAt} />
                </>
              ) : (
                'never signed in'
              )}
            </span>
            <span className="mono">{user.id}</span>
          </div>
        </div>
        <div className="row">
          {button('sessions', 'Sign out')}
          {user.blockedAt ? button('unblock', 'Unblock') : button('block', 'Block')}
          {button('delete', 'Delete', 'danger')}
        </div>
      </div>
      {user.blockedAt && (
        <p className="note bad">
          Blocked since <When at={user.blockedAt} />: {user.blockReason}
        </p>
      )}
      <section className="card stack-small" aria-labelledby="organizations">
        <h2 id="organizations">Organizations</h2>
        {user.organizations.length === 0 ? (
          <p className="soft">None</p>
        ) : (
          <dl className="facts">
            {user.organizations.map(({ id, name, permissions }) => (
              <Fragment key={id}>
                <dt>
                  <Link to={`/administration/organizations/${id}`}>{name}</Link>
                </dt>
                <dd>
                  <Rights permissions={permissions} of={name} />
                </dd>
              </Fragment>
            ))}
          </dl>
        )}
      </section>
      <ListCard
        label="Sessions"
        query={useSessions(user.id)}
        keyOf={({ id }) => id}
        empty="The user is not signed in anywhere"
        lines={2}
        isNamed={false}
        columns={[
          { head: 'Signed in', cell: ({ startedAt }) => <When at={startedAt} /> },
          { head: 'Last used', cell: ({ refreshedAt }) => <Ago at={refreshedAt} /> },
          { head: 'Ends', cell: ({ expiresAt }) => <When at={expiresAt} /> },
        ]}
      />
      <ListCard
        label="Events"
        query={usePlatformEvents({ userId: user.id })}
        keyOf={({ id }) => id}
        empty="No events yet"
        isNamed={false}
        groupOf={eventDay}
        columns={eventColumns()}
      />
      {open && <UserDialog action={open} user={user} onClose={() => setOpen(null)} />}
    </div>
  )
}
