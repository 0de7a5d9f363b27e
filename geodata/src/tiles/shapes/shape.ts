import type { FlatGeometry } from '../../exports/geometry/flat-geometry.ts'
import {
  COLLECTION,
  LINE_STRING,
  MULTI_LINE_STRING,
  MULTI_POINT,
  POINT as WKB_POINT,
} from '../../exports/geometry/geometry-bytes.ts'
import { LINE, POINT, POLYGON, type TileGeometryType } from '../tile-geometry.ts'
import { WORLD, worldX, worldY } from '../web-mercator.ts'

/**
 * A part of a feature, or all of it, in world coordinates. A collection becomes one shape for each type that it
 * has.
 */
export interface Shape {
  /** The feature's position in the snapshot. */
  position: number
  type: TileGeometryType
  /** x and y in turn. Rings do not repeat their first position. */
  xy: Float64Array
  /** The end of each line or ring, as an index of positions. Points are one list. */
  ends: Int32Array
  /** For polygons: 1 if the ring is a hole in the outer ring before it. */
  holes: Uint8Array
  /** Where the feature begins, also if that part was clipped off; the tile that has it counts the feature. */
  startX: number
  startY: number
  /** Whether the shape counts as its feature: of a collection only the first does. */
  isCounted: boolean
  minX: number
  minY: number
  maxX: number
  maxY: number
}

/** The shapes of a geometry, which has been read from the pack. Empty geometries have none. */
export function shapesOf(geometry: FlatGeometry, position: number): Shape[] {
  const leaves = geometry.code === COLLECTION ? geometry.leaves() : [geometry]
  const shapes: Shape[] = []
  for (const type of [POINT, LINE, POLYGON] as const) {
    const members = leaves.filter((leaf) => leaf.points > 0 && typeOf(leaf.code) === type)
    if (members.length > 0) shapes.push(joined(members, position, type))
  }
  // A collection is counted once.
  shapes.forEach((shape, i) => {
    shape.isCounted = i === 0
  })
  return shapes
}

function typeOf(code: number): TileGeometryType {
  if (code === WKB_POINT || code === MULTI_POINT) return POINT
  return code === LINE_STRING || code === MULTI_LINE_STRING ? LINE : POLYGON
}

function joined(members: readonly FlatGeometry[], position: number, type: TileGeometryType): Shape {
  const builder = new ShapeBuilder()
  for (const { xy, points, rings, ringCount, parts, partCount } of members) {
    if (type === POINT) {
      // A point on the world's last edge belongs to the last tile, not to one beyond it.
      for (let i = 0; i < points; i++)
        builder.add(Math.min(WORLD - 1, worldX(xy[i * 2]!)), Math.min(WORLD - 1, worldY(xy[i * 2 + 1]!)))
      continue
    }
    const firstRings = new Set<number>([0, ...parts.subarray(0, partCount)])
    let from = 0
    for (let ring = 0; ring < ringCount; ring++) {
      const end = rings[ring]!
      // GeoJSON rings end with a copy of their first position.
      const to = type === POLYGON ? end - 1 : end
      for (let i = from; i < to; i++) builder.add(worldX(xy[i * 2]!), worldY(xy[i * 2 + 1]!))
      builder.endList(type === POLYGON && !firstRings.has(ring))
      from = end
    }
  }
  if (type === POINT) builder.endList(false)
  return builder.finish({ position, type, isCounted: true })
}

type Start = Pick<Shape, 'startX' | 'startY'>

/** Collects positions and lists of a shape; used again for one shape after the other. */
export class ShapeBuilder {
  #xy = new Float64Array(1024)
  #count = 0
  #ends: number[] = []
  #holes: number[] = []

  add(x: number, y: number): void {
    if (this.#count * 2 === this.#xy.length) {
      const larger = new Float64Array(this.#xy.length * 2)
      larger.set(this.#xy)
      this.#xy = larger
    }
    this.#xy[this.#count * 2] = x
    this.#xy[this.#count * 2 + 1] = y
    this.#count++
  }

  /** The number of positions since the last list ended. */
  get listLength(): number {
    return this.#count - (this.#ends.at(-1) ?? 0)
  }

  /** Discards the positions since the last list ended. */
  dropList(): void {
    this.#count = this.#ends.at(-1) ?? 0
  }

  endList(isHole: boolean): void {
    this.#ends.push(this.#count)
    this.#holes.push(isHole ? 1 : 0)
  }

  get isEmpty(): boolean {
    return this.#ends.length === 0 || this.#count === 0
  }

  /** `whole` is the shape of which this is a part; without a start, this is all of it. */
  finish(whole: Pick<Shape, 'position' | 'type' | 'isCounted'> & Partial<Start>): Shape {
    const { position, type, isCounted } = whole
    const xy = this.#xy.slice(0, this.#count * 2)
    let [minX, minY, maxX, maxY] = [Infinity, Infinity, -Infinity, -Infinity]
    for (let i = 0; i < xy.length; i += 2) {
      const x = xy[i]!
      const y = xy[i + 1]!
      if (x < minX) minX = x
      if (x > maxX) maxX = x
      if (y < minY) minY = y
      if (y > maxY) maxY = y
    }
    const shape: Shape = {
      position,
      type,
      xy,
      ends: new Int32Array(this.#ends),
      holes: new Uint8Array(this.#holes),
      // A shape on the world's last edge belongs to the last tile, not to one beyond it.
      startX: whole.startX ?? Math.min(WORLD - 1, xy[0]!),
      startY: whole.startY ?? Math.min(WORLD - 1, xy[1]!),
      isCounted,
      minX,
      minY,
      maxX,
      maxY,
    }
    this.#count = 0
    this.#ends = []
    this.#holes = []
    return shape
  }
}
