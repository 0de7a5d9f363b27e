/** The head of a column; a click sorts by it, a second one the other way round, a third one not at all. */
export function SortHead({
  name,
  type,
  sort,
  onSort,
}: {
  name: string
  type: string | undefined
  sort: string
  /** Null if the rows cannot be sorted by this column. */
  onSort: ((sort: string) => void) | null
}) {
  const direction = sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : undefined
  const next = direction === 'ascending' ? `-${name}` : direction === 'descending' ? '' : name
  const kind = type === 'number' || type === 'integer' ? 'number' : undefined
  return (
    <th scope="col" className={kind} aria-sort={direction}>
      {onSort ? (
        <button type="button" onClick={() => onSort(next)} title={`Sort by ${name}`}>
          <span dir="auto">{name}</span>
          <span aria-hidden="true" className="sort-mark">
            {direction === 'ascending' ? '↑' : direction === 'descending' ? '↓' : ''}
          </span>
        </button>
      ) : (
        <span dir="auto">{name}</span>
      )}
    </th>
  )
}
