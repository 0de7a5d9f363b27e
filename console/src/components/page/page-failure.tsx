import { useRouteError } from 'react-router'
import { ProblemNote } from './problem-note.tsx'

/** Shown if a page throws or its chunk cannot be loaded: after an update the old chunks no longer exist. */
export function PageFailure() {
  const error = useRouteError()
  return (
    <main id="content" className="stack reading">
      <h1>This page could not be shown</h1>
      <ProblemNote error={error} retry={() => location.reload()} />
      <p>
        <a href="/">Back to the start</a>
      </p>
    </main>
  )
}
