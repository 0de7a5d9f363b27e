import { fieldSentence, withoutPointer } from '../../api/field-sentence.ts'
import { asProblem } from '../../api/problem.ts'
import { BuyLink } from '../../billing/buy-link.tsx'

/** An error with the service's message, and the request id to find it in the service's log. */
export function ProblemNote({
  error,
  retry,
  fields = [],
}: {
  error: unknown
  retry?: () => unknown
  /** The paths of the fields that show their errors themselves. */
  fields?: readonly string[]
}) {
  const problem = asProblem(error)
  const isShown = ({ path }: { path: string }) => fields.includes(path)
  const [first, ...others] = problem.errors
  const sentences = [
    ...(first && isShown(first) ? [] : [withoutPointer(problem.message)]),
    ...others.filter((one) => !isShown(one)).map(fieldSentence),
  ]
  if (sentences.length === 0) return null
  return (
    <div className="note bad" role="alert">
      {sentences.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      {problem.contact && (
        <p>
          <a href={problem.contact} rel="noreferrer">
            Ask the operator
          </a>
        </p>
      )}
      <BuyLink code={problem.code} />
      {problem.requestId && <span className="request">Request {problem.requestId}</span>}
      {retry && (
        <button type="button" className="button small" onClick={() => retry()}>
          Try again
        </button>
      )}
    </div>
  )
}
