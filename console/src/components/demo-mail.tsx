import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'

/** In a demo on this machine no mail leaves it, and the service tells the link; elsewhere it tells nothing. */
export function DemoMail({ email }: { email: string }) {
  const { data: path } = useQuery({
    queryKey: ['demo-mail', email],
    queryFn: async () => {
      const response = await fetch(`/v1/auth/demo-mail?${new URLSearchParams({ email })}`)
      if (!response.ok) return null
      return ((await response.json()) as { path: string }).path
    },
    staleTime: 0,
    gcTime: 0,
    retry: false,
    refetchInterval: ({ state }) => (state.data || state.dataUpdateCount > 4 ? false : 700),
  })
  if (!path) return null
  return (
    <div className="note good">
      <p>
        This is a demo: the mail stays on this machine. <Link to={path}>Open its link</Link>
      </p>
    </div>
  )
}
