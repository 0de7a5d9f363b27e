import { arrangeEdges } from './edge-arrangement.ts'
import { EdgeBoxes } from './edge-overlaps.ts'
import { findNested } from './nested-polygons.ts'
import { type Rings, ringArea, side } from './rings.ts'
import { traceFaces } from './trace-faces.ts'

/** The edges of the polygon at hand: edge i begins at position i. */
const boxes = new EdgeBoxes()

/**
 * Makes the rings of a polygon or multipolygon valid after its positions were moved to a grid, which may have
 * made lines cross or touch. Outer rings get a positive area and stand before their holes, as MVT demands.
 * `holes` tells which rings were holes. Polygons that are valid keep their rings; the others are made anew from
 * everything that their rings wind around.
 */
export function cleanPolygon(rings: Rings, holes: readonly boolean[]): Rings {
  const polygons = new Polygons(rings, holes)
  polygons.findContacts()
  for (;;) {
    const { kept, keptPolygons, broken } = polygons.divide()
    const faces = broken.ends.length > 0 ? traceFaces(arrangeEdges(broken)) : null
    if (faces !== null) appendRings(kept, faces.rings)
    if (keptPolygons.length === 0 || polygons.made === 1) return kept
    // Rounding crossings moves edges, which may then meet a polygon that was valid: it is made anew as well. So
    // are polygons inside others, as an island is when its lake was too small to be shown.
    const meetsMoved = faces !== null && polygons.findContactsWith(faces.moved)
    const numbers = kept.ends.map((_, ring) => keptPolygons[ring] ?? polygons.made)
    if (!findNested(kept, numbers, polygons.touched) && !meetsMoved) return kept
  }
}

/** The polygons of a multipolygon, and which of them must be made anew. */
class Polygons {
  /** By polygon: 1 if it meets itself or another one. */
  readonly touched: Uint8Array
  /** The number that stands for everything that was made anew. */
  readonly made: number
  readonly #rings: Rings
  readonly #holes: readonly boolean[]
  /** By ring. */
  readonly #polygons: number[] = []
  /** By position: its polygon, and the next position of its ring. */
  readonly #polygonAt: Int32Array
  readonly #next: Int32Array

  constructor(rings: Rings, holes: readonly boolean[]) {
    this.#rings = rings
    this.#holes = holes
    this.#polygonAt = new Int32Array(rings.xy.length / 2)
    this.#next = new Int32Array(rings.xy.length / 2)
    let polygon = -1
    let from = 0
    rings.ends.forEach((end, ring) => {
      if (!holes[ring] || polygon < 0) polygon++
      this.#polygons.push(polygon)
      this.#polygonAt.fill(polygon, from, end)
      for (let i = from; i < end; i++) this.#next[i] = i + 1 < end ? i + 1 : from
      from = end
    })
    this.made = polygon + 1
    this.touched = new Uint8Array(polygon + 2)
    this.touched[this.made] = 1
  }

  /** The rings of polygons that are kept, in the right direction, with their polygons, and those of the others. */
  divide(): { kept: Rings; keptPolygons: number[]; broken: Rings } {
    const { xy, ends } = this.#rings
    const kept: Rings = { xy: [], ends: [] }
    const keptPolygons: number[] = []
    const broken: Rings = { xy: [], ends: [] }
    let from = 0
    ends.forEach((end, ring) => {
      const polygon = this.#polygons[ring]!
      if (this.touched[polygon] === 1) appendRing(broken, xy, from, end)
      else {
        const isBackward = ringArea(xy, from, end) > 0 === this.#holes[ring]
        if (isBackward) appendReversed(kept, xy, from, end)
        else appendRing(kept, xy, from, end)
        keptPolygons.push(polygon)
      }
      from = end
    })
    return { kept, keptPolygons, broken }
  }

  /**
   * Marks the polygons that have an edge which meets another edge anywhere but at the end that they share as
   * neighbours in a ring.
   */
  findContacts(): void {
    const { xy } = this.#rings
    const { touched } = this
    const next = this.#next
    boxes.clear(next.length)
    for (let i = 0; i < next.length; i++) {
      const to = next[i]! * 2
      boxes.add(xy[i * 2]!, xy[i * 2 + 1]!, xy[to]!, xy[to + 1]!)
    }
    boxes.fillBands(false)
    let untouched = this.made
    boxes.visitOverlaps((one, two) => {
      if (next[one] === two || next[two] === one) return true
      const a = this.#polygonAt[one]!
      const b = this.#polygonAt[two]!
      if (touched[a] === 1 && touched[b] === 1) return true
      if (!meet(xy, one, next[one]!, xy, two, next[two]!)) return true
      for (const polygon of [a, b]) {
        if (touched[polygon] === 0) untouched--
        touched[polygon] = 1
      }
      return untouched > 0
    })
  }

  /**
   * Marks the polygons that meet edges which were moved: the coordinates of both ends in turn. Returns whether it
   * marked any.
   */
  findContactsWith(moved: readonly number[]): boolean {
    const { xy } = this.#rings
    let isAny = false
    for (let i = 0; i < moved.length; i += 4) {
      const top = Math.min(moved[i + 1]!, moved[i + 3]!)
      const bottom = Math.max(moved[i + 1]!, moved[i + 3]!)
      boxes.visitBox(moved[i]!, top, moved[i + 2]!, bottom, (edge) => {
        const polygon = this.#polygonAt[edge]!
        if (this.touched[polygon] === 1) return
        if (!meet(xy, edge, this.#next[edge]!, moved, i / 2, i / 2 + 1)) return
        this.touched[polygon] = 1
        isAny = true
      })
    }
    return isAny
  }
}

function appendRings(target: Rings, { xy, ends }: Rings): void {
  let from = 0
  for (const end of ends) {
    appendRing(target, xy, from, end)
    from = end
  }
}

function appendRing(target: Rings, xy: readonly number[], from: number, end: number): void {
  for (let i = from * 2; i < end * 2; i++) target.xy.push(xy[i]!)
  target.ends.push(target.xy.length / 2)
}

function appendReversed(target: Rings, xy: readonly number[], from: number, end: number): void {
  for (let i = end - 1; i >= from; i--) target.xy.push(xy[i * 2]!, xy[i * 2 + 1]!)
  target.ends.push(target.xy.length / 2)
}

/** Whether the edge a b of one list of positions and c d of another, whose boxes overlap, have a point in common. */
function meet(
  xy: readonly number[],
  a: number,
  b: number,
  others: readonly number[],
  c: number,
  d: number,
): boolean {
  const ax = xy[a * 2]!
  const ay = xy[a * 2 + 1]!
  const bx = xy[b * 2]!
  const by = xy[b * 2 + 1]!
  const cx = others[c * 2]!
  const cy = others[c * 2 + 1]!
  const dx = others[d * 2]!
  const dy = others[d * 2 + 1]!
  const sideC = side(ax, ay, bx, by, cx, cy)
  const sideD = side(ax, ay, bx, by, dx, dy)
  if ((sideC > 0 && sideD > 0) || (sideC < 0 && sideD < 0)) return false
  const sideA = side(cx, cy, dx, dy, ax, ay)
  const sideB = side(cx, cy, dx, dy, bx, by)
  return !((sideA > 0 && sideB > 0) || (sideA < 0 && sideB < 0))
}
