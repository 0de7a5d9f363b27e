import 'maplibre-gl/dist/maplibre-gl.css'
import type { Feature } from '@wayleave/client'
import { depthAt, type NamesDepth, PALETTES } from '@wayleave/contract/map-style'
import {
  AttributionControl,
  FullscreenControl,
  Map as LibreMap,
  LngLat,
  type MapGeoJSONFeature,
  NavigationControl,
  type PointLike,
  ScaleControl,
  setWorkerUrl,
  type VectorTileSource,
} from 'maplibre-gl'
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?url'
import { data as client } from '../../api/data.ts'
import type { MapView } from '../address.ts'
import type { Box, Position } from '../filter/clause.ts'
import { AreaDrawing, NOTHING_DRAWN } from './area-drawing.ts'
import type { AreaTool } from './area-tools.tsx'
import { SQUARES } from './background.ts'
import { drawnGeometry } from './drawn-geometry.ts'
import { type DataSource, FEATURE_ID, mapStyle, type StyleParts } from './map-style.ts'
import { fittingBox, keepOnWorld, projectedBox } from './one-world.ts'

export { addProtocol } from 'maplibre-gl'

setWorkerUrl(workerUrl)

/** How long names take to appear. Movements of the map end at once by themselves for users who prefer less motion. */
const FADE_MS = 300
const REACH_PX = 4
/** From the keyboard, the feature nearest to the middle is selected. */
const KEYBOARD_REACH_PX = 16
const DEPTHS: readonly NamesDepth[] = ['countries', 'cities', 'towns']
const SELECTABLE = ['points', 'clusters', 'lines', 'areas', 'hexagons']
/** The layers whose features stand for several. */
const COUNTED = ['clusters', 'hexagons']
/** A feature that is selected in the table is shown at least at this zoom. */
const SHOWN_ZOOM = 5

/** What is under the mouse: a feature, or a point that stands for several. */
export interface MapTarget {
  /** Null for a cluster. */
  id: string | null
  count: number
  properties: Record<string, unknown>
  /** Where it is on the screen, in pixels from the map's corner. */
  x: number
  y: number
}

export interface MapEvents {
  onView: (view: MapView, box: Box) => void
  onPoint: (target: MapTarget | null) => void
  onSelect: (target: MapTarget | null) => void
  onError: (message: string) => void
  /** Whether something of the map is still being loaded. */
  onLoading: (isLoading: boolean) => void
  /** Whether a point in view stands for several features. */
  onClusters: (hasClusters: boolean) => void
  /** An area was drawn; null if that was canceled. */
  onArea: (ring: Position[] | null) => void
}

export interface Marks {
  selected: Feature | null
  pointed: Feature | null
}

/** What the map does not determine itself. */
export type GivenParts = Omit<StyleParts, 'marked' | 'depth' | 'drawn'>

/** The map on the page. It draws the dataset in a style and reports its view, the mouse and clicks. */
export class ExplorerMap {
  readonly #map: LibreMap
  readonly #events: MapEvents
  readonly #container: HTMLElement
  #parts: StyleParts
  #isReady = false
  #pointedId: string | number | null = null
  #drawing: AreaDrawing | null = null
  #isLoading = false

