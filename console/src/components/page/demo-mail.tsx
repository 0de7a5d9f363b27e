import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { demoLink } from '../../api/demo-link.ts'
import { site } from '../../site.ts'

const TRIES = 8

/** The link of the mail, if the service is a demo. `before` is an older mail's link, which may be used up. */
export function DemoMail({ email, before }: { email: string; before: string | null }) {
  const { data: path } = useQuery({
    queryKey: ['demo-mail', email, before],
    queryFn: () => demoLink(email),
    enabled: site.showsMails,
    staleTime: 0,
    gcTime: 0,
    refetchInterval: ({ state }) =>
      (state.data && state.data !== before) || state.dataUpdateCount >= TRIES ? false : 500,
  })
  if (!path || path === before) return null
  return (
    <div className="note good stack-small">
      <p>This is a demo: the email stays on this machine.</p>
      <Link className="button primary wide" to={path}>
        Open its link
      </Link>
    </div>
  )
}
