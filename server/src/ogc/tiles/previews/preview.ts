import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { VectorTile } from '@mapbox/vector-tile'
import { timeSlices } from '@wayleave/geodata/features'
import { MAX_LATITUDE, type TileAddress, tileSize, worldX, worldY } from '@wayleave/geodata/tiles'
import { PbfReader } from 'pbf'
import { type InsideTile, insideTile, POINT, type TilePoint } from './inside-tile.ts'

/** The paths of a small map, in degrees with the latitude negated, as SVG draws downwards. */
export interface Preview {
  bbox: [number, number, number, number]
  points: string
  /** Also the borders of `cutAreas`. */
  lines: string
  areas: string
  /** The parts of areas that lie in several tiles, which have no borders of their own. */
  cutAreas: string
}

type Box = [west: number, south: number, east: number, north: number]

/** A preview is about this many pixels wide, or high if that is more. */
const WIDTH = 400
/** Max length of the paths together, in characters. */
const MAX_LENGTH = 60_000
/** The size of the details that are left out, in pixels: the smallest one with which the paths are short enough. */
const STEPS = [0.75, 1.5, 3, 6, 12]
/**
 * The min distance of dots, which lie on a grid, in pixels. A preview is public, and the coordinates of points are
 * what keys are for: it shows where points are, to a 200th of the map's width.
 */
const DOT_STEP = 2
/** The same for all details of a dataset that has no free sample, and the grid of its lines and areas. */
const COARSE_STEP = 6
const COARSE_GRID = 2

const unzip = promisify(gunzip)

/**
 * The tiles of the zoom above the deepest one at which the box lies in at most two by two tiles: the box is then
 * at least a quarter of a tile wide, which is 1,024 units for 400 pixels.
 */
export function previewTiles(bbox: Box, maxZoom: number): TileAddress[] {
  const [west, south, east, north] = withinMercator(bbox)
  // A box across the antimeridian: the tile of the whole world shows both its ends.
  if (west > east) return [{ z: 0, x: 0, y: 0 }]
  for (let z = maxZoom + 1; z > 0; z--) {
    const { left, right, top, bottom } = tileRange([west, south, east, north], z)
    if (right - left <= 1 && bottom - top <= 1) return tilesIn([west, south, east, north], z - 1)
  }
  return [{ z: 0, x: 0, y: 0 }]
}

function tileRange([west, south, east, north]: Box, z: number) {
  const size = tileSize(z)
  const last = 2 ** z - 1
  const column = (longitude: number) => Math.min(last, Math.floor(worldX(longitude) / size))
  const row = (latitude: number) => Math.min(last, Math.floor(worldY(latitude) / size))
  return { left: column(west), right: column(east), top: row(north), bottom: row(south) }
}

function tilesIn(box: Box, z: number): TileAddress[] {
  const { left, right, top, bottom } = tileRange(box, z)
  const tiles: TileAddress[] = []
  for (let x = left; x <= right; x++) for (let y = top; y <= bottom; y++) tiles.push({ z, x, y })
  return tiles
}

/** Draws all features of the gzipped tiles, with fewer details if there are many, or if `isCoarse`. */
export async function drawPreview(
  bbox: Box,
  tiles: readonly PreviewTile[],
  isCoarse: boolean,
): Promise<Preview> {
  for (const step of STEPS) {
    if (isCoarse && step < COARSE_STEP) continue
    const drawing = new Drawing(degreesPerPixel(bbox), step, isCoarse)
    const isLast = step === STEPS.at(-1)
    await drawTiles(drawing, tiles, isLast)
    if (isLast || !drawing.isFull) return { bbox, ...drawing.paths }
  }
  throw new Error('there is a last step')
}

function degreesPerPixel([west, south, east, north]: Box): number {
  return (west > east ? 360 : Math.max(east - west, north - south, 0.001)) / WIDTH
}

/** How many points are drawn without tiles. More of them would hardly have a dot of their own. */
const MAX_POINTS = 100_000
/** Looking at the clock takes as long as a few points. */
const POINTS_AT_ONCE = 256

