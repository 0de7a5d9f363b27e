import type { ReactNode } from 'react'
import { ProblemNote } from './problem-note.tsx'
import { Skeleton } from './skeleton.tsx'

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
  heading,
  children,
}: {
  query: Query<T>
  lines?: number
  height?: string
  /** The heading of the page if the data, which has it, cannot be loaded. */
  heading?: string
  children: (data: T) => ReactNode
}) {
  if (query.data !== undefined) return children(query.data)
  if (query.isError) {
    return (
      <div className="padded stack-small">
        {heading && <h1>{heading}</h1>}
        <ProblemNote error={query.error} retry={query.refetch} />
      </div>
    )
  }
  return (
    <div className="padded">
      <Skeleton lines={lines} {...(height && { height })} />
    </div>
  )
}
