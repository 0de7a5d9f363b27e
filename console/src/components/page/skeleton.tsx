/** A placeholder while data loads, so that the layout does not shift when it arrives. */
export function Skeleton({ lines, height = '1.25rem' }: { lines: number; height?: string }) {
  return (
    <div className="stack-small" aria-busy="true">
      <LoadingStatus />
      {Array.from({ length: lines }, (_, line) => (
        <div key={line} className="skeleton" style={{ height, width: line % 3 === 2 ? '70%' : '100%' }} />
      ))}
    </div>
  )
}

/** The same for a table: its head and its rows, each as high as the rows that come. */
export function ListSkeleton({ rows }: { rows: number }) {
  return (
    <div className="list-skeleton" aria-busy="true">
      <LoadingStatus />
      {Array.from({ length: rows + 1 }, (_, row) => (
        <div key={row}>
          {['45%', '20%', '12%'].map((width) => (
            <div key={width} className="skeleton" style={{ width }} />
          ))}
        </div>
      ))}
    </div>
  )
}

function LoadingStatus() {
  return (
    <span className="visually-hidden" role="status">
      Loading
    </span>
  )
}
