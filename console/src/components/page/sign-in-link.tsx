import type { ReactNode } from 'react'
import { Link, useLocation } from 'react-router'

/** A link to the page that signs in, which leads back to the page with the link. */
export function SignInLink({ className, children }: { className?: string; children: ReactNode }) {
  const { pathname, search } = useLocation()
  return (
    <Link to="/sign-in" state={{ next: pathname + search }} {...(className && { className })}>
      {children}
    </Link>
  )
}
