import { type KeyboardEvent, type PointerEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { degreesPerPixel, movedBy, type View, zoomedBy } from '../datasets/map-view.ts'
import { type Box, SmallMap, viewOf } from '../datasets/small-map.tsx'

const STEP = 1.6
const KEYS: Record<string, [x: number, y: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

/**
 * A small map that can be dragged and zoomed. The wheel alone scrolls the page, and so does a finger that moves up or
 * down; with Ctrl or ⌘ the wheel zooms.
 */
export function MovableMap({ bbox, label, children }: { bbox: Box; label: string; children: ReactNode }) {
  const home = viewOf(bbox)
  const [view, setView] = useState(home)
  const place = useRef<HTMLDivElement>(null)
  const from = useRef<{ x: number; y: number; view: View } | null>(null)
  const zoom = (factor: number) => setView((now) => zoomedBy(now, factor, home))
  const drag = (event: PointerEvent) => {
    if (!from.current) return
    const { x, y, view } = from.current
    const degrees = degreesPerPixel(view, place.current!.getBoundingClientRect())
    setView(movedBy(view, (x - event.clientX) * degrees, (y - event.clientY) * degrees))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const arrow = KEYS[event.key]
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return
    if (arrow) setView((now) => movedBy(now, (arrow[0] * now.width) / 8, (arrow[1] * now.height) / 8))
    else if (event.key === '+' || event.key === '=') zoom(STEP)
    else if (event.key === '-') zoom(1 / STEP)
    else return
    event.preventDefault()
  }
  // React listens to the wheel passively, and then the browser would zoom the page too.
  useEffect(() => {
    const element = place.current!
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return
      event.preventDefault()
      const frame = element.getBoundingClientRect()
      setView((now) => {
        const degrees = degreesPerPixel(now, frame)
        const at = {
          x: now.x + now.width / 2 + (event.clientX - frame.left - frame.width / 2) * degrees,
          y: now.y + now.height / 2 + (event.clientY - frame.top - frame.height / 2) * degrees,
        }
        return zoomedBy(now, 1.0015 ** -event.deltaY, home, at)
      })
    }
    element.addEventListener('wheel', onWheel, { passive: false })
    return () => element.removeEventListener('wheel', onWheel)
  }, [])
  const isMoved = view.x !== home.x || view.y !== home.y || view.width !== home.width
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for a form.
    <div
      ref={place}
      className="preview movable"
      role="group"
      aria-label={`${label}. The arrow keys move the map, + and − zoom.`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys move the map.
      tabIndex={0}
      onKeyDown={onKeyDown}
      onPointerDown={(event) => {
        if (event.button !== 0 || (event.target as Element).closest('button')) return
        event.currentTarget.setPointerCapture(event.pointerId)
        from.current = { x: event.clientX, y: event.clientY, view }
      }}
      onPointerMove={drag}
      onPointerUp={() => {
        from.current = null
      }}
      onPointerCancel={() => {
        from.current = null
      }}
    >
      <SmallMap bbox={bbox} view={view}>
        {children}
      </SmallMap>
      <div className="map-zoom">
        <button type="button" aria-label="Zoom in" title="Zoom in" onClick={() => zoom(STEP)}>
          +
        </button>
        <button type="button" aria-label="Zoom out" title="Zoom out" onClick={() => zoom(1 / STEP)}>
          −
        </button>
        {isMoved && (
          <button
            type="button"
            aria-label="Show everything"
            title="Show everything"
            onClick={() => {
              setView(home)
              // The button disappears.
              place.current!.focus()
            }}
          >
            ⤢
          </button>
        )}
      </div>
    </div>
  )
}
