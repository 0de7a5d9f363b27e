import { cleanPolygon } from '../shapes/clean-polygon.ts'
import { lineLength, listBox, ringAreaIn } from '../shapes/measure-list.ts'
import { type Rings, ringArea } from '../shapes/rings.ts'
import type { Shape } from '../shapes/shape.ts'
import { type Grid, snapList } from '../shapes/snap-list.ts'
import { LINE, POLYGON, type TileGeometry } from '../tile-geometry.ts'
import type { TileAddress } from '../tile-id.ts'
import { EXTENT, tileSize, unitSize, WORLD } from '../web-mercator.ts'
import type { FeatureBytes } from './feature-bytes.ts'
import type { Fineness } from './fineness.ts'
import { SmallParts } from './small-parts.ts'
import type { TileContent } from './tile-content.ts'
import type { TileLayer } from './tile-layer.ts'

/** How many places on a thin ring are tried until one is in the tile. */
const PLACES_TRIED = 8

/** A place in tile units. */
type Place = [x: number, y: number]

/** The last shape with a part that was too small to be drawn, and the place of that part. */
interface LastSmall {
  shape: Shape
  place: Place
}

/** Draws the lines and polygons of a tile: one pass over them, and then `finish`. */
export class DrawnShapes {
  readonly #fineness: Fineness
  readonly #layer: TileLayer
  readonly #source: FeatureBytes
  readonly #geometry: TileGeometry
  readonly #content: TileContent
  readonly #grid: Grid
  readonly #smallAreas = new SmallParts()
  readonly #smallLengths = new SmallParts()
  #lastArea: LastSmall | null = null
  #lastLength: LastSmall | null = null

  constructor(
    { z, x, y }: TileAddress,
    fineness: Fineness,
    layer: TileLayer,
    source: FeatureBytes,
    geometry: TileGeometry,
    content: TileContent,
  ) {
    this.#fineness = fineness
    this.#layer = layer
    this.#source = source
    this.#geometry = geometry
    this.#content = content
    const size = tileSize(z)
    this.#grid = { left: x * size, top: y * size, unit: unitSize(z), step: fineness.step }
  }

  add(shape: Shape): void {
    if (shape.type === LINE) this.#addLine(shape)
    else this.#addPolygon(shape)
  }

  /** Draws what is left of the parts that did not make up a whole pixel. */
  finish(): void {
    const area = this.#smallAreas.rest()
    if (area.features > 0) {
      const { shape, place } = this.#lastArea!
      this.#drawSquare(shape, place, Math.max(1, Math.round(Math.sqrt(area.size))), area.features)
    }
    const length = this.#smallLengths.rest()
    if (length.features > 0) {
      const { shape, place } = this.#lastLength!
      this.#drawDash(shape, place, Math.max(1, Math.round(length.size)), length.features)
    }
  }

  #addLine(shape: Shape): void {
    const { xy, ends } = shape
    const { pixel } = this.#fineness
    const { unit } = this.#grid
    const isLarge = pixel === 0 || this.#extent(shape) >= pixel
    const line: number[] = []
    let isShown = false
    let isSmallHere = false
    let dashes = 0
    let from = 0
    this.#geometry.clear()
    for (const end of ends) {
      line.length = 0
      if (isLarge && snapList(xy, from, end, this.#grid, false, line) > 0) {
        this.#geometry.line(line, 0, line.length / 2)
        isShown = true
      } else if (pixel > 0) {
        const place = this.#middle(...listBox(xy, from, end))
        if (isInTile(place)) {
          isSmallHere = true
          this.#lastLength = { shape, place }
          // A line that turns around within a pixel looks no longer than one pixel.
          const length = Math.min(pixel, lineLength(xy, from, end, unit))
          if (this.#smallLengths.add(length, pixel) > 0) {
            this.#geometry.line(dash(xy, from, end, place, pixel), 0, 2)
            dashes++
          }
        }
      }
      from = end
    }
    if (isShown || isSmallHere) this.#writeParts(shape, LINE, this.#smallLengths, isShown, dashes)
    else if (pixel === 0) {
      const place = this.#middleOf(shape)
      if (isInTile(place)) this.#drawDash(shape, place, 1, 1)
    }
  }

