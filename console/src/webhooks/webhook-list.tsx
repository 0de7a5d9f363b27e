import type { CreatedWebhook } from '@wayleave/contract/records'
import { WEBHOOK_EVENTS } from '@wayleave/contract/webhook-events'
import { useState } from 'react'
import { Link } from 'react-router'
import { ListCard } from '../components/list-card.tsx'
import { When } from '../components/when.tsx'
import { SecretDialog } from '../keys/secret-dialog.tsx'
import { WebhookDialog } from './webhook-dialog.tsx'
import { useWebhooks, type WebhookOwner } from './webhook-queries.ts'
import { WebhookStatus } from './webhook-status.tsx'

/** The webhooks of an organization or of the platform. */
export function WebhookList({ owner, about }: { owner: WebhookOwner; about: string }) {
  const [isCreating, setCreating] = useState(false)
  const [created, setCreated] = useState<CreatedWebhook | null>(null)
  return (
    <ListCard
      label="Webhooks"
      head={
        <>
          <div>
            <h2>Webhooks</h2>
            <p className="small soft">
              {about} <a href="/docs/webhooks">How to receive them</a>
            </p>
          </div>
          <button type="button" className="button primary" onClick={() => setCreating(true)}>
            Create a webhook
          </button>
        </>
      }
      query={useWebhooks(owner)}
      keyOf={({ id }) => id}
      empty={{ title: 'No webhooks yet', text: <p>A program of yours can be told instead of asking.</p> }}
      lines={3}
      columns={[
        {
          head: 'Address',
          kind: 'long',
          cell: ({ id, url, description }) => (
            <>
              <Link to={`${owner.page}/${id}`}>{url}</Link>
              {description && <div className="small soft">{description}</div>}
            </>
          ),
        },
        { head: 'Status', cell: (webhook) => <WebhookStatus {...webhook} /> },
        {
          head: 'Events',
          kind: 'long',
          cell: ({ events }) => (events.length === WEBHOOK_EVENTS.length ? 'All' : events.join(', ')),
        },
        { head: 'Created', cell: ({ createdAt }) => <When at={createdAt} /> },
      ]}
    >
      {isCreating && (
        <WebhookDialog
          owner={owner}
          record={null}
          onCreated={setCreated}
          onClose={() => setCreating(false)}
        />
      )}
      {created && (
        <SecretDialog
          title="The webhook is created"
          secret={created.secret}
          onClose={() => setCreated(null)}
        />
      )}
    </ListCard>
  )
}
