import { site } from '../site.ts'

/** What can be bought helps against these. */
const CODES: ReadonlySet<string> = new Set(['credits-exhausted', 'add-on-missing'])

/** Leads to what can be bought, and from there back to this page. Nothing if that does not help. */
export function BuyLink({ code }: { code: string }) {
  if (!site.sells || !CODES.has(code)) return null
  // Not of the router: a problem is also shown outside of it.
  const back = encodeURIComponent(window.location.pathname + window.location.search)
  return (
    <p>
      <a href={`/organization/billing?back=${back}`}>Plans and credits</a>
    </p>
  )
}
