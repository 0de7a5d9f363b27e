import { asProblem } from '../../api/problem.ts'

/** An error with the service's message, and the request id to find it in the service's log. */
export function ProblemNote({ error, retry }: { error: unknown; retry?: () => unknown }) {
  const problem = asProblem(error)
  const others = problem.errors.slice(1)
  return (
    <div className="note bad" role="alert">
      <p>{problem.message}</p>
      {others.map(({ path, message }) => (
        <p key={path + message}>
          {path}: {message}.
        </p>
      ))}
      {problem.contact && (
        <p>
          <a href={problem.contact} rel="noreferrer">
            Ask the operator
          </a>
        </p>
      )}
      {problem.requestId && <span className="request">Request {problem.requestId}</span>}
      {retry && (
        <button type="button" className="button small" onClick={() => retry()}>
          Try again
        </button>
      )}
    </div>
  )
}
