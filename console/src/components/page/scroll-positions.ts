import type { Location } from 'react-router'

/** Where the router keeps how far each page was scrolled. */
export const SCROLL_STORAGE = 'wayleave.scroll'

/** The entries of the history are told apart by a key, but all documents that were loaded have the same. */
export function scrollKey({ pathname, search, key }: Pick<Location, 'pathname' | 'search' | 'key'>): string {
  return `${pathname}${search} ${key}`
}

/** Content that comes later than this does not move the page any more. */
const MAX_WAIT_MS = 6000

/**
 * Call it before the first page is shown. A document that is opened begins at the top, also if the same page was left
 * further down; one that is loaded again, or that the user goes back to, begins where it was left.
 */
export function placeDocument(): void {
  const [load] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  const key = scrollKey({
    pathname: location.pathname,
    search: location.search,
    key: history.state?.key ?? 'default',
  })
  try {
    const positions = JSON.parse(sessionStorage.getItem(SCROLL_STORAGE) ?? '{}')
    if (load?.type === 'navigate') {
      delete positions[key]
      sessionStorage.setItem(SCROLL_STORAGE, JSON.stringify(positions))
    } else if (positions[key] > 0) scrollOnceHigh(positions[key])
  } catch {
    // Without a storage there are no positions.
  }
}

/** The router scrolls at once, when the content may not be there yet: this scrolls when the page is high enough. */
function scrollOnceHigh(top: number): void {
  const { pathname } = location
  const stop = new AbortController()
  const { signal } = stop
  const isHigh = () => document.documentElement.scrollHeight >= top + innerHeight
  const heights = new ResizeObserver(() => {
    if (!isHigh()) return
    // The user opened another page meanwhile.
    if (location.pathname === pathname) scrollTo(0, top)
    stop.abort()
  })
  signal.addEventListener('abort', () => heights.disconnect())
  // Who begins to read or to type is not moved.
  for (const event of ['wheel', 'touchstart', 'pointerdown', 'keydown'])
    addEventListener(event, () => stop.abort(), { signal, passive: true })
  setTimeout(() => stop.abort(), MAX_WAIT_MS)
  heights.observe(document.body)
}
