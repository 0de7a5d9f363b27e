import { type PointerEvent, useEffect, useRef, useState } from 'react'
import type { Mark } from './chart-data.ts'
import { MARKS } from './draw-chart.ts'

/** A mark and where it is drawn, in pixels of the window. */
interface Spot {
  mark: Mark
  left: number
  right: number
}

/**
 * Dragging the mouse over the marks of an axis. `band` is what is between the first and the last mark, in pixels of the
 * drawing, and `onBrushed` is called with both marks when the button is released.
 */
export function useBrush(
  place: { current: HTMLElement | null },
  marks: readonly Mark[],
  onBrushed: ((first: Mark, last: Mark) => void) | null,
) {
  const [brush, setBrush] = useState<[first: Spot, last: Spot] | null>(null)
  // The click that ends a drag does not filter by the mark below it.
  const wasBrushed = useRef(false)
  useEffect(() => {
    if (!brush) return
    const move = (event: globalThis.PointerEvent) => {
      const spot = spotAt(place.current!, marks, event.clientX)
      if (spot && spot.mark !== brush[1].mark) setBrush([brush[0], spot])
    }
    const finish = () => {
      const [first, last] = brush
      setBrush(null)
      wasBrushed.current = first.mark !== last.mark
      if (wasBrushed.current) onBrushed?.(first.mark, last.mark)
    }
    // A drag may end outside of the chart.
    addEventListener('pointermove', move)
    addEventListener('pointerup', finish)
    return () => {
      removeEventListener('pointermove', move)
      removeEventListener('pointerup', finish)
    }
  }, [brush])
  const begin = (event: PointerEvent) => {
    wasBrushed.current = false
    // A finger scrolls the page.
    if (!onBrushed || event.pointerType !== 'mouse' || event.button !== 0) return
    const spot = spotAt(place.current!, marks, event.clientX)
    if (!spot) return
    event.preventDefault()
    setBrush([spot, spot])
  }
  return { band: brush && bandOf(place.current!, brush), begin, wasBrushed }
}

/** The mark that is drawn nearest to a place from left to right. */
function spotAt(place: HTMLElement, marks: readonly Mark[], x: number): Spot | null {
  let nearest: Spot | null = null
  let least = Infinity
  for (const element of place.querySelectorAll<Element & { __data__?: number }>(`.${MARKS} > *`)) {
    const mark = element.__data__ === undefined ? undefined : marks[element.__data__]
    const { left, right } = element.getBoundingClientRect()
    const distance = Math.max(left - x, x - right, 0)
    if (mark && distance < least) {
      nearest = { mark, left, right }
      least = distance
    }
  }
  return nearest
}

function bandOf(place: HTMLElement, spots: readonly [Spot, Spot]): { left: number; width: number } | null {
  if (spots[0].mark === spots[1].mark) return null
  const left = Math.min(...spots.map((spot) => spot.left))
  const right = Math.max(...spots.map((spot) => spot.right))
  return { left: left - place.getBoundingClientRect().left, width: right - left }
}