/**
 * Draws points that no tile has: `coordinates` is x, y of each, in the order of a snapshot, where neighbours follow each
 * other. Of more than `MAX_POINTS`, every nth is drawn.
 */
export async function drawPoints(bbox: Box, coordinates: Float64Array, isCoarse: boolean): Promise<Preview> {
  const count = coordinates.length / 2
  const every = Math.ceil(count / MAX_POINTS)
  for (const step of STEPS) {
    if (isCoarse && step < COARSE_STEP) continue
    const drawing = new Drawing(degreesPerPixel(bbox), step, isCoarse)
    const isLast = step === STEPS.at(-1)
    let sliceEnd = timeSlices.sliceEnd()
    for (let i = 0, drawn = 1; i < count && !drawing.isFull; i += every, drawn++) {
      drawing.addPoint([coordinates[i * 2]!, coordinates[i * 2 + 1]!])
      if (drawn % POINTS_AT_ONCE > 0 || performance.now() < sliceEnd) continue
      await timeSlices.next('previews')
      sliceEnd = timeSlices.sliceEnd()
    }
    if (isLast || !drawing.isFull) return { bbox, ...drawing.paths }
  }
  throw new Error('there is a last step')
}

export interface PreviewTile {
  address: TileAddress
  bytes: Buffer
}

/** Stops when the drawing is full, and lets other requests go ahead every few milliseconds. */
async function drawTiles(drawing: Drawing, tiles: readonly PreviewTile[], isCut: boolean): Promise<void> {
  for (const [i, { address, bytes }] of tiles.entries()) {
    // If even the coarsest drawing is too long, each tile has its share, so that none of them is empty.
    drawing.maxLength = isCut ? (MAX_LENGTH * (i + 1)) / tiles.length : MAX_LENGTH
    const tile = new VectorTile(new PbfReader(await unzip(bytes)))
    let sliceEnd = timeSlices.sliceEnd()
    for (const layer of Object.values(tile.layers)) {
      const position = positionIn(address, layer.extent)
      const unit = (2 ** address.z * layer.extent) / 360
      for (let place = 0; place < layer.length && !drawing.isFull; place++) {
        const feature = layer.feature(place)
        const parts = drawing.thinned(feature.loadGeometry(), unit)
        // Cutting a long border takes time; with fewer details it is shorter.
        if (!isCut && feature.type !== POINT && drawing.isTooShortFor(parts)) drawing.stop()
        else drawing.add(insideTile(feature.type, parts, layer.extent), position)
        if (performance.now() < sliceEnd) continue
        await timeSlices.next('previews')
        sliceEnd = timeSlices.sliceEnd()
      }
    }
  }
}

class Drawing {
  readonly paths = { points: '', lines: '', areas: '', cutAreas: '' }
  maxLength = MAX_LENGTH
  readonly #minStep: number
  readonly #dotStep: number
  /** The distance of the positions of lines and areas, if they are on a grid. */
  readonly #grid: number | null
  readonly #decimals: number
  /** The cells of the grid that have a dot. */
  readonly #dots = new Set<string>()
  #isStopped = false

  constructor(degreesPerPixel: number, step: number, isCoarse: boolean) {
    this.#minStep = degreesPerPixel * step
    this.#dotStep = degreesPerPixel * Math.max(step, DOT_STEP)
    this.#grid = isCoarse ? degreesPerPixel * COARSE_GRID : null
    this.#decimals = Math.min(6, Math.max(1, Math.ceil(-Math.log10(degreesPerPixel / 4))))
  }

  get isFull(): boolean {
    const { points, lines, areas, cutAreas } = this.paths
    return this.#isStopped || points.length + lines.length + areas.length + cutAreas.length > this.maxLength
  }

  /** Ends the drawing as if it were full. */
  stop(): void {
    this.#isStopped = true
  }

  /** Whether not all of the positions could be drawn, even if each had the shortest text, such as `1 2L`. */
  isTooShortFor(parts: readonly (readonly TilePoint[])[]): boolean {
    return parts.reduce((sum, { length }) => sum + length, 0) * 4 > this.maxLength
  }

