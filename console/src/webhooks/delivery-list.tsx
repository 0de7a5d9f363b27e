import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { DeliveryRecord, WebhookRecord } from '@wayleave/contract/records'
import { useEffect, useState } from 'react'
import { call } from '../api/call.ts'
import { CodeBlock } from '../components/code-block.tsx'
import { Dialog } from '../components/form/dialog.tsx'
import { RowMenu } from '../components/form/row-menu.tsx'
import { ListCard } from '../components/list-card.tsx'
import { ProblemNote } from '../components/page/problem-note.tsx'
import { Table } from '../components/table.tsx'
import { When } from '../components/when.tsx'
import { SelectField } from '../organization/filter-fields.tsx'
import { ago, count, moment, weekday } from '../words.ts'
import { useDeliveries, type WebhookOwner } from './webhook-queries.ts'
import { DeliveryState } from './webhook-status.tsx'

const states = { '': 'All', waiting: 'Waiting', delivered: 'Delivered', failed: 'Failed' }

/** The log of the messages to a webhook. */
export function DeliveryList({ owner, webhook }: { owner: WebhookOwner; webhook: WebhookRecord }) {
  const queries = useQueryClient()
  const [state, setState] = useState('')
  const [shown, setShown] = useState<DeliveryRecord | null>(null)
  const deliveries = useDeliveries(owner, webhook.id, state)
  const { dataUpdatedAt } = deliveries
  // The attempts decide the status of the webhook.
  useEffect(() => {
    if (dataUpdatedAt === 0) return
    queries.invalidateQueries({ queryKey: ['webhooks', owner.path, webhook.id], exact: true })
  }, [dataUpdatedAt, queries, owner.path, webhook.id])
  const again = useMutation({
    mutationFn: async (id: string) => {
      await call('POST', `${owner.path}/${webhook.id}/deliveries/${id}/redeliver`)
      await queries.invalidateQueries({ queryKey: ['webhooks', owner.path, webhook.id] })
    },
  })
  return (
    <ListCard
      label="Messages"
      filters={<SelectField label="State" value={state} onChange={setState} options={states} />}
      query={deliveries}
      keyOf={({ id }) => id}
      empty="No message"
      isNamed={false}
      isLog
      groupOf={({ createdAt }) => weekday(createdAt, Date.now())}
      columns={[
        { head: 'When', cell: ({ createdAt }) => <Clock at={createdAt} /> },
        { head: 'What', cell: ({ type }) => <code>{type}</code> },
        { head: 'State', cell: (delivery) => <DeliveryState {...delivery} /> },
        { head: 'Response', kind: 'line', cell: (delivery) => <Response {...delivery} /> },
        { head: 'Attempts', kind: 'number', cell: ({ attempts }) => count(attempts.length) },
        {
          head: 'Actions',
          kind: 'menu',
          cell: (delivery) => (
            <RowMenu
              of={`the message ${delivery.id}`}
              actions={[
                { label: 'Show', onChoose: () => setShown(delivery) },
                webhook.status !== 'paused' && {
                  label: 'Send again',
                  onChoose: () => again.mutate(delivery.id),
                },
              ]}
            />
          ),
        },
      ]}
    >
      {again.isError && <ProblemNote error={again.error} />}
      {shown && <DeliveryDialog delivery={shown} onClose={() => setShown(null)} />}
    </ListCard>
  )
}

function DeliveryDialog({ delivery, onClose }: { delivery: DeliveryRecord; onClose: () => void }) {
  return (
    <Dialog title={delivery.type} onClose={onClose}>
      <p className="small">
        <code>{delivery.id}</code> is the <code>webhook-id</code> of every attempt.
      </p>
      <CodeBlock code={JSON.stringify(JSON.parse(delivery.payload), null, 2)} label="Body" />
      {delivery.attempts.length > 0 && (
        <Table
          label="Attempts"
          rows={delivery.attempts}
          keyOf={({ at }) => at}
          isNamed={false}
          columns={[
            { head: 'When', cell: ({ at }) => <When at={at} /> },
            { head: 'Response', kind: 'long', cell: ({ status, error }) => error ?? status },
            { head: 'Time', kind: 'number', cell: ({ milliseconds }) => `${count(milliseconds)} ms` },
          ]}
        />
      )}
      {delivery.nextAttemptAt && (
        <p className="small">
          The next attempt is on <When at={delivery.nextAttemptAt} />.
        </p>
      )}
      <div className="dialog-foot">
        <button type="button" className="button primary" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}

/** The last attempt; for a message that waits, when the next one is. */
function Response({ attempts, state, nextAttemptAt }: DeliveryRecord) {
  const last = attempts.at(-1)
  if (!last) return <span className="soft">Not sent yet</span>
  const words = last.error ?? `${last.status}`
  const next = state === 'waiting' && nextAttemptAt ? ` · again ${ago(nextAttemptAt, Date.now())}` : ''
  return (
    <span title={words}>
      {words}
      <span className="soft">
        {last.error === null && ` · ${count(last.milliseconds)} ms`}
        {next}
      </span>
    </span>
  )
}

/** The time of day in UTC: the date is above. */
function Clock({ at }: { at: string }) {
  return (
    <time dateTime={at} title={`${moment(at)}, ${ago(at, Date.now())}`} className="nowrap soft">
      {new Date(at).toISOString().slice(11, 19)}
    </time>
  )
}
