import { useQueryClient } from '@tanstack/react-query'
import type { KeyRecord } from '@wayleave/contract/records'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { call } from '../api/call.ts'
import { ActionDialog } from '../components/form/action-dialog.tsx'
import { EditKeyDialog } from './edit-key-dialog.tsx'
import { RotateKeyDialog } from './rotate-key-dialog.tsx'
import { SecretDialog } from './secret-dialog.tsx'

type Action = 'edit' | 'rotate' | 'revoke' | 'delete'

/** All actions on a key, each with a confirmation that says what will happen. */
export function KeyActions({ record, path, list }: { record: KeyRecord; path: string; list: string }) {
  const [action, setAction] = useState<Action | null>(null)
  const [secret, setSecret] = useState<string | null>(null)
  const queries = useQueryClient()
  const navigate = useNavigate()
  const close = () => setAction(null)
  const changed = () =>
    Promise.all([
      queries.invalidateQueries({ queryKey: ['key', path] }),
      queries.invalidateQueries({ queryKey: ['keys'] }),
    ])
  const button = (name: Action, label: string, look = '') => (
    <button type="button" className={`button ${look}`} onClick={() => setAction(name)}>
      {label}
    </button>
  )
  return (
    <div className="row">
      {record.status !== 'revoked' && button('edit', 'Change')}
      {record.status === 'active' && button('rotate', 'Rotate')}
      {record.status !== 'revoked' && button('revoke', 'Revoke', 'danger')}
      {button('delete', 'Delete', 'quiet')}
      {action === 'edit' && <EditKeyDialog record={record} path={path} onClose={close} onChanged={changed} />}
      {action === 'rotate' && (
        <RotateKeyDialog
          record={record}
          path={path}
          onClose={close}
          onRotated={async (secret) => {
            setSecret(secret)
            await changed()
          }}
        />
      )}
      {action === 'revoke' && (
        <ActionDialog
          title={`Revoke “${record.name}”?`}
          action="Revoke for good"
          danger
          onClose={close}
          onAction={async () => {
            await call('POST', `${path}/revoke`)
            await changed()
          }}
        >
          <p>
            The secret <code>{record.prefix}…</code> stops at once and never works again
            {record.previousSecret && ', and so does the one before it'}. This cannot be undone.
          </p>
          <p>The record and its usage stay here.</p>
        </ActionDialog>
      )}
      {action === 'delete' && (
        <ActionDialog
          title={`Delete “${record.name}”?`}
          action="Delete the key"
          danger
          onClose={close}
          onAction={async () => {
            await call('DELETE', path)
            await queries.invalidateQueries({ queryKey: ['keys'] })
            navigate(list)
          }}
        >
          <p>
            {record.status === 'active' ? 'The secret stops at once, and the' : 'The'} key’s record is
            removed. This cannot be undone.
          </p>
          <p>
            The organization’s usage and ledger keep what the key used. To keep the record too, revoke it.
          </p>
        </ActionDialog>
      )}
      {secret && (
        <SecretDialog
          title={`“${record.name}” has a new secret`}
          secret={secret}
          isForPages={record.allowedOrigins !== null}
          onClose={() => setSecret(null)}
        />
      )}
    </div>
  )
}
