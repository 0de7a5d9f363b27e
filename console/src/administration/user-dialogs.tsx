import { useQueryClient } from '@tanstack/react-query'
import type { AdminUser } from '@wayleave/contract/records'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { useSessions } from '../api/queries.ts'
import { ActionDialog } from '../components/form/action-dialog.tsx'
import { Loaded } from '../components/page/loaded.tsx'
import { Ago, When } from '../components/when.tsx'
import { ReasonField } from './reason-field.tsx'

export type UserAction = 'sessions' | 'block' | 'unblock' | 'delete'

interface UserDialogProps {
  user: AdminUser
  onClose: () => void
}

/** The dialog of one of the actions on a user. */
export function UserDialog({ action, ...props }: UserDialogProps & { action: UserAction }) {
  if (action === 'sessions') return <SessionsDialog {...props} />
  if (action === 'block') return <BlockDialog {...props} />
  return action === 'unblock' ? <UnblockDialog {...props} /> : <DeleteDialog {...props} />
}

function useRefresh() {
  const queries = useQueryClient()
  return () => queries.invalidateQueries({ queryKey: ['admin'] })
}

function SessionsDialog({ user, onClose }: UserDialogProps) {
  const refresh = useRefresh()
  const sessions = useSessions(user.id)
  return (
    <ActionDialog
      title={`Sessions of ${user.email}`}
      action="End all sessions"
      danger
      onClose={onClose}
      onAction={async () => {
        await call('DELETE', `/v1/admin/users/${user.id}/sessions`)
        await refresh()
      }}
    >
      <Loaded query={sessions} lines={2}>
        {(rows) =>
          rows.length === 0 ? (
            <p className="soft">The user is not signed in anywhere.</p>
          ) : (
            <ul className="stack-small">
              {rows.map(({ id, startedAt, refreshedAt }) => (
                <li key={id}>
                  Signed in <When at={startedAt} />, last used <Ago at={refreshedAt} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      <p className="small soft">The user can sign in again. Personal keys are not affected.</p>
    </ActionDialog>
  )
}

function BlockDialog({ user, onClose }: UserDialogProps) {
  const refresh = useRefresh()
  const [reason, setReason] = useState('')
  return (
    <ActionDialog
      title={`Block ${user.email}?`}
      action="Block the user"
      danger
      onClose={onClose}
      onAction={async () => {
        await call('POST', `/v1/admin/users/${user.id}/block`, { reason })
        await refresh()
      }}
    >
      <p>
        They cannot sign in, their sessions end, and their personal keys are refused until they are unblocked.
        Their open invitations are void.
      </p>
      <ReasonField reason={reason} onChange={setReason} />
    </ActionDialog>
  )
}

function UnblockDialog({ user, onClose }: UserDialogProps) {
  const refresh = useRefresh()
  return (
    <ActionDialog
      title={`Unblock ${user.email}?`}
      action="Unblock the user"
      onClose={onClose}
      onAction={async () => {
        await call('POST', `/v1/admin/users/${user.id}/unblock`)
        await refresh()
      }}
    >
      <p>Blocked: {user.blockReason}</p>
      <p>They can sign in again, and their personal keys work again.</p>
    </ActionDialog>
  )
}

function DeleteDialog({ user, onClose }: UserDialogProps) {
  const refresh = useRefresh()
  return (
    <ActionDialog
      title={`Delete ${user.email}?`}
      action="Delete the user"
      danger
      onClose={onClose}
      onAction={async () => {
        await call('DELETE', `/v1/admin/users/${user.id}`)
        await refresh()
      }}
    >
      <p>
        Their sessions and personal keys stop at once. The ledger and the events stay, without the email
        address. An organization without other members is closed, and its keys are revoked.
      </p>
      <p>This cannot be undone.</p>
    </ActionDialog>
  )
}
