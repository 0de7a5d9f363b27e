import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { collectionUrl, nameList, readOgc } from '../../api/ogc.ts'
import { ProblemNote } from '../../components/page/problem-note.tsx'
import type { Exploration } from '../access.ts'
import type { Box } from './clause.ts'
import { isCountable } from './facet.ts'

/**
 * A button that brings the map to the rows that match. Their extent is requested by the first click, because most
 * filters are changed without one. Render it with the filter as its key: a new filter cancels the request.
 */
export function ZoomToMatches({
  exploration: { dataset, filter },
  isDisabled,
  onZoom,
}: {
  exploration: Exploration
  isDisabled: boolean
  onZoom: (box: Box) => void
}) {
  const [isRequested, setIsRequested] = useState(false)
  const extent = useQuery({ ...extentQuery(dataset, filter), enabled: isRequested })
  useEffect(() => {
    if (!isRequested || extent.isFetching) return
    setIsRequested(false)
    if (extent.data) onZoom(extent.data)
  }, [isRequested, extent.isFetching, extent.data, onZoom])
  return (
    <>
      <button
        type="button"
        className="button small"
        disabled={isDisabled}
        aria-busy={isRequested}
        onClick={() => setIsRequested(true)}
      >
        Zoom to the matches
      </button>
      <span role="status" className="zoom-note small soft">
        {extent.data === null && 'No matching row has a place on the map.'}
      </span>
      {extent.error && <ProblemNote error={extent.error} />}
    </>
  )
}

/** Loads the bounding box of the rows that match a filter; null if none of them has a place. */
function extentQuery(dataset: Exploration['dataset'], filter: string) {
  const { table, version, columns } = dataset
  // Without `columns` the service would count all of them. The filter's panel needs this column too.
  const counted =
    columns.find((column) => isCountable(column, dataset)) ?? columns.find(({ type }) => type !== 'json')
  const query = { columns: counted && nameList([counted.name]), limit: 1, bins: 1, extent: 'true', filter }
  return {
    queryKey: ['extent', table, version, filter],
    queryFn: async ({ signal }: { signal: AbortSignal }) =>
      (await readOgc<{ extent: Box | null }>(collectionUrl(table, '/facets', query), signal)).extent,
    staleTime: Number.POSITIVE_INFINITY,
  }
}
