import { lazy, type ReactNode, Suspense } from 'react'
import type { View } from './map-view.ts'

const Coast = lazy(async () => {
  const { default: path } = await import('virtual:world/outline')
  return { default: () => <path className="coast" d={path} /> }
})

export type Box = [west: number, south: number, east: number, north: number]

/** A small map without controls, as an illustration of what texts say. The children draw in degrees, with y to the south. */
export function SmallMap({
  bbox,
  view: { x, y, width, height } = viewOf(bbox),
  children,
}: {
  bbox: Box
  /** What is shown of it; by default, all. */
  view?: View
  children: ReactNode
}) {
  return (
    <svg aria-hidden="true" viewBox={`${x} ${y} ${width} ${height}`} preserveAspectRatio="xMidYMid meet">
      <Suspense>
        <Coast />
      </Suspense>
      {children}
    </svg>
  )
}

/** The view of a whole box. */
export function viewOf(bbox: Box): View {
  const [west, south, east, north] = padded(bbox)
  return { x: west, y: -north, width: east - west, height: north - south }
}

/**
 * Adds a margin around the data. The box is at least two degrees wide, because the coastline is too coarse
 * for closer views.
 */
function padded([west, south, beyond, north]: Box): Box {
  // A box across the antimeridian is shown on the whole world.
  const [left, east] = west > beyond ? [-180, 180] : [west, beyond]
  const width = Math.max(2, (east - left) * 1.08)
  const height = Math.max(1.5, (north - south) * 1.08)
  const x = (left + east) / 2
  const y = (south + north) / 2
  return [x - width / 2, y - height / 2, x + width / 2, y + height / 2]
}

/** The extent of shapes that have no preview yet: a sample of them would look like data with holes. */
export function outlineOf([west, south, east, north]: Box): string {
  return `M${west} ${-south}H${east}V${-north}H${west}Z`
}
