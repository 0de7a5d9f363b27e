import type { WebhookRecord } from '@wayleave/contract/records'
import { WEBHOOK_EVENTS } from '@wayleave/contract/webhook-events'
import { Link } from 'react-router'
import { Loaded } from '../components/page/loaded.tsx'
import { useTitle } from '../components/page/use-title.ts'
import { Ago, When } from '../components/when.tsx'
import { attemptWords } from './attempt-words.ts'
import { DeliveryList } from './delivery-list.tsx'
import { ReceiveMessages } from './receive-messages.tsx'
import { RecentDeliveries } from './recent-deliveries.tsx'
import { WebhookActions } from './webhook-actions.tsx'
import { useWebhook, type WebhookOwner } from './webhook-queries.ts'
import { WebhookStatus } from './webhook-status.tsx'

/** One webhook: its state, what can be done with it, and the log of its messages. */
export function WebhookDetail({ owner, id }: { owner: WebhookOwner; id: string }) {
  useTitle('Webhook')
  return (
    <div className="stack">
      <p className="small">
        <Link to={owner.page}>All webhooks</Link>
      </p>
      <Loaded query={useWebhook(owner, id)} lines={6} heading="Webhook">
        {(record) => (
          <>
            <section className="card flush">
              <div className="card-head">
                <div className="webhook-name">
                  <h2>{record.url}</h2>
                  {record.description && <p className="small soft">{record.description}</p>}
                </div>
                <WebhookActions owner={owner} record={record} />
              </div>
              <StateNote record={record} />
              <Facts record={record} />
            </section>
            <DeliveryList owner={owner} webhook={record} />
            <ReceiveMessages isOpen={record.recent.length === 0} />
          </>
        )}
      </Loaded>
    </div>
  )
}

function StateNote({ record }: { record: WebhookRecord }) {
  const { status, failingSince, pausedAt, pauseReason } = record
  if (status === 'active') return null
  return (
    <p className={`strip small ${status === 'failing' ? 'warn' : 'bad'}`}>
      {status === 'failing' ? (
        <>
          The receiver has failed since <When at={failingSince} />. Messages are tried again; after a day of
          failures the webhook is paused.
        </>
      ) : (
        <>
          Paused since <When at={pausedAt} />. {pauseReason} Messages that were not delivered can be sent
          again after it was resumed.
        </>
      )}
    </p>
  )
}

function Facts({ record }: { record: WebhookRecord }) {
  const { events, recent, lastAttempt, previousSecretEndsAt } = record
  return (
    <dl className="facts padded webhook-facts">
      <dt>Status</dt>
      <dd>
        <WebhookStatus {...record} />
      </dd>
      <dt>Last messages</dt>
      <dd>
        <RecentDeliveries recent={recent} />
      </dd>
      <dt>Last attempt</dt>
      <dd>
        {lastAttempt ? (
          <>
            <Ago at={lastAttempt.at} />
            <span className="soft">
              {' '}
              · {attemptWords(lastAttempt)} · {lastAttempt.milliseconds} ms
            </span>
          </>
        ) : (
          <span className="soft">None yet: send a test.</span>
        )}
      </dd>
      <dt>Events</dt>
      <dd className="badges">
        {events.length === WEBHOOK_EVENTS.length
          ? 'All'
          : events.map((event) => <code key={event}>{event}</code>)}
      </dd>
      <dt>Secret</dt>
      <dd>
        <code>whsec_••••••••</code>{' '}
        <span className="small soft">
          {previousSecretEndsAt ? (
            <>
              Rotated: messages are signed with the old secret too until <When at={previousSecretEndsAt} />.
            </>
          ) : (
            'Shown once, when the webhook was created. If you have lost it, rotate it.'
          )}
        </span>
      </dd>
    </dl>
  )
}
