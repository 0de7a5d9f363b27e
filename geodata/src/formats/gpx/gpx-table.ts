import type { Feature, Geometry, Position, SourceColumn, UnreadableRow, Value } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'
import type { SourceLimits } from '../reading/source-limits.ts'

export interface GpxElement {
  name: string
  attributes: { [name: string]: string }
  text: string
  children: GpxElement[]
}

const POINTS = ['wpt', 'rtept', 'trkpt']
/** Children that are geometry and not attributes. */
const SHAPES = ['trkseg', 'rtept', 'trkpt', 'ele']

/** Collects the columns of GPX features: the texts of their simple children, and of extensions. */
export class GpxTable {
  readonly columns: SourceColumn[] = []
  rows = 0
  readonly #losses: Losses = { singlePoints: 0, missingLines: 0, heights: 0 }
  readonly #file: string
  readonly #limits: SourceLimits
  readonly #places = new Map<string, number>()

  constructor(file: string, limits: SourceLimits, isMixed: boolean) {
    this.#file = file
    this.#limits = limits
    // Without it, waypoints, routes and tracks in one dataset could not be told apart.
    if (isMixed) this.#place('element')
  }

  row(element: GpxElement): Feature | UnreadableRow {
    const row = ++this.rows
    const geometry = readGeometry(element, this.#losses)
    if (typeof geometry === 'string') return { row, problem: geometry }
    const values: Value[] = new Array(this.columns.length).fill(null)
    const set = (name: string, value: string) => {
      const place = this.#place(name)
      while (values.length < place) values.push(null)
      values[place] = value
    }
    if (this.#places.has('element')) set('element', element.name)
    for (const child of element.children) this.#addValues(child, set)
    return { id: null, values, geometry, row }
  }

  /** Sentences about data of the rows so far that the geometries do not have. */
  lossNotes(): string[] {
    const { singlePoints, missingLines, heights } = this.#losses
    const notes: string[] = []
    const segments = (count: number) => (count === 1 ? '1 segment' : `${count} segments`)
    if (singlePoints > 0)
      notes.push(
        `${segments(singlePoints)} of tracks or routes ${singlePoints === 1 ? 'has' : 'have'} a single point, which is not a line, and ${singlePoints === 1 ? 'is' : 'are'} left out. Publish with --layer track_points or route_points to keep every point.`,
      )
    if (missingLines > 0)
      notes.push(
        `${missingLines === 1 ? '1 track or route has' : `${missingLines} tracks or routes have`} no segment of two points or more and ${missingLines === 1 ? 'is' : 'are'} published without geometry.`,
      )
    if (heights > 0)
      notes.push(
        `${segments(heights)} of tracks or routes ${heights === 1 ? 'has' : 'have'} points with and without <ele> and ${heights === 1 ? 'is' : 'are'} published without heights.`,
      )
    return notes
  }

  #addValues(child: GpxElement, set: (name: string, value: string) => void): void {
    if (SHAPES.includes(child.name)) return
    if (child.name === 'link') {
      if (child.attributes['href']) set('link', child.attributes['href'])
      return
    }
    if (child.children.length > 0) for (const inner of child.children) this.#addValues(inner, set)
    else if (child.text.trim() !== '') set(child.name, child.text.trim())
  }

  #place(name: string): number {
    const place = this.#places.get(name)
    if (place !== undefined) return place
    if (this.columns.length >= this.#limits.columns)
      throw new SourceError(`${this.#file} has more than ${this.#limits.columns} columns.`)
    this.#places.set(name, this.columns.length)
    return this.columns.push({ name, type: 'infer-text' }) - 1
  }
}

/** What lines cannot hold, for the publisher's report. */
interface Losses {
  /** Segments of tracks, and routes, of one point. */
  singlePoints: number
  /** Tracks and routes that have points and no line. */
  missingLines: number
  /** Lines of which some points have a height and some have none. */
  heights: number
}

function readGeometry(element: GpxElement, losses: Losses): Geometry | null | string {
  if (POINTS.includes(element.name)) {
    const point = positionOf(element)
    return typeof point === 'string' ? point : { type: 'Point', coordinates: point }
  }
  const isRoute = element.name === 'rte'
  const segments = isRoute ? [element] : element.children.filter(({ name }) => name === 'trkseg')
  const lines: Position[][] = []
  let singlePoints = 0
  for (const segment of segments) {
    const line = positionsOf(segment, isRoute ? 'rtept' : 'trkpt', losses)
    if (typeof line === 'string') return line
    // A segment of one point is written when recording starts and stops at once; it is not a line.
    if (line.length > 1) lines.push(line)
    else singlePoints += line.length
  }
  losses.singlePoints += singlePoints
  if (lines.length === 0) {
    if (singlePoints > 0) losses.missingLines++
    return null
  }
  return isRoute
    ? { type: 'LineString', coordinates: lines[0]! }
    : { type: 'MultiLineString', coordinates: lines }
}

/** Heights are kept only if all points of a line have one. */
function positionsOf(element: GpxElement, name: string, losses: Losses): Position[] | string {
  const positions: Position[] = []
  let heights = 0
  for (const child of element.children) {
    if (child.name !== name) continue
    const position = positionOf(child)
    if (typeof position === 'string') return position
    if (position.length > 2) heights++
    positions.push(position)
  }
  if (heights === positions.length) return positions
  if (heights > 0) losses.heights++
  return positions.map(([x, y]) => [x!, y!])
}

function positionOf({ name, attributes, children }: GpxElement): Position | string {
  const [lon, lat] = [attributes['lon'] ?? '', attributes['lat'] ?? '']
  const [x, y] = [Number(lon), Number(lat)]
  if (lon.trim() === '' || lat.trim() === '' || Number.isNaN(x) || Number.isNaN(y))
    return `a ${name} has no valid lat and lon`
  const height = children.find((child) => child.name === 'ele')?.text.trim() ?? ''
  return height === '' || Number.isNaN(Number(height)) ? [x, y] : [x, y, Number(height)]
}
