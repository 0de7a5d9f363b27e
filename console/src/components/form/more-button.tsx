import { ProblemNote } from '../page/problem-note.tsx'

export interface PagedQuery {
  hasNextPage: boolean
  isFetchingNextPage: boolean
  isFetchNextPageError: boolean
  error: unknown
  fetchNextPage: () => unknown
}

/** Loads the next page of a long list, and says why it could not be loaded. */
export function MoreButton({ query }: { query: PagedQuery }) {
  if (!query.hasNextPage) return null
  return (
    <div className="padded stack-small">
      {query.isFetchNextPageError && <ProblemNote error={query.error} />}
      <div>
        <button
          type="button"
          className="button"
          onClick={() => query.fetchNextPage()}
          disabled={query.isFetchingNextPage}
        >
          Show more
        </button>
      </div>
    </div>
  )
}
