import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import type { Feature } from '@wayleave/client'
import { useMemo } from 'react'
import { collectionUrl, nameList, readOgc } from '../../api/ogc.ts'
import type { Exploration } from '../access.ts'
import { useSampleFeatures } from '../use-features.ts'

const PAGE_ROWS = 200

interface Page {
  features: Feature[]
  links: { rel: string; href: string }[]
}

export interface Rows {
  /** The rows loaded so far, in order; undefined before the first page. */
  rows: Feature[] | undefined
  hasMore: boolean
  loadMore: () => void
  error: unknown
  retry: () => void
  /** Why the next page could not be loaded; null if it could. */
  moreError: unknown
}

/** The rows that match the filter, in the order of `sort`, loaded page by page. */
export function useRows({ dataset, access, filter }: Exploration, sort: string): Rows {
  const { table, version } = dataset
  const isOpen = access === 'all'
  const sample = useSampleFeatures(dataset, access !== null && !isOpen)
  const query = useInfiniteQuery({
    queryKey: ['rows-of', table, version, filter, sort],
    queryFn: ({ pageParam, signal }) => readOgc<Page>(pageParam, signal),
    initialPageParam: collectionUrl(table, '/items', {
      limit: PAGE_ROWS,
      // The number of matches is requested apart from the rows: see `use-matched.ts`.
      count: 'none',
      filter,
      sortby: sort && nameList([sort]),
    }),
    getNextPageParam: ({ links }) => {
      const next = links.find(({ rel }) => rel === 'next')?.href
      // Only the path is taken: the service may be reached under another name than it knows itself by.
      return next && new URL(next).pathname + new URL(next).search
    },
    enabled: isOpen,
    placeholderData: keepPreviousData,
    staleTime: 300_000,
  })
  const pages = query.data?.pages
  const loaded = useMemo(() => pages?.flatMap(({ features }) => features), [pages])
  return {
    rows: isOpen ? loaded : sample,
    hasMore: isOpen && query.hasNextPage,
    loadMore: () => {
      if (!query.isFetching) query.fetchNextPage()
    },
    error: query.error,
    retry: () => query.refetch(),
    moreError: query.isFetchNextPageError ? query.error : null,
  }
}
