import { cleanPolygon } from '../shapes/clean-polygon.ts'
import type { Rings } from '../shapes/rings.ts'
import type { Shape } from '../shapes/shape.ts'
import { type Grid, snapList } from '../shapes/snap-list.ts'
import type { TileAddress } from '../tile-id.ts'
import { EXTENT, tileSize, unitSize, WORLD } from '../web-mercator.ts'
import { addPoints, type PointTarget } from './encode-points.ts'
import type { FeatureBytes } from './feature-bytes.ts'
import { ALL_POINTS, POINT_BYTES, PointCells } from './point-cells.ts'
import { ShortFeatures } from './short-features.ts'
import { PIXEL, SmallParts } from './small-parts.ts'
import type { TileContent } from './tile-content.ts'
import { LINE, POINT, POLYGON, TileGeometry } from './tile-geometry.ts'
import type { TileLayer } from './tile-layer.ts'

/** How finely a tile shows its shapes. */
export interface Fineness {
  /** Tile units between neighbouring positions. */
  step: number
  /** What is smaller than a square of this side, in tile units, is added up; 0 shows every feature. */
  pixel: number
  withProperties: boolean
  /** False: features are counted in points alone. */
  withShapes: boolean
}

/** From the finest to the coarsest: the first that fits is taken. */
export const FINENESSES: readonly Fineness[] = [
  { step: 2, pixel: PIXEL, withProperties: true, withShapes: true },
  { step: 4, pixel: 2 * PIXEL, withProperties: true, withShapes: true },
  { step: 4, pixel: 2 * PIXEL, withProperties: false, withShapes: true },
  { step: 8, pixel: 4 * PIXEL, withProperties: false, withShapes: true },
  { step: 16, pixel: 8 * PIXEL, withProperties: false, withShapes: true },
  { step: 16, pixel: 8 * PIXEL, withProperties: false, withShapes: false },
]

/** The deepest zoom: every feature, as exactly as a tile can. */
export const FINEST: Fineness = { step: 1, pixel: 0, withProperties: true, withShapes: true }

/** What an encoder takes features from. */
export interface EncoderSource {
  layer: TileLayer
  bytes: FeatureBytes
  /** The size of a feature in the pack. */
  sizeOf(position: number): number
}

/** Adds the shapes of one tile to a layer. The shapes are clipped to the tile and its margin. */
export class ShapeEncoder {
  readonly #source: EncoderSource
  readonly #cells = new PointCells()
  readonly #geometry = new TileGeometry()

  constructor(source: EncoderSource) {
    this.#source = { ...source, bytes: new ShortFeatures(source.bytes) }
  }

  /** Returns false if the layer grew beyond `maxBytes`, without adding the rest. */
  encode(
    tile: TileAddress,
    shapes: Iterable<Shape>,
    fineness: Fineness,
    content: TileContent,
    maxBytes: number,
  ): boolean {
    const { layer, bytes } = this.#source
    const run = new TileRun(tile, fineness, layer, bytes, this.#geometry, content)
    const places = new Places()
    const size = tileSize(tile.z)
    for (const shape of shapes) {
      if (shape.type === POINT) places.add(shape)
      else if (fineness.withShapes) run.add(shape)
      else if (isCenterIn(shape, tile.x * size, tile.y * size, size)) places.add(shape)
      if (layer.size > maxBytes) return false
    }
    run.finish()
    if (places.count > 0) this.#addPoints(tile, places, fineness, content)
    return true
  }

  #addPoints(tile: TileAddress, places: Places, fineness: Fineness, content: TileContent): void {
    const { layer, bytes, sizeOf } = this.#source
    const { positions, multiple } = places
    const set = { ...places.set(), bytesOf: (i: number) => sizeOf(positions[i]!) }
    const maxBytes = fineness.pixel === 0 ? ALL_POINTS : fineness.withProperties ? POINT_BYTES[1]! : 0
    const shown = this.#cells.divide(tile, set, 0, places.count, maxBytes)
    const target: PointTarget = {
      layer,
      source: bytes,
      geometry: this.#geometry,
      content,
      positionOf: (i) => positions[i]!,
      placesOf: (i) => multiple.get(i) ?? null,
    }
    addPoints(target, tile, set, shown)
  }
}

/** The points of a tile among other shapes. */
class Places {
  readonly positions: number[] = []
  readonly multiple = new Map<number, Float64Array>()
  readonly #xs: number[] = []
  readonly #ys: number[] = []
  readonly #weights: number[] = []

  get count(): number {
    return this.positions.length
  }

  add(shape: Shape): void {
    if (shape.type === POINT && shape.xy.length > 2) this.multiple.set(this.count, shape.xy)
    this.positions.push(shape.position)
    this.#xs.push(centerX(shape))
    this.#ys.push(centerY(shape))
    // A multipoint with points in several tiles is counted in the tile of its first point.
    this.#weights.push(shape.isOwned ? 1 : 0)
  }

