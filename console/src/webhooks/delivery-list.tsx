import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { DeliveryRecord, WebhookRecord } from '@wayleave/contract/records'
import { useEffect, useState } from 'react'
import { call } from '../api/call.ts'
import { CodeBlock } from '../components/code-block.tsx'
import { Dialog } from '../components/form/dialog.tsx'
import { RowButton } from '../components/form/row-button.tsx'
import { ListCard } from '../components/list-card.tsx'
import { ProblemNote } from '../components/page/problem-note.tsx'
import { Table } from '../components/table.tsx'
import { When } from '../components/when.tsx'
import { SelectField } from '../organization/filter-fields.tsx'
import { count } from '../words.ts'
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
      columns={[
        { head: 'When', cell: ({ createdAt }) => <When at={createdAt} /> },
        { head: 'What', cell: ({ type }) => <code>{type}</code> },
        { head: 'State', cell: (delivery) => <DeliveryState {...delivery} /> },
        { head: 'Response', kind: 'long', cell: (delivery) => resultWords(delivery) },
        { head: 'Attempts', kind: 'number', cell: ({ attempts }) => count(attempts.length) },
        {
          head: 'Actions',
          kind: 'actions',
          cell: (delivery) => (
            <span className="row">
              <RowButton label="Show" of={`the message ${delivery.id}`} onClick={() => setShown(delivery)} />
              {webhook.status !== 'paused' && (
                <RowButton
                  label="Send again"
                  of={`: ${delivery.id}`}
                  onClick={() => again.mutate(delivery.id)}
                />
              )}
            </span>
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

function resultWords({ attempts }: DeliveryRecord): string {
  const last = attempts.at(-1)
  if (!last) return '–'
  return last.error ?? String(last.status)
}
