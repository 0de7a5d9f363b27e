import { assertNever } from '@wayleave/geodata/base'
import {
  type Bbox,
  emptyBbox,
  type Geometry,
  geometryBbox,
  isEmptyBbox,
  type Position,
} from '@wayleave/geodata/geometry'
import type { TimedWork } from '@wayleave/query'
import { Html, html } from '../../http/pages/html.ts'
import { ROOT } from '../write/links.ts'

const WIDTH = 960
const MAX_HEIGHT = 480
const MIN_HEIGHT = 220
const MARGIN = 26
/** Pixels per degree. */
const MAX_LAND_SCALE = 48

/** A single place is shown with the land around it. */
const PLACE_DEGREES = 24

/** What a map shows beside geometries. */
interface MapFrame {
  title: string
  /** The base URL of the service, from which the picture of the land is loaded. */
  base: string
}

/** A map of geometries as an SVG, without scripts. */
export async function featuresMap(
  geometries: readonly Geometry[],
  frame: MapFrame,
  work: TimedWork,
): Promise<Html | null> {
  const extent = emptyBbox()
  await work.each(geometries.length, (i) => extend(extent, geometryBbox(geometries[i]!)))
  if (isEmptyBbox(extent)) return null
  const picture = new Picture(extent)
  await work.each(geometries.length, (i) => picture.draw(geometries[i]!))
  return picture.svg(frame)
}

/** A map of a single geometry. */
export function featureMap(geometry: Geometry, frame: MapFrame): Html | null {
  const extent = geometryBbox(geometry)
  if (isEmptyBbox(extent)) return null
  const picture = new Picture(extent)
  picture.draw(geometry)
  return picture.svg(frame)
}

class Picture {
  readonly #view: View
  readonly #areas: string[] = []
  readonly #lines: string[] = []
  readonly #points: string[] = []

  constructor(extent: Bbox) {
    this.#view = new View(extent)
  }

  draw(geometry: Geometry): void {
    draw(geometry, this.#view, this.#areas, this.#lines, this.#points)
  }

  svg({ title, base }: MapFrame): Html {
    const view = this.#view
    // The shapes contain only numbers and letters that this code generates, so they need no escaping.
    const shapes = new Html(
      `${view.grid()}<path class="area" d="${this.#areas.join('')}"/><path class="line" d="${this.#lines.join('')}"/><path class="point" d="${this.#points.join('')}"/>`,
    )
    return html`<svg class="map" viewBox="0 0 ${WIDTH} ${view.height}" role="img" aria-label="${title}">${view.land(base)}${shapes}</svg>`
  }
}

/**
 * Converts degrees to picture coordinates. Longitudes are scaled by the factor at the middle of the extent.
 */
class View {
  readonly height: number
  readonly #extent: Bbox
  readonly #narrowing: number
  readonly #scale: number
  readonly #left: number
  readonly #top: number