  /** Leaves out positions that are less than half a step apart. `unit` is a degree of longitude. */
  thinned(parts: readonly TilePoint[][], unit: number): TilePoint[][] {
    const minDistance = (this.#minStep * unit) / 2
    return parts.map((part) => {
      let last: TilePoint | undefined
      const kept = part.filter((point, i) => {
        const isKept = !last || i === part.length - 1 || farther(last, point, minDistance)
        if (isKept) last = point
        return isKept
      })
      // A small ring stays a ring.
      return kept.length < 4 ? part : kept
    })
  }

  add({ points, lines, areas, cutAreas }: InsideTile, positionOf: PositionOf): void {
    const { paths } = this
    for (const { x, y } of points.flat()) this.addPoint(positionOf(x, y))
    const drawn = { lines: '', areas: '', cutAreas: '' }
    for (const part of lines) drawn.lines += this.#path(part, 2, positionOf)
    for (const ring of areas) drawn.areas += closed(this.#path(ring, 3, positionOf))
    for (const ring of cutAreas) drawn.cutAreas += closed(this.#path(ring, 3, positionOf))
    paths.lines += drawn.lines
    paths.areas += drawn.areas
    paths.cutAreas += drawn.cutAreas
    // A feature that is smaller than the details is a dot, so that many small ones are not an empty map.
    const first = (lines[0] ?? areas[0] ?? cutAreas[0])?.[0]
    const isShown = drawn.lines !== '' || drawn.areas !== '' || drawn.cutAreas !== ''
    if (first && !isShown) this.#dot(positionOf(first.x, first.y))
  }

  addPoint(position: [longitude: number, latitude: number]): void {
    this.#dot(position)
  }

  #dot(position: number[]): void {
    const cell = position.map((value) => Math.round(value / this.#dotStep))
    const name = cell.join()
    if (this.#dots.has(name)) return
    this.#dots.add(name)
    this.paths.points += `M${this.#text(cell.map((number) => number * this.#dotStep))}h0`
  }

  #path(part: readonly TilePoint[], min: number, positionOf: PositionOf): string {
    const texts: string[] = []
    let last: number[] | undefined
    part.forEach(({ x, y }, i) => {
      const position = positionOf(x, y)
      const isEnd = i === part.length - 1
      if (last && !isEnd && distance(last, position) < this.#minStep) return
      const grid = this.#grid
      const text = this.#text(grid ? position.map((value) => Math.round(value / grid) * grid) : position)
      if (texts.at(-1) !== text) texts.push(text)
      last = position
    })
    return texts.length < min ? '' : `M${texts.join('L')}`
  }

  #text([x, y]: number[]): string {
    return `${Number(x!.toFixed(this.#decimals))} ${Number((-y!).toFixed(this.#decimals))}`
  }
}

/** Returns the degrees of a position in a tile. */
type PositionOf = (x: number, y: number) => [number, number]

const closed = (path: string) => (path === '' ? '' : `${path}Z`)

function farther(a: TilePoint, b: TilePoint, distance: number): boolean {
  return Math.abs(a.x - b.x) >= distance || Math.abs(a.y - b.y) >= distance
}

function distance(a: number[], b: number[]): number {
  return Math.max(Math.abs(a[0]! - b[0]!), Math.abs(a[1]! - b[1]!))
}

function positionIn({ z, x, y }: TileAddress, extent: number): PositionOf {
  const count = 2 ** z
  return (tileX, tileY) => {
    const east = (x + tileX / extent) / count
    const south = (y + tileY / extent) / count
    return [east * 360 - 180, (Math.atan(Math.sinh(Math.PI * (1 - 2 * south))) * 180) / Math.PI]
  }
}

function withinMercator([west, south, east, north]: Box): Box {
  const bounded = (latitude: number) => Math.min(MAX_LATITUDE, Math.max(-MAX_LATITUDE, latitude))
  return [west, bounded(south), east, bounded(north)]
}
