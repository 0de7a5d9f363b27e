import type { Position } from '../feature.ts'
import { orient2d } from '../predicates/orient2d.ts'
import type { Bbox } from './bbox.ts'

/** The number of segments that share a bounding box. */
const STRETCH = 32

/**
 * The lines of a geometry, or the rings of a polygon, as flat arrays, divided into stretches with bounding
 * boxes. A query box is then only compared with the few segments near it; a country has ten thousand.
 */
export class Outline {
  readonly #isArea: boolean
  /** The x and y of every vertex, line after line. */
  readonly #vertices: Float64Array
  /** The first and the last vertex of every stretch; the next one of the same line begins at the last. */
  readonly #ends: Int32Array
  /** West, south, east and north of every stretch. */
  readonly #boxes: Float64Array

  constructor(lines: Position[][], isArea: boolean) {
    this.#isArea = isArea
    const vertices = lines.reduce((sum, line) => sum + line.length, 0)
    const stretches = lines.reduce((sum, { length }) => sum + stretchesOf(length), 0)
    this.#vertices = new Float64Array(vertices * 2)
    this.#ends = new Int32Array(stretches * 2)
    this.#boxes = new Float64Array(stretches * 4)
    let first = 0
    let stretch = 0
    for (const line of lines) {
      for (const [i, position] of line.entries()) {
        this.#vertices[(first + i) * 2] = position[0]!
        this.#vertices[(first + i) * 2 + 1] = position[1]!
      }
      const last = first + line.length - 1
      for (let i = 0; i < stretchesOf(line.length); i++) {
        this.#setStretch(stretch++, first + i * STRETCH, Math.min(first + (i + 1) * STRETCH, last))
      }
      first = last + 1
    }
  }

  /** Whether the box intersects the outline; touching counts. West must not be greater than east. */
  meets(box: Bbox): boolean {
    const [west, south, east, north] = box
    const boxes = this.#boxes
    for (let at = 0; at < boxes.length; at += 4) {
      const w = boxes[at]!
      const s = boxes[at + 1]!
      const e = boxes[at + 2]!
      const n = boxes[at + 3]!
      if (e < west || w > east || n < south || s > north) continue
      if (w >= west && e <= east && s >= south && n <= north) return true
      if (this.#stretchMeets(at / 4, west, south, east, north)) return true
    }
    // No edge intersects the box, so it is completely inside or outside; test one of its corners.
    return this.#isArea && this.#holds(west, south)
  }

  #setStretch(stretch: number, first: number, last: number): void {
    this.#ends[stretch * 2] = first
    this.#ends[stretch * 2 + 1] = last
    let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
    for (let i = first; i <= last; i++) {
      const x = this.#vertices[i * 2]!
      const y = this.#vertices[i * 2 + 1]!
      if (x < west) west = x
      if (x > east) east = x
      if (y < south) south = y
      if (y > north) north = y
    }
    this.#boxes.set([west, south, east, north], stretch * 4)
  }

  #stretchMeets(stretch: number, west: number, south: number, east: number, north: number): boolean {
    const vertices = this.#vertices
    const last = this.#ends[stretch * 2 + 1]! * 2
    for (let at = this.#ends[stretch * 2]! * 2; at < last; at += 2) {
      const ax = vertices[at]!
      const ay = vertices[at + 1]!
      const bx = vertices[at + 2]!
      const by = vertices[at + 3]!
      if ((ax < west && bx < west) || (ax > east && bx > east)) continue
      if ((ay < south && by < south) || (ay > north && by > north)) continue
      if (segmentMeets(ax, ay, bx, by, west, south, east, north)) return true
    }
    return false
  }

  /** Counts the edges that a ray to the east crosses, over all rings, so that holes are outside. */
  #holds(x: number, y: number): boolean {
    const vertices = this.#vertices
    const boxes = this.#boxes
    let inside = false
    for (let stretch = 0; stretch * 4 < boxes.length; stretch++) {
      const box = stretch * 4
      if (boxes[box + 1]! > y || boxes[box + 3]! <= y || boxes[box + 2]! < x) continue
      const first = this.#ends[stretch * 2]! * 2
      const last = this.#ends[stretch * 2 + 1]! * 2
      if (boxes[box]! > x) {
        // Completely to the east: its two ends tell whether it crosses the ray an odd number of times.
        if (vertices[first + 1]! > y !== vertices[last + 1]! > y) inside = !inside
        continue
      }
      for (let at = first; at < last; at += 2) {
        const ay = vertices[at + 1]!
        const by = vertices[at + 3]!
        if (ay > y === by > y) continue
        const side = orient2d(vertices[at]!, ay, vertices[at + 2]!, by, x, y)
        if (by > ay ? side > 0 : side < 0) inside = !inside
      }
    }
    return inside
  }
}

/** A line with one vertex is a stretch without segments. */
function stretchesOf(vertices: number): number {
  return vertices < 2 ? vertices : Math.ceil((vertices - 1) / STRETCH)
}

/** For overlapping extents, they intersect unless all corners of the box are on one side of the segment. */
function segmentMeets(
  ax: number,
  ay: number,
  bx: number,
  by: number,
  west: number,
  south: number,
  east: number,
  north: number,
): boolean {
  if (ax >= west && ax <= east && ay >= south && ay <= north) return true
  if (bx >= west && bx <= east && by >= south && by <= north) return true
  const southWest = Math.sign(orient2d(ax, ay, bx, by, west, south))
  return (
    southWest === 0 ||
    southWest !== Math.sign(orient2d(ax, ay, bx, by, east, south)) ||
    southWest !== Math.sign(orient2d(ax, ay, bx, by, east, north)) ||
    southWest !== Math.sign(orient2d(ax, ay, bx, by, west, north))
  )
}
