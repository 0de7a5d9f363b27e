/** A placeholder while data loads, so that the layout does not shift when it arrives. */
export function Skeleton({ lines, height = '1.25rem' }: { lines: number; height?: string }) {
  return (
    <div className="stack-small" aria-busy="true">
      <span className="visually-hidden" role="status">
        Loading
      </span>
      {Array.from({ length: lines }, (_, line) => (
        <div key={line} className="skeleton" style={{ height, width: line % 3 === 2 ? '70%' : '100%' }} />
      ))}
    </div>
  )
}
