import type { CreatedWebhook, WebhookRecord } from '@wayleave/contract/records'
import { WEBHOOK_EVENTS } from '@wayleave/contract/webhook-events'
import { useState } from 'react'
import { Link } from 'react-router'
import { ListCard } from '../components/list-card.tsx'
import { Ago } from '../components/when.tsx'
import { SecretDialog } from '../keys/secret-dialog.tsx'
import { plural } from '../words.ts'
import { attemptWords } from './attempt-words.ts'
import { ReceiveMessages } from './receive-messages.tsx'
import { RecentDeliveries } from './recent-deliveries.tsx'
import { WebhookDialog } from './webhook-dialog.tsx'
import { useWebhooks, type WebhookOwner } from './webhook-queries.ts'
import { WebhookStatus } from './webhook-status.tsx'

/** The webhooks of an organization or of the platform. */
export function WebhookList({ owner, about }: { owner: WebhookOwner; about: string }) {
  const [isCreating, setCreating] = useState(false)
  const [created, setCreated] = useState<CreatedWebhook | null>(null)
  const webhooks = useWebhooks(owner)
  return (
    <div className="stack">
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
        query={webhooks}
        keyOf={({ id }) => id}
        empty={{
          title: 'No webhooks yet',
          text: (
            <p className="reading">
              A program of yours is told when something happens, instead of asking again and again. Give the
              address of the program, choose the events, and send a test.
            </p>
          ),
        }}
        lines={3}
        columns={[
          {
            head: 'Address',
            kind: 'line',
            cell: ({ id, url, description }) => (
              <>
                <Link to={`${owner.page}/${id}`} title={url}>
                  {shortAddress(url)}
                </Link>{' '}
                <span className="small soft">{description}</span>
              </>
            ),
          },
          { head: 'Status', cell: (webhook) => <WebhookStatus {...webhook} /> },
          { head: 'Last messages', cell: ({ recent }) => <RecentDeliveries recent={recent} /> },
          { head: 'Last attempt', cell: (webhook) => <LastAttempt {...webhook} /> },
          {
            head: 'Events',
            cell: ({ events }) => (
              <span className="nowrap" title={events.join(', ')}>
                {events.length === WEBHOOK_EVENTS.length ? 'All' : eventWords(events)}
              </span>
            ),
          },
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
      {webhooks.data?.length === 0 && <ReceiveMessages isOpen />}
    </div>
  )
}

/** The scheme is nearly always the same one. */
function shortAddress(url: string): string {
  return url.replace(/^https:\/\//, '')
}

function eventWords([first = '', ...rest]: readonly string[]): string {
  return rest.length === 0 ? first : plural(rest.length + 1, 'event')
}

function LastAttempt({ lastAttempt }: Pick<WebhookRecord, 'lastAttempt'>) {
  if (lastAttempt === null) return <span className="soft">–</span>
  return (
    <span className="nowrap" title={attemptWords(lastAttempt)}>
      <Ago at={lastAttempt.at} />
    </span>
  )
}
