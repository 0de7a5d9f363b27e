import { useQueryClient } from '@tanstack/react-query'
import type { CreatedWebhook, WebhookRecord } from '@wayleave/contract/records'
import { WEBHOOK_EVENT_MEANINGS, WEBHOOK_EVENTS, type WebhookEvent } from '@wayleave/contract/webhook-events'
import { useState } from 'react'
import { call } from '../api/call.ts'
import { fieldErrorOf } from '../api/problem.ts'
import { ActionDialog } from '../components/form/action-dialog.tsx'
import { Field } from '../components/form/field.tsx'
import type { WebhookOwner } from './webhook-queries.ts'

/** Creates a webhook, or changes one. */
export function WebhookDialog({
  owner,
  record,
  onCreated,
  onClose,
}: {
  owner: WebhookOwner
  /** Null to create one. */
  record: WebhookRecord | null
  onCreated?: (webhook: CreatedWebhook) => void
  onClose: () => void
}) {
  const queries = useQueryClient()
  const [url, setUrl] = useState(record?.url ?? '')
  const [description, setDescription] = useState(record?.description ?? '')
  const [events, setEvents] = useState<readonly string[]>(record?.events ?? WEBHOOK_EVENTS)
  const save = async () => {
    const body = { url, description, events }
    if (record) await call('PATCH', `${owner.path}/${record.id}`, body)
    else onCreated?.(await call<CreatedWebhook>('POST', owner.path, body))
    await queries.invalidateQueries({ queryKey: ['webhooks', owner.path] })
  }
  return (
    <ActionDialog
      title={record ? 'Change the webhook' : 'Create a webhook'}
      action={record ? 'Save' : 'Create the webhook'}
      fields={['/url', '/events']}
      onAction={save}
      onClose={onClose}
    >
      {(error) => (
        <>
          <Field
            label="Address"
            help="Messages are sent there by POST, as JSON. It begins with https://."
            wrong={fieldErrorOf(error, '/url')}
          >
            {(props) => (
              <input
                {...props}
                type="url"
                required
                maxLength={2000}
                placeholder="https://hooks.example.org/wayleave"
                value={url}
                onChange={(event) => setUrl(event.target.value)}
              />
            )}
          </Field>
          <Field label="Note">
            {(props) => (
              <input
                {...props}
                maxLength={200}
                value={description}
                onChange={(event) => setDescription(event.target.value)}
              />
            )}
          </Field>
          <EventsField events={events} onChange={setEvents} wrong={fieldErrorOf(error, '/events')} />
        </>
      )}
    </ActionDialog>
  )
}

function EventsField({
  events,
  onChange,
  wrong,
}: {
  events: readonly string[]
  onChange: (events: readonly string[]) => void
  wrong: string | undefined
}) {
  const toggle = (event: WebhookEvent) =>
    onChange(WEBHOOK_EVENTS.filter((one) => (one === event) !== events.includes(one)))
  const isAll = events.length === WEBHOOK_EVENTS.length
  return (
    <div className="field">
      <div className="row">
        <strong>Events</strong>
        <button
          type="button"
          className="button quiet small"
          onClick={() => onChange(isAll ? [] : WEBHOOK_EVENTS)}
        >
          {isAll ? 'Choose none' : 'Choose all'}
        </button>
      </div>
      <fieldset className="checks" aria-label="Events">
        {WEBHOOK_EVENTS.map((event) => (
          <label key={event} className="choice">
            <input type="checkbox" checked={events.includes(event)} onChange={() => toggle(event)} />
            <span>
              <code>{event}</code> <span className="small soft">{WEBHOOK_EVENT_MEANINGS[event]}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {wrong !== undefined && (
        <span className="wrong" role="alert">
          Choose at least one event.
        </span>
      )}
    </div>
  )
}
