import type { Map as LibreMap, MapMouseEvent } from 'maplibre-gl'
import type { Position } from '../filter/clause.ts'
import type { AreaTool } from './area-tools.tsx'
import { circleAround, kilometersBetween, rounded } from './circle-around.ts'

/** A click this near to the first corner closes a polygon. */
const CLOSE_PX = 10
const MAX_CORNERS = 200

export const NOTHING_DRAWN = { type: 'FeatureCollection', features: [] }

interface DrawingEvents {
  /** What is drawn so far, as GeoJSON. */
  onChange: (drawn: object) => void
  /** The ring, whose last position is the first one; null if it was canceled. */
  onDone: (ring: Position[] | null) => void
}

/** Draws a polygon or a circle on a map, by clicks. */
export class AreaDrawing {
  readonly #map: LibreMap
  readonly #tool: AreaTool
  readonly #events: DrawingEvents
  readonly #corners: Position[] = []

  constructor(map: LibreMap, tool: AreaTool, events: DrawingEvents) {
    this.#map = map
    this.#tool = tool
    this.#events = events
    map.getCanvas().style.cursor = 'crosshair'
    map.doubleClickZoom.disable()
    map.on('click', this.#click)
    map.on('mousemove', this.#move)
    window.addEventListener('keydown', this.#key)
    window.addEventListener('keydown', this.#cancel, { capture: true })
  }

  /** Ends without a result. */
  close(): void {
    this.#map.off('click', this.#click)
    this.#map.off('mousemove', this.#move)
    window.removeEventListener('keydown', this.#key)
    window.removeEventListener('keydown', this.#cancel, { capture: true })
    this.#map.doubleClickZoom.enable()
    this.#map.getCanvas().style.cursor = ''
    this.#events.onChange(NOTHING_DRAWN)
  }

  readonly #click = ({ lngLat, point }: MapMouseEvent) => {
    const corner: Position = [rounded(lngLat.lng), rounded(lngLat.lat)]
    const [first] = this.#corners
    if (this.#tool === 'circle' && first) return this.#finish(circleTo(first, corner))
    if (first && this.#corners.length > 2) {
      const start = this.#map.project(first)
      if (Math.hypot(start.x - point.x, start.y - point.y) <= CLOSE_PX) return this.#finishPolygon()
    }
    if (this.#corners.length < MAX_CORNERS) this.#corners.push(corner)
    this.#show(corner)
  }

  readonly #move = ({ lngLat }: MapMouseEvent) => {
    if (this.#corners.length > 0) this.#show([lngLat.lng, lngLat.lat])
  }

  /** Before others hear of the key: a map that fills the window must not become small as well. */
  readonly #cancel = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return
    event.preventDefault()
    this.#finish(null)
  }

  readonly #key = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || this.#tool !== 'polygon' || this.#corners.length < 3) return
    event.preventDefault()
    this.#finishPolygon()
  }

  #finishPolygon(): void {
    this.#finish([...this.#corners, this.#corners[0]!])
  }

  #finish(ring: Position[] | null): void {
    this.close()
    this.#events.onDone(ring)
  }

  #show(end: Position): void {
    const [first] = this.#corners
    if (!first) return
    const ring = this.#tool === 'circle' ? circleTo(first, end) : [...this.#corners, end, first]
    const geometries = [
      { type: 'Polygon', coordinates: [ring] },
      { type: 'Point', coordinates: first },
    ]
    this.#events.onChange({
      type: 'FeatureCollection',
      features: geometries.map((geometry) => ({ type: 'Feature', properties: {}, geometry })),
    })
  }
}

function circleTo(middle: Position, edge: Position): Position[] {
  return circleAround(middle, Math.max(0.01, kilometersBetween(middle, edge)))
}
