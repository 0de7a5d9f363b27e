import { useEffect, useLayoutEffect, useRef } from 'react'

/** Where Escape has a meaning of its own: it empties a search, or closes a list of choices. */
const OWN_ESCAPE =
  'select, textarea, input:not([type="checkbox"], [type="radio"], [type="range"], [type="color"])'

/**
 * The map that fills the window, with the filter beside it. Escape leaves it, and the page is then where it was before.
 * `set` opens and leaves it; `place` is the element that has the map and the filter.
 */
export function useFullMap(isFull: boolean, change: (isFull: boolean) => void) {
  const place = useRef<HTMLDivElement>(null)
  const scrolledBefore = useRef<number | null>(null)
  const current = useRef(change)
  current.current = change
  const set = (isNowFull: boolean) => {
    if (isNowFull) scrolledBefore.current = window.scrollY
    change(isNowFull)
  }

  useEffect(() => {
    if (!isFull) return
    const leave = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented) return
      const isOwn = event.target instanceof Element && event.target.matches(OWN_ESCAPE)
      if (isOwn || document.querySelector('dialog[open], :popover-open')) return
      current.current(false)
    }
    document.addEventListener('keydown', leave)
    return () => document.removeEventListener('keydown', leave)
  }, [isFull])

  const wasFull = useRef(isFull)
  useLayoutEffect(() => {
    if (wasFull.current && !isFull) {
      if (scrolledBefore.current !== null) window.scrollTo(0, scrolledBefore.current)
      else place.current?.querySelector('.map-frame')?.scrollIntoView({ block: 'center' })
    }
    wasFull.current = isFull
  }, [isFull])
  return { place, set }
}
