import type { Location } from 'react-router'

/** Where the router keeps how far each page was scrolled. */
export const SCROLL_STORAGE = 'wayleave.scroll'

/** The entries of the history are told apart by a key, but all documents that were loaded have the same. */
export function scrollKey({ pathname, search, key }: Pick<Location, 'pathname' | 'search' | 'key'>): string {
  return `${pathname}${search} ${key}`
}

/**
 * Call it before the first page is shown. A document that is opened begins at the top, also if the same page was left
 * further down; one that is loaded again, or that the user goes back to, begins where it was left.
 */
export function forgetPositionOfOpened(): void {
  const [load] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  if (load?.type !== 'navigate') return
  try {
    const positions = JSON.parse(sessionStorage.getItem(SCROLL_STORAGE) ?? '{}')
    const { pathname, search } = location
    delete positions[scrollKey({ pathname, search, key: 'default' })]
    sessionStorage.setItem(SCROLL_STORAGE, JSON.stringify(positions))
  } catch {
    // Without a storage there are no positions.
  }
}
