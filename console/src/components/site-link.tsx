import type { ReactNode } from 'react'
import { Link } from 'react-router'

/** Pages of the console, which need no page load. */
const CONSOLE_PAGES =
  /^\/(?:datasets|keys|organization|administration|account|getting-started|sign-in)?(?:[/?#]|$)/

export function isConsolePage(address: string): boolean {
  return CONSOLE_PAGES.test(address)
}

/** A link that the operator has chosen: to a page of the console, to another page of the service or to another site. */
export function SiteLink({ to, children }: { to: string; children: ReactNode }) {
  return isConsolePage(to) ? <Link to={to}>{children}</Link> : <a href={to}>{children}</a>
}
