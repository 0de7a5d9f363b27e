import type { ReactNode } from 'react'
import { Link } from 'react-router'

/** For a link of a mail that came without its end: what to do, and a way on. */
export function IncompleteLink({ children }: { children: ReactNode }) {
  return (
    <div className="narrow stack">
      <h1>This link is incomplete</h1>
      <p>{children}</p>
      <p>
        <Link className="button" to="/datasets">
          See the datasets
        </Link>
      </p>
    </div>
  )
}
