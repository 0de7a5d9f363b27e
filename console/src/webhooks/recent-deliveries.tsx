import '../styles/webhooks.css'
import type { WebhookRecord } from '@wayleave/contract/records'
import { count } from '../words.ts'

/** How the last messages went: a bar for each, the newest at the right, and how many failed. */
export function RecentDeliveries({ recent }: Pick<WebhookRecord, 'recent'>) {
  if (recent.length === 0) return <span className="soft">No message yet</span>
  return (
    <span className="recent nowrap">
      <span className="recent-bars" aria-hidden="true">
        {recent.toReversed().map((state, index) => (
          <span key={index} className={state} />
        ))}
      </span>
      <span className="small soft">{recentWords(recent)}</span>
    </span>
  )
}

/** In so few words that they fit into a row of a list. */
function recentWords(recent: WebhookRecord['recent']): string {
  const failed = recent.filter((state) => state === 'failed').length
  if (failed > 0) return `${count(failed)} of ${count(recent.length)} failed`
  return recent.every((state) => state === 'waiting') ? 'Waiting' : 'None failed'
}