  #addPolygon(shape: Shape): void {
    const { pixel, step } = this.#fineness
    const drawn = new DrawnRings()
    const area = this.#addParts(shape, drawn)
    let clean = drawn.clean()
    const isShown = clean.ends.length > 0 && drawn.rings.ends.length > drawn.squares
    if (!isShown && area > 0 && pixel > 0) {
      // The rings that were large enough have no area on the grid.
      const place = this.#placeOf(shape.xy, 0, shape.ends[0]!)
      if (place) this.#addSquares(shape, area, 0, shape.ends[0]!, place, drawn)
      clean = drawn.clean()
    }
    this.#drawRings(clean)
    if (isShown || drawn.isSmallHere)
      this.#writeParts(shape, POLYGON, this.#smallAreas, isShown, drawn.squares)
    else if (pixel === 0) {
      const place = this.#placeOf(shape.xy, 0, shape.ends[0]!)
      if (place) this.#drawSquare(shape, place, step, 1)
    }
  }

  /** Adds the rings that are large enough and pixels for the others. Returns the area within the former. */
  #addParts(shape: Shape, drawn: DrawnRings): number {
    const { xy, ends, holes } = shape
    let drawnArea = 0
    let from = 0
    for (let ring = 0; ring < ends.length; ) {
      const [start, end] = [from, ends[ring]!]
      let area = ringAreaIn(xy, start, end, this.#grid.unit)
      const isDrawn = this.#addRing(xy, start, end, area, false, drawn)
      from = end
      // A hole that is too small is filled; one in a part that is not drawn makes it smaller.
      for (ring++; holes[ring] === 1; ring++) {
        const hole = ringAreaIn(xy, from, ends[ring]!, this.#grid.unit)
        if (!isDrawn || this.#addRing(xy, from, ends[ring]!, hole, true, drawn)) area -= hole
        from = ends[ring]!
      }
      if (isDrawn) drawnArea += area
      else if (this.#fineness.pixel > 0) {
        const place = this.#placeOf(xy, start, end)
        if (place) this.#addSquares(shape, area, start, end, place, drawn)
      }
    }
    return drawnArea
  }

  #addRing(
    xy: Float64Array,
    from: number,
    end: number,
    area: number,
    isHole: boolean,
    { rings, holes }: DrawnRings,
  ): boolean {
    const { pixel } = this.#fineness
    const isLarge =
      pixel === 0 || area >= pixel * pixel || this.#extentOf(listBox(xy, from, end)) >= 4 * pixel
    if (!isLarge || snapList(xy, from, end, this.#grid, true, rings.xy) === 0) return false
    rings.ends.push(rings.xy.length / 2)
    holes.push(isHole)
    return true
  }

  /** Adds the pixels that stand for a part of a shape: one at its place, several along its outline. */
  #addSquares(shape: Shape, area: number, from: number, end: number, place: Place, drawn: DrawnRings): void {
    const { pixel } = this.#fineness
    this.#lastArea = { shape, place }
    drawn.isSmallHere = true
    const count = this.#smallAreas.add(Math.max(0, area), pixel * pixel)
    if (count === 1) drawn.addSquare(place, pixel)
    else if (count > 1) {
      // Those in the margin are in the tile next to it.
      for (const along of this.#alongRing(shape.xy, from, end, count))
        if (isInTile(along)) drawn.addSquare(along, pixel)
    }
  }

  /**
   * Where a ring that is too small or too thin is drawn: in the middle of its box, or on itself if that is large.
   * Null if that is not in the tile.
   */
  #placeOf(xy: Float64Array, from: number, end: number): Place | null {
    const box = listBox(xy, from, end)
    if (this.#extentOf(box) < 4 * Math.max(1, this.#fineness.pixel)) {
      const middle = this.#middle(...box)
      return isInTile(middle) ? middle : null
    }
    return this.#alongRing(xy, from, end, PLACES_TRIED).find(isInTile) ?? null
  }

  /** `count` places on a ring, at equal distances. */
  #alongRing(xy: Float64Array, from: number, end: number, count: number): Place[] {
    const places: Place[] = []
    let perimeter = 0
    for (let i = from; i < end; i++) perimeter += sideLength(xy, i, i + 1 < end ? i + 1 : from)
    let walked = 0
    for (let i = from; i < end && places.length < count; i++) {
      const next = i + 1 < end ? i + 1 : from
      const length = sideLength(xy, i, next)
      for (;;) {
        const at = ((places.length + 0.5) * perimeter) / count - walked
        if (at > length || places.length === count) break
        const share = length === 0 ? 0 : at / length
        const x = xy[i * 2]! + (xy[next * 2]! - xy[i * 2]!) * share
        const y = xy[i * 2 + 1]! + (xy[next * 2 + 1]! - xy[i * 2 + 1]!) * share
        places.push(this.#middle(x, y, x, y))
      }
      walked += length
    }
    return places
  }

  /** Writes a shape of which something is drawn or was too small. `pixels` of it stand for small parts. */
  #writeParts(
    shape: Shape,
    type: typeof LINE | typeof POLYGON,
    small: SmallParts,
    isShown: boolean,
    pixels: number,
  ): void {
    if (!isShown) {
      small.addFeature()
      this.#content.merged++
      if (pixels === 0) return
    }
    const others = pixels > 0 ? small.takeFeatures() : 0
    this.#write(shape, type, isShown ? others + 1 : others)
  }

  #drawRings({ xy, ends }: Rings): void {
    this.#geometry.clear()
    let from = 0
    for (const end of ends) {
      this.#geometry.ring(xy, from, end - from)
      from = end
    }
  }

  #drawSquare(shape: Shape, place: Place, side: number, featureCount: number): void {
    this.#geometry.clear()
    this.#geometry.ring(square(place, side, true), 0, 4)
    this.#write(shape, POLYGON, featureCount)
  }

  #drawDash(shape: Shape, place: Place, length: number, featureCount: number): void {
    this.#geometry.clear()
    this.#geometry.line(dash(shape.xy, 0, shape.xy.length / 2, place, length), 0, 2)
    this.#write(shape, LINE, featureCount)
  }

  #write({ position }: Shape, type: typeof LINE | typeof POLYGON, featureCount: number): void {
    const { withProperties } = this.#fineness
    this.#source.seek(position)
    const { bytes, start, end } = this.#source
    this.#layer.add(bytes, start, end, type, this.#geometry, { withProperties, featureCount })
    this.#content.features++
    if (!withProperties) this.#content.withoutProperties++
  }

  #middleOf({ minX, minY, maxX, maxY }: Shape): Place {
    return this.#middle(minX, minY, maxX, maxY)
  }

  /** The middle of a box. On the world's last edge it is in the last tile, not in one beyond it. */
  #middle(minX: number, minY: number, maxX: number, maxY: number): Place {
    const { left, top, unit } = this.#grid
    return [
      (Math.min(WORLD - 1, (minX + maxX) / 2) - left) / unit,
      (Math.min(WORLD - 1, (minY + maxY) / 2) - top) / unit,
    ]
  }

  #extent({ minX, minY, maxX, maxY }: Shape): number {
    return this.#extentOf([minX, minY, maxX, maxY])
  }

  #extentOf([minX, minY, maxX, maxY]: readonly [number, number, number, number]): number {
    return Math.max(maxX - minX, maxY - minY) / this.#grid.unit
  }
}