  set() {
    return {
      xs: Uint32Array.from(this.#xs),
      ys: Uint32Array.from(this.#ys),
      order: Uint32Array.from(this.#xs, (_, i) => i),
      weights: Uint8Array.from(this.#weights),
    }
  }
}

function centerX({ type, xy, minX, maxX }: Shape): number {
  return Math.min(WORLD - 1, type === POINT ? xy[0]! : Math.round((minX + maxX) / 2))
}

function centerY({ type, xy, minY, maxY }: Shape): number {
  return Math.min(WORLD - 1, type === POINT ? xy[1]! : Math.round((minY + maxY) / 2))
}

/** A shape that reaches into several tiles is counted in the one that has the middle of what is left of it. */
function isCenterIn(shape: Shape, left: number, top: number, size: number): boolean {
  const [x, y] = [centerX(shape), centerY(shape)]
  return shape.isOwned && x >= left && x < left + size && y >= top && y < top + size
}

/** One pass over the lines and polygons of a tile. */
class TileRun {
  readonly #fineness: Fineness
  readonly #layer: TileLayer
  readonly #source: FeatureBytes
  readonly #geometry: TileGeometry
  readonly #content: TileContent
  readonly #grid: Grid
  readonly #smallAreas = new SmallParts()
  readonly #smallLengths = new SmallParts()
  #smallArea: Shape | null = null
  #smallLength: Shape | null = null

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
    if (area.count > 0) {
      const side = Math.max(1, Math.round(Math.sqrt(Math.max(0, area.size))))
      this.#drawSquare(this.#smallArea!, side, area.count)
    }
    const length = this.#smallLengths.rest()
    if (length.count > 0)
      this.#drawDash(this.#smallLength!, Math.max(1, Math.round(length.size)), length.count)
  }

  #addLine(shape: Shape): void {
    const { xy, ends } = shape
    const { pixel } = this.#fineness
    const lines: Rings = { xy: [], ends: [] }
    if (pixel === 0 || this.#extent(shape) >= pixel) {
      let from = 0
      for (const end of ends) {
        if (snapList(xy, from, end, this.#grid, false, lines.xy) > 0) lines.ends.push(lines.xy.length / 2)
        from = end
      }
    }
    if (lines.ends.length > 0) {
      this.#geometry.clear()
      let from = 0
      for (const end of lines.ends) {
        this.#geometry.line(lines.xy, from, end - from)
        from = end
      }
      this.#write(shape, LINE, 1)
      return
    }
    const [x, y] = this.#center(shape)
    if (pixel === 0) {
      if (isInTile(x, y)) this.#drawDash(shape, 1, 1)
      return
    }
    if (!isInTile(x, y)) return
    this.#smallLength = shape
    const count = this.#smallLengths.add(this.#length(shape), pixel, x, y, true)
    this.#content.merged++
    if (count > 0) this.#drawDash(shape, pixel, count)
  }

  #addPolygon(shape: Shape): void {
    const { pixel, step } = this.#fineness
    const rings: Rings = { xy: [], ends: [] }
    const holes: boolean[] = []
    const small = { area: 0, x: 0, y: 0 }
    let from = 0
    let isOuterDrawn = false
    for (let ring = 0; ring < shape.ends.length; ring++) {
      const end = shape.ends[ring]!
      const isHole = shape.holes[ring] === 1
      const area = this.#area(shape.xy, from, end)
      const isLarge = pixel === 0 || area >= pixel * pixel || this.#extentOf(shape.xy, from, end) >= 4 * pixel
      const isDrawn: boolean =
        (!isHole || isOuterDrawn) && isLarge && snapList(shape.xy, from, end, this.#grid, true, rings.xy) > 0
      if (isDrawn) {
        rings.ends.push(rings.xy.length / 2)
        holes.push(isHole)
      } else if (this.#isRingInTile(shape.xy, from)) {
        // A hole that is not drawn makes what is drawn larger; one in a part that is not drawn, smaller.
        small.area += isHole ? -area : area
        small.x = (shape.xy[from * 2]! - this.#grid.left) / this.#grid.unit
        small.y = (shape.xy[from * 2 + 1]! - this.#grid.top) / this.#grid.unit
      }
      if (!isHole) isOuterDrawn = isDrawn
      from = end
    }
    const clean = rings.ends.length > 0 ? cleanPolygon(rings, holes) : rings
    const isShown = clean.ends.length > 0
    if (isShown) {
      this.#drawRings(clean)
      this.#write(shape, POLYGON, 1)
    } else if (pixel === 0) {
      const [x, y] = this.#center(shape)
      if (isInTile(x, y)) this.#drawSquare(shape, step, 1)
      return
    }
    if (small.area === 0 && isShown) return
    const [x, y] = isShown ? [small.x, small.y] : this.#center(shape)
    if (!isInTile(x, y) || pixel === 0) return
    this.#smallArea = shape
    if (!isShown) this.#content.merged++
    const count = this.#smallAreas.add(small.area, pixel * pixel, x, y, !isShown)
    if (count > 0) this.#drawSquare(shape, pixel, count)
  }

  #drawRings({ xy, ends }: Rings): void {
    this.#geometry.clear()
    let from = 0
    for (const end of ends) {
      this.#geometry.ring(xy, from, end - from)
      from = end
    }
  }

  #drawSquare(shape: Shape, side: number, count: number): void {
    const [x, y] = this.#center(shape)
    const left = Math.round(x - side / 2)
    const top = Math.round(y - side / 2)
    this.#geometry.clear()
    const square = [left, top, left + side, top, left + side, top + side, left, top + side]
    this.#geometry.ring(square, 0, 4)
    this.#write(shape, POLYGON, count)
  }

  /** Draws a line of a length through the middle of a shape, in the direction from its first to its last position. */
  #drawDash(shape: Shape, length: number, count: number): void {
    const { xy } = shape
    const dx = xy[xy.length - 2]! - xy[0]!
    const dy = xy[xy.length - 1]! - xy[1]!
    const distance = Math.hypot(dx, dy)
    const [x, y] = this.#center(shape)
    const [stepX, stepY] = distance === 0 ? [length, 0] : [(dx / distance) * length, (dy / distance) * length]
    const startX = Math.round(x - stepX / 2)
    const startY = Math.round(y - stepY / 2)
    let endX = Math.round(x + stepX / 2)
    const endY = Math.round(y + stepY / 2)
    if (startX === endX && startY === endY) endX++
    this.#geometry.clear()
    this.#geometry.line([startX, startY, endX, endY], 0, 2)
    this.#write(shape, LINE, count)
  }

  #write({ position }: Shape, type: typeof LINE | typeof POLYGON, featureCount: number): void {
    const { withProperties } = this.#fineness
    this.#source.seek(position)
    const { bytes, start, end } = this.#source
    this.#layer.add(bytes, start, end, type, this.#geometry, { withProperties, featureCount })
    this.#content.features++
    if (!withProperties) this.#content.withoutProperties++
  }

  /** The middle of a shape's box, in tile units. */
  #center({ minX, minY, maxX, maxY }: Shape): [number, number] {
    const { left, top, unit } = this.#grid
    return [((minX + maxX) / 2 - left) / unit, ((minY + maxY) / 2 - top) / unit]
  }

  #extent({ minX, minY, maxX, maxY }: Shape): number {
    return Math.max(maxX - minX, maxY - minY) / this.#grid.unit
  }

