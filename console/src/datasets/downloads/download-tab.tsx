import type { Exploration } from '../../explorer/access.ts'
import { Downloads } from './downloads.tsx'
import { FilteredDownloads } from './filtered-downloads.tsx'

/** Files of the filtered rows, if there is a filter, and of the whole dataset. */
export function DownloadTab({
  exploration,
  matched,
  sort,
}: {
  exploration: Exploration
  matched: number | null | undefined
  sort: string
}) {
  const isFiltered = exploration.access === 'all' && exploration.filter !== ''
  return (
    <div className="stack">
      {isFiltered && <FilteredDownloads exploration={exploration} matched={matched} sort={sort} />}
      <Downloads dataset={exploration.dataset} />
    </div>
  )
}