/** The rings that are drawn for a polygon. */
class DrawnRings {
  readonly rings: Rings = { xy: [], ends: [] }
  readonly holes: boolean[] = []
  /** How many of the rings are pixels that stand for small parts. */
  squares = 0
  /** Whether the tile has a part that is too small to be drawn. */
  isSmallHere = false
  #isForward: boolean | null = null

  addSquare(place: Place, side: number): void {
    const { xy, ends } = this.rings
    // In the direction of the other rings, so that overlaps do not become holes.
    this.#isForward ??= ends.length === 0 || ringArea(xy, 0, ends[0]!) >= 0
    xy.push(...square(place, side, this.#isForward))
    ends.push(xy.length / 2)
    this.holes.push(false)
    this.squares++
  }

  clean(): Rings {
    return this.rings.ends.length > 0 ? cleanPolygon(this.rings, this.holes) : this.rings
  }
}

function sideLength(xy: Float64Array, from: number, to: number): number {
  return Math.hypot(xy[to * 2]! - xy[from * 2]!, xy[to * 2 + 1]! - xy[from * 2 + 1]!)
}

function isInTile([x, y]: Place): boolean {
  return x >= 0 && x < EXTENT && y >= 0 && y < EXTENT
}

function square([x, y]: Place, side: number, isForward: boolean): number[] {
  const left = Math.round(x - side / 2)
  const top = Math.round(y - side / 2)
  const [right, bottom] = [left + side, top + side]
  return isForward
    ? [left, top, right, top, right, bottom, left, bottom]
    : [left, top, left, bottom, right, bottom, right, top]
}

/** A line of a length through a place, in the direction from the first to the last position of another. */
function dash(xy: Float64Array, from: number, end: number, [x, y]: Place, length: number): number[] {
  const dx = xy[end * 2 - 2]! - xy[from * 2]!
  const dy = xy[end * 2 - 1]! - xy[from * 2 + 1]!
  const distance = Math.hypot(dx, dy)
  const [stepX, stepY] = distance === 0 ? [length, 0] : [(dx / distance) * length, (dy / distance) * length]
  const startX = Math.round(x - stepX / 2)
  const startY = Math.round(y - stepY / 2)
  let endX = Math.round(x + stepX / 2)
  const endY = Math.round(y + stepY / 2)
  if (startX === endX && startY === endY) endX++
  return [startX, startY, endX, endY]
}