  constructor(extent: Bbox) {
    const [west, south, east, north] = extent
    this.#extent = extent
    const middle = Math.max(-80, Math.min(80, (south + north) / 2))
    this.#narrowing = Math.cos((middle * Math.PI) / 180)
    const isPlace = east === west && north === south
    const wide = Math.max((east - west) * this.#narrowing, isPlace ? PLACE_DEGREES : 1e-4)
    const high = Math.max(north - south, isPlace ? PLACE_DEGREES / 2 : 1e-4)
    this.#scale = Math.min((WIDTH - 2 * MARGIN) / wide, (MAX_HEIGHT - 2 * MARGIN) / high)
    this.height = Math.round(Math.max(MIN_HEIGHT, high * this.#scale + 2 * MARGIN))
    this.#left = (WIDTH - (east - west) * this.#narrowing * this.#scale) / 2
    this.#top = (this.height - (north - south) * this.#scale) / 2
  }

  x(longitude: number): number {
    return Math.round((this.#left + (longitude - this.#extent[0]) * this.#narrowing * this.#scale) * 10) / 10
  }

  y(latitude: number): number {
    return Math.round((this.#top + (this.#extent[3] - latitude) * this.#scale) * 10) / 10
  }

  /** The land, unless its coasts are too coarse for the scale: one to 110 million. */
  land(base: string): Html | null {
    if (this.#scale > MAX_LAND_SCALE) return null
    const [left, top] = [this.x(-180), this.y(90)]
    return html`<image href="${base}${ROOT}/land.svg" x="${left}" y="${top}" width="${this.x(180) - left}" height="${this.y(-90) - top}" preserveAspectRatio="none"/>`
  }

  /** A handful of meridians and parallels at round degrees. */
  grid(): string {
    const step = roundStep(180 / this.#scale)
    // Towards the poles degrees of longitude are narrower, and their labels are not.
    const wideStep = roundStep(180 / this.#scale / this.#narrowing)
    const west = this.#extent[0] - this.#left / this.#narrowing / this.#scale
    const east = west + WIDTH / this.#narrowing / this.#scale
    const north = this.#extent[3] + this.#top / this.#scale
    const south = north - this.height / this.#scale
    let path = ''
    let labels = ''
    for (let i = Math.ceil(Math.max(west, -180) / wideStep); i * wideStep <= Math.min(east, 180); i++) {
      const x = this.x(i * wideStep)
      path += `M${x} 0V${this.height}`
      labels += `<text x="${x + 4}" y="${this.height - 5}">${degrees(i * wideStep, wideStep)}</text>`
    }
    for (let i = Math.ceil(Math.max(south, -90) / step); i * step <= Math.min(north, 90); i++) {
      const y = this.y(i * step)
      path += `M0 ${y}H${WIDTH}`
      labels += `<text x="5" y="${y - 4}">${degrees(i * step, step)}</text>`
    }
    return `<path class="grid" d="${path}"/>${labels}`
  }
}

/**
 * The smallest round step that is at least `min`: 1, 2, 5, 10, 15, 30, 45 or 90 degrees (the max) or, below
 * one degree, 1, 2 or 5 times a power of ten.
 */
function roundStep(min: number): number {
  for (const step of [1, 2, 5, 10, 15, 30, 45, 90]) {
    if (step >= min && min > 0.5) return step
  }
  if (min > 90) return 90
  const magnitude = 10 ** Math.floor(Math.log10(min))
  return [1, 2, 5, 10].map((digit) => digit * magnitude).find((step) => step >= min)!
}

function degrees(value: number, step: number): string {
  const decimals = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9))
  return `${value.toFixed(decimals)}°`
}

function draw(geometry: Geometry, view: View, areas: string[], lines: string[], points: string[]): void {
  switch (geometry.type) {
    case 'Point':
      if (geometry.coordinates.length > 0) points.push(dot(geometry.coordinates, view))
      return
    case 'MultiPoint':
      for (const position of geometry.coordinates) points.push(dot(position, view))
      return
    case 'LineString':
      lines.push(path(geometry.coordinates, view))
      return
    case 'MultiLineString':
      for (const line of geometry.coordinates) lines.push(path(line, view))
      return
    case 'Polygon':
      for (const ring of geometry.coordinates) areas.push(`${path(ring, view)}Z`)
      return
    case 'MultiPolygon':
      for (const ring of geometry.coordinates.flat()) areas.push(`${path(ring, view)}Z`)
      return
    case 'GeometryCollection':
      for (const member of geometry.geometries) draw(member, view, areas, lines, points)
      return
    default:
      assertNever(geometry)
  }
}

const RADIUS = 3.2

function dot(position: Position, view: View): string {
  const x = view.x(position[0]!)
  const y = view.y(position[1]!)
  return `M${x - RADIUS} ${y}a${RADIUS} ${RADIUS} 0 1 0 ${2 * RADIUS} 0a${RADIUS} ${RADIUS} 0 1 0 ${-2 * RADIUS} 0`
}

/** Vertices closer than a pixel to the previous one are omitted, because they are not visible. */
function path(positions: readonly Position[], view: View): string {
  let text = ''
  let [lastX, lastY] = [Number.NaN, Number.NaN]
  positions.forEach((position, i) => {
    const x = view.x(position[0]!)
    const y = view.y(position[1]!)
    if (i > 0 && i < positions.length - 1 && Math.abs(x - lastX) < 1 && Math.abs(y - lastY) < 1) return
    text += `${i === 0 ? 'M' : 'L'}${x} ${y}`
    lastX = x
    lastY = y
  })
  return text
}

function extend(extent: Bbox, [west, south, east, north]: Bbox): void {
  extent[0] = Math.min(extent[0], west)
  extent[1] = Math.min(extent[1], south)
  extent[2] = Math.max(extent[2], east)
  extent[3] = Math.max(extent[3], north)
}