  #extentOf(xy: Float64Array, from: number, end: number): number {
    let [minX, minY, maxX, maxY] = [Infinity, Infinity, -Infinity, -Infinity]
    for (let i = from; i < end; i++) {
      minX = Math.min(minX, xy[i * 2]!)
      maxX = Math.max(maxX, xy[i * 2]!)
      minY = Math.min(minY, xy[i * 2 + 1]!)
      maxY = Math.max(maxY, xy[i * 2 + 1]!)
    }
    return Math.max(maxX - minX, maxY - minY) / this.#grid.unit
  }

  #length({ xy, ends }: Shape): number {
    let length = 0
    let from = 0
    for (const end of ends) {
      for (let i = from + 1; i < end; i++)
        length += Math.hypot(xy[i * 2]! - xy[i * 2 - 2]!, xy[i * 2 + 1]! - xy[i * 2 - 1]!)
      from = end
    }
    return length / this.#grid.unit
  }

  /** The area of a ring in square tile units, computed from its first position on to keep it precise. */
  #area(xy: Float64Array, from: number, end: number): number {
    const { unit } = this.#grid
    const [x0, y0] = [xy[from * 2]!, xy[from * 2 + 1]!]
    let area = 0
    let [bx, by] = [0, 0]
    for (let i = from + 1; i < end; i++) {
      const x = (xy[i * 2]! - x0) / unit
      const y = (xy[i * 2 + 1]! - y0) / unit
      area += bx * y - x * by
      bx = x
      by = y
    }
    return Math.abs(area) / 2
  }

  #isRingInTile(xy: Float64Array, from: number): boolean {
    const { left, top, unit } = this.#grid
    return isInTile((xy[from * 2]! - left) / unit, (xy[from * 2 + 1]! - top) / unit)
  }
}

function isInTile(x: number, y: number): boolean {
  return x >= 0 && x < EXTENT && y >= 0 && y < EXTENT
}
