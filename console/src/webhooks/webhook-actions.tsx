import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { RotatedWebhook, WebhookRecord } from '@wayleave/contract/records'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { call } from '../api/call.ts'
import { ActionDialog } from '../components/form/action-dialog.tsx'
import { RowMenu } from '../components/form/row-menu.tsx'
import { ProblemNote } from '../components/page/problem-note.tsx'
import { SecretDialog } from '../keys/secret-dialog.tsx'
import { WebhookDialog } from './webhook-dialog.tsx'
import type { WebhookOwner } from './webhook-queries.ts'

type Action = 'edit' | 'rotate' | 'pause' | 'delete'

export function WebhookActions({ owner, record }: { owner: WebhookOwner; record: WebhookRecord }) {
  const [action, setAction] = useState<Action | null>(null)
  const [secret, setSecret] = useState<string | null>(null)
  const queries = useQueryClient()
  const navigate = useNavigate()
  const path = `${owner.path}/${record.id}`
  const close = () => setAction(null)
  const changed = () => queries.invalidateQueries({ queryKey: ['webhooks', owner.path] })
  const run = useMutation({
    mutationFn: async ([method, rest, body]: readonly ['POST' | 'PATCH', string, object?]) => {
      await call(method, `${path}${rest}`, body)
      await changed()
    },
  })
  const direct = (label: string, ...request: Parameters<typeof run.mutate>[0]) => (
    <button type="button" className="button" disabled={run.isPending} onClick={() => run.mutate(request)}>
      {label}
    </button>
  )
  return (
    <div className="row">
      {record.status === 'paused'
        ? direct('Resume', 'PATCH', '', { paused: false })
        : direct('Send a test', 'POST', '/test')}
      <RowMenu
        of={record.url}
        actions={[
          { label: 'Change', onChoose: () => setAction('edit') },
          { label: 'Rotate the secret', onChoose: () => setAction('rotate') },
          record.status !== 'paused' && { label: 'Pause', onChoose: () => setAction('pause') },
          { label: 'Delete', isDanger: true, onChoose: () => setAction('delete') },
        ]}
      />
      {run.isError && <ProblemNote error={run.error} />}
      {action === 'edit' && <WebhookDialog owner={owner} record={record} onClose={close} />}
      {action === 'rotate' && (
        <ActionDialog
          title="Rotate the secret?"
          action="Rotate now"
          onClose={close}
          onAction={async () => {
            setSecret((await call<RotatedWebhook>('POST', `${path}/rotate`)).secret)
            await changed()
          }}
        >
          <p>
            The webhook gets a new secret, shown once. For a day every message has two signatures, one by each
            secret, so that the receiver can be changed meanwhile.
          </p>
        </ActionDialog>
      )}
      {action === 'pause' && (
        <ActionDialog
          title="Pause the webhook?"
          action="Pause"
          onClose={close}
          onAction={async () => {
            await call('PATCH', path, { paused: true })
            await changed()
          }}
        >
          <p>
            Events that happen meanwhile are not sent. What waits is kept in the log and can be sent again.
          </p>
        </ActionDialog>
      )}
      {action === 'delete' && (
        <ActionDialog
          title="Delete the webhook?"
          action="Delete the webhook"
          danger
          onClose={close}
          onAction={async () => {
            await call('DELETE', path)
            navigate(owner.page)
            await queries.invalidateQueries({ queryKey: ['webhooks', owner.path], exact: true })
          }}
        >
          <p>Nothing more is sent, and the log of its messages is removed. This cannot be undone.</p>
        </ActionDialog>
      )}
      {secret && (
        <SecretDialog title="The webhook has a new secret" secret={secret} onClose={() => setSecret(null)} />
      )}
    </div>
  )
}
