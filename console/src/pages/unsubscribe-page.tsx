import { useMutation } from '@tanstack/react-query'
import { Link, useLocation } from 'react-router'
import { post } from '../api/session.ts'
import { IncompleteLink } from '../components/page/incomplete-link.tsx'
import { ProblemNote } from '../components/page/problem-note.tsx'
import { useTitle } from '../components/page/use-title.ts'

interface Unsubscribed {
  email: string
  meaning: string
}

/** The page of a link in a mail. A button, because programs that check mails follow links. */
export function UnsubscribePage() {
  useTitle('Notices')
  const token = useLocation().hash.slice(1)
  const stop = useMutation({
    mutationFn: () => post<Unsubscribed>(`/v1/notices/unsubscribe?token=${encodeURIComponent(token)}`, {}),
  })
  if (!token) {
    return (
      <IncompleteLink>
        Open it from the mail again, or copy it whole. Members choose their mails in{' '}
        <Link to="/organization/notices">their organization</Link> too.
      </IncompleteLink>
    )
  }
  if (stop.data) {
    return (
      <div className="narrow stack">
        <h1>You get no more of these mails</h1>
        <p>
          <strong>{stop.data.email}</strong> is not told any more: {stop.data.meaning}
        </p>
        <p>
          You can switch it on again in <Link to="/organization/notices">your organization</Link>.
        </p>
      </div>
    )
  }
  return (
    <div className="narrow stack">
      <h1>Get no more mails of this kind</h1>
      <p>Other mails, such as those to sign in, are sent as before.</p>
      {stop.isError && <ProblemNote error={stop.error} />}
      <button
        type="button"
        className="button primary wide"
        disabled={stop.isPending}
        onClick={() => stop.mutate()}
      >
        Get no more of them
      </button>
    </div>
  )
}
