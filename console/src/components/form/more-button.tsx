/** Loads the next page of a long list. */
export function MoreButton({
  query,
}: {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown }
}) {
  if (!query.hasNextPage) return null
  return (
    <div className="padded">
      <button
        type="button"
        className="button"
        onClick={() => query.fetchNextPage()}
        disabled={query.isFetchingNextPage}
      >
        Show more
      </button>
    </div>
  )
}