  constructor(
    container: HTMLElement,
    { bbox, view, hasScreenButton }: { bbox: Box; view: MapView | null; hasScreenButton: boolean },
    parts: GivenParts,
    events: MapEvents,
  ) {
    this.#container = container
    this.#events = events
    this.#parts = {
      ...parts,
      depth: 'countries',
      marked: markedCollection({ selected: null, pointed: null }),
      drawn: NOTHING_DRAWN,
    }
    this.#map = new LibreMap({
      container,
      style: mapStyle(this.#parts),
      ...(view
        ? { center: [view.longitude, view.latitude], zoom: view.zoom }
        : { bounds: fittingBox(bbox), fitBoundsOptions: { padding: 20, maxZoom: 14 } }),
      attributionControl: false,
      dragRotate: false,
      pitchWithRotate: false,
      touchPitch: false,
      renderWorldCopies: false,
      minZoom: -2,
      maxZoom: 20,
      cooperativeGestures: true,
      fadeDuration: matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : FADE_MS,
      transformRequest: (url) => client.transformRequest(url),
      transformConstrain: (center, zoom) => this.#constrain(center, zoom),
    })
    this.#map.touchZoomRotate.disableRotation()
    this.#map.keyboard.disableRotation()
    this.#map.addControl(new NavigationControl({ showCompass: false }), 'top-right')
    if (hasScreenButton) {
      this.#map.addControl(new FullscreenControl({ container: container.parentElement! }), 'top-right')
    }
    this.#map.addControl(new AttributionControl({ compact: false }), 'bottom-right')
    // The shortest bar is two fifths of it, and "1000 km" has to fit.
    this.#map.addControl(new ScaleControl({ maxWidth: 140 }), 'bottom-right')
    this.#map.getCanvas().setAttribute('aria-label', 'Map. Arrow keys move it, Enter selects in the middle.')
    this.#listen()
  }

  setParts(change: Partial<GivenParts>): void {
    const before = this.#parts.data
    this.#parts = { ...this.#parts, ...change }
    const { data } = this.#parts
    const source = this.#isReady ? this.#map.getSource<VectorTileSource>('data') : undefined
    // New tiles replace the old ones as they arrive; a new source would show nothing meanwhile.
    if (source && before?.kind === 'tiles' && data?.kind === 'tiles' && before.url !== data.url) {
      source.setTiles([data.url])
    }
    this.#draw()
  }

  setMarks(marks: Marks): void {
    this.#parts = { ...this.#parts, marked: markedCollection(marks) }
    this.#draw()
  }

  /** Moves to a feature: a point to the middle, another shape so that all of it is in view. */
  show(feature: Feature): void {
    const box = boxOf(feature)
    if (!box) return
    const [west, south, east, north] = box
    if (west < east || south < north) this.fit(box)
    else this.#map.easeTo({ center: [west, south], zoom: Math.max(SHOWN_ZOOM, this.#map.getZoom()) })
  }

  get middle(): Position {
    const { lng, lat } = this.#map.getCenter()
    return [lng, lat]
  }

  /** Begins to draw an area, or ends that. */
  draw(tool: AreaTool | null): void {
    this.#drawing?.close()
    this.#drawing =
      tool &&
      new AreaDrawing(this.#map, tool, {
        onChange: (drawn) => {
          this.#parts = { ...this.#parts, drawn }
          this.#draw()
        },
        onDone: (ring) => {
          this.#drawing = null
          this.#events.onArea(ring)
        },
      })
  }

  /** Moves to a box so that all of it is in view. */
  fit(box: Box): void {
    this.#map.fitBounds(projectedBox(box), { padding: 40, maxZoom: Math.max(12, this.#map.getZoom()) })
  }

  /** On a map that fills the window, nothing else can be scrolled: the wheel and one finger move the map. */
  setFull(isFull: boolean): void {
    if (isFull) this.#map.cooperativeGestures.disable()
    else this.#map.cooperativeGestures.enable()
  }

  resize(): void {
    this.#map.resize()
  }

  close(): void {
    this.#drawing?.close()
    this.#map.remove()
  }

  #constrain(center: LngLat, zoom: number) {
    const size = { width: this.#container.clientWidth, height: this.#container.clientHeight }
    const camera = keepOnWorld({ longitude: center.lng, latitude: center.lat, zoom: zoom ?? 0 }, size)
    return { center: new LngLat(camera.longitude, camera.latitude), zoom: camera.zoom }
  }

  #draw(): void {
    if (this.#isReady) this.#map.setStyle(mapStyle(this.#parts), { diff: true })
  }

  #listen(): void {
    const map = this.#map
    map.once('style.load', () => {
      this.#isReady = true
      for (const theme of ['light', 'dark'] as const) {
        map.addImage(SQUARES + theme, squares(PALETTES[theme].grid))
      }
      this.#parts = { ...this.#parts, depth: depthAt(map.getZoom()) }
      this.#draw()
      this.#tellView()
    })
    map.on('moveend', () => this.#tellView())
    map.on('zoom', () => this.#deepen())
    map.on('mousemove', ({ point }) => {
      if (!this.#drawing) this.#point(this.#targetAt(point, REACH_PX))
    })
    map.on('mouseout', () => this.#point(null))
    map.on('click', ({ point }) => {
      if (!this.#drawing) this.#select(this.#targetAt(point, REACH_PX))
    })
    map.on('sourcedata', () => this.#tellLoading())
    map.on('dataloading', () => this.#tellLoading())
    map.on('idle', () => {
      this.#tellLoading()
      this.#events.onClusters(this.#hasClusters())
    })
    map.on('error', ({ error }) => this.#events.onError(error.message))
    map.getCanvas().addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || this.#drawing) return
      const { clientWidth, clientHeight } = this.#container
      this.#select(this.#targetAt({ x: clientWidth / 2, y: clientHeight / 2 }, KEYBOARD_REACH_PX))
    })
  }

  /** Loads the names of smaller places when the map is first zoomed deep enough for them, and keeps them. */
  #deepen(): void {
    const depth = depthAt(this.#map.getZoom())
    if (DEPTHS.indexOf(depth) <= DEPTHS.indexOf(this.#parts.depth)) return
    this.#parts = { ...this.#parts, depth }
    this.#draw()
  }

  #tellLoading(): void {
    const isLoading = !this.#map.areTilesLoaded()
    if (isLoading === this.#isLoading) return
    this.#isLoading = isLoading
    this.#events.onLoading(isLoading)
  }

  #hasClusters(): boolean {
    if (!this.#map.getLayer('clusters')) return false
    return this.#map.queryRenderedFeatures({ layers: ['clusters'] }).length > 0
  }

  #tellView(): void {
    const { lng, lat } = this.#map.getCenter()
    const bounds = this.#map.getBounds()
    const box: Box = [
      Math.max(-180, bounds.getWest()),
      Math.max(-90, bounds.getSouth()),
      Math.min(180, bounds.getEast()),
      Math.min(90, bounds.getNorth()),
    ]
    this.#events.onView({ longitude: lng, latitude: lat, zoom: this.#map.getZoom() }, box)
  }

  #targetAt({ x, y }: { x: number; y: number }, reach: number): MapTarget | null {
    const layers = SELECTABLE.filter((layer) => this.#map.getLayer(layer))
    if (layers.length === 0) return null
    const area: [PointLike, PointLike] = [
      [x - reach, y - reach],
      [x + reach, y + reach],
    ]
    const candidates = this.#map.queryRenderedFeatures(area, { layers })
    const [target] = candidates
    return target ? this.#targetOf(target, x, y) : null
  }

  #targetOf(rendered: MapGeoJSONFeature, x: number, y: number): MapTarget {
    const { data } = this.#parts
    const { properties } = rendered
    const isHexagon = rendered.layer.id === 'hexagons'
    const counted = isHexagon ? 'count' : data?.kind === 'tiles' ? data.pointCount : null
    const count = counted === null ? 1 : Number(properties[counted] ?? 1)
    const id = COUNTED.includes(rendered.layer.id) ? null : idOf(rendered, data)
    return { id, count, properties, x, y }
  }

  #point(target: MapTarget | null): void {
    this.#map.getCanvas().style.cursor = target ? 'pointer' : ''
    this.#setPointed(target?.id ?? null)
    this.#events.onPoint(target)
  }

  #setPointed(id: string | null): void {
    if (this.#pointedId === id) return
    const { data } = this.#parts
    const source = { source: 'data', ...(data?.kind === 'tiles' && { sourceLayer: data.layer }) }
    if (!this.#map.getSource('data')) return
    if (this.#pointedId !== null) this.#map.removeFeatureState({ ...source, id: this.#pointedId }, 'pointed')
    if (id !== null) this.#map.setFeatureState({ ...source, id }, { pointed: true })
    this.#pointedId = id
  }

  /** A click on a cluster zooms in: at some depth its members are features of their own. */
  #select(target: MapTarget | null): void {
    if (target && target.id === null) {
      const center = this.#map.unproject([target.x, target.y])
      this.#map.easeTo({ center, zoom: this.#map.getZoom() + 2 })
      return
    }
    this.#events.onSelect(target)
  }
}

const SQUARE_PX = 64

/** A square of squared paper: lines above and at the left, which its neighbours complete. */
function squares(color: string): ImageData {
  const canvas = new OffscreenCanvas(SQUARE_PX, SQUARE_PX)
  const context = canvas.getContext('2d')!
  context.fillStyle = color
  context.fillRect(0, 0, SQUARE_PX, 1)
  context.fillRect(0, 0, 1, SQUARE_PX)
  return context.getImageData(0, 0, SQUARE_PX, SQUARE_PX)
}

function idOf(rendered: MapGeoJSONFeature, data: DataSource | null): string | null {
  const property = data?.kind === 'tiles' ? data.idProperty : FEATURE_ID
  // An integer that tiles cannot hold as an id, such as a negative one, is the property "id".
  const id = (property && rendered.properties[property]) ?? rendered.id ?? rendered.properties['id']
  return id === undefined || id === null ? null : String(id)
}

function markedCollection({ selected, pointed }: Marks): object {
  const marked = (feature: Feature | null, mark: string) =>
    feature?.geometry
      ? [{ type: 'Feature', properties: { mark }, geometry: drawnGeometry(feature.geometry) }]
      : []
  return {
    type: 'FeatureCollection',
    features: [...marked(pointed, 'pointed'), ...marked(selected, 'selected')],
  }
}

function boxOf({ geometry }: Feature): Box | null {
  const box: Box = [Infinity, Infinity, -Infinity, -Infinity]
  const extend = (nested: unknown): void => {
    if (!Array.isArray(nested)) return
    if (typeof nested[0] === 'number') {
      const [x, y] = nested as [number, number]
      box[0] = Math.min(box[0], x)
      box[1] = Math.min(box[1], y)
      box[2] = Math.max(box[2], x)
      box[3] = Math.max(box[3], y)
    } else for (const part of nested) extend(part)
  }
  if (geometry?.type === 'GeometryCollection') {
    for (const part of geometry.geometries) if ('coordinates' in part) extend(part.coordinates)
  } else if (geometry) extend(geometry.coordinates)
  return Number.isFinite(box[0]) ? box : null
}
