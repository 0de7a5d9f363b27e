import { WEBHOOK_EVENTS } from '@wayleave/contract/webhook-events'
import { Link } from 'react-router'
import { Loaded } from '../components/page/loaded.tsx'
import { useTitle } from '../components/page/use-title.ts'
import { When } from '../components/when.tsx'
import { DeliveryList } from './delivery-list.tsx'
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
            <section className="card stack-small">
              <h2>{record.url}</h2>
              {record.description && <p>{record.description}</p>}
              <p className="row small">
                <WebhookStatus {...record} />
                <span className="soft">
                  {record.events.length === WEBHOOK_EVENTS.length ? 'All events' : record.events.join(', ')}
                </span>
              </p>
              {record.status === 'failing' && (
                <p className="note warn small">
                  The receiver has failed since <When at={record.failingSince} />. Messages are tried again;
                  after a day of failures the webhook is paused.
                </p>
              )}
              {record.status === 'paused' && (
                <p className="note bad small">
                  Paused since <When at={record.pausedAt} />. {record.pauseReason} Messages that were not
                  delivered can be sent again after it was resumed.
                </p>
              )}
              {record.previousSecretEndsAt && (
                <p className="small soft">
                  Messages are signed with the old secret too until <When at={record.previousSecretEndsAt} />.
                </p>
              )}
              <WebhookActions owner={owner} record={record} />
            </section>
            <DeliveryList owner={owner} webhook={record} />
          </>
        )}
      </Loaded>
    </div>
  )
}
