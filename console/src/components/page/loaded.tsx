import type { ReactNode } from 'react'
import { asProblem } from '../../api/problem.ts'
import { ProblemNote } from './problem-note.tsx'
import { ListSkeleton, Skeleton } from './skeleton.tsx'

interface Query<T> {
  data: T | undefined
  isError: boolean
  error: unknown
  refetch: () => unknown
}

/** The three states of a query: data, loading, error. */
export function Loaded<T>({
  query,
  lines = 6,
  height,
  isList = false,
  heading,
  missing,
  children,
}: {
  query: Query<T>
  lines?: number
  height?: string
  /** Whether a list is loaded, whose rows have the same places before. */
  isList?: boolean
  /** The heading of the page if the data, which has it, cannot be loaded. */
  heading?: string
  /** What is shown if there is no such thing, which no second try finds. */
  missing?: ReactNode
  children: (data: T) => ReactNode
}) {
  if (query.data !== undefined) return children(query.data)
  if (query.isError && missing !== undefined && asProblem(query.error).status === 404) return missing
  if (query.isError) {
    return (
      <div className="padded stack-small">
        {heading && <h1>{heading}</h1>}
        <ProblemNote error={query.error} retry={query.refetch} />
      </div>
    )
  }
  if (isList) return <ListSkeleton rows={lines} />
  return (
    <div className="padded">
      <Skeleton lines={lines} {...(height && { height })} />
    </div>
  )
}
