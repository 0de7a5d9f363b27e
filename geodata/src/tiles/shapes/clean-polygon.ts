import { arrangeEdges } from './edge-arrangement.ts'
import { EdgeBoxes } from './edge-overlaps.ts'
import { findNested } from './nested-polygons.ts'
import { type Rings, reverseRing, ringArea, side } from './rings.ts'
import { traceFaces } from './trace-faces.ts'

const boxes = new EdgeBoxes()

/**
 * Makes the rings of a polygon or multipolygon valid after its positions were moved to a grid, which may have
 * made lines cross or touch. Outer rings get a positive area and stand before their holes, as MVT demands.
 * `holes` tells which rings were holes. Polygons that are valid keep their rings; the others are made anew from
 * everything that their rings wind around.
 */
export function cleanPolygon(rings: Rings, holes: readonly boolean[]): Rings {
  const polygons = polygonNumbers(rings, holes)
  const touched = new Uint8Array(rings.ends.length + 1)
  findContacts(rings, polygons, touched)
  for (;;) {
    const cleanRings: Rings = { xy: [], ends: [] }
    const keptPolygons: number[] = []
    const broken: Rings = { xy: [], ends: [] }
    let from = 0
    rings.ends.forEach((end, ring) => {
      const polygon = polygons[from]!
      const isBroken = touched[polygon] === 1
      if (!isBroken && ringArea(rings.xy, from, end) > 0 === holes[ring]) reverseRing(rings.xy, from, end)
      appendRing(isBroken ? broken : cleanRings, rings.xy, from, end)
      if (!isBroken) for (let i = from; i < end; i++) keptPolygons.push(polygon)
      from = end
    })
    const keptRings = cleanRings.ends.length
    if (broken.ends.length > 0) {
      const traced = traceFaces(arrangeEdges(broken))
      let start = 0
      for (const end of traced.ends) {
        appendRing(cleanRings, traced.xy, start, end)
        start = end
      }
    }
    if (keptRings === 0) return cleanRings
    // Rounding crossings moves edges, which may then meet a polygon that was valid: it is made anew as well. So
    // are polygons inside others, as an island is when its lake was too small to be shown.
    const made = rings.ends.length
    touched[made] = 1
    const numbers = Int32Array.from({ length: cleanRings.xy.length / 2 }, (_, i) => keptPolygons[i] ?? made)
    const meetsMade = broken.ends.length > 0 && findContacts(cleanRings, numbers, touched)
    if (!findNested(cleanRings, numbers, touched) && !meetsMade) return cleanRings
  }
}

function appendRing({ xy, ends }: Rings, from: readonly number[], start: number, end: number): void {
  for (let i = start * 2; i < end * 2; i++) xy.push(from[i]!)
  ends.push(xy.length / 2)
}

/** For each position, which polygon its ring belongs to. */
function polygonNumbers({ xy, ends }: Rings, holes: readonly boolean[]): Int32Array {
  const numbers = new Int32Array(xy.length / 2)
  let polygon = -1
  let from = 0
  ends.forEach((end, ring) => {
    if (!holes[ring]) polygon++
    numbers.fill(Math.max(0, polygon), from, end)
    from = end
  })
  return numbers
}

/**
 * Marks the polygons that have an edge which meets another edge anywhere but at the end that they share as
 * neighbours in a ring. Pairs that are marked already are not looked at. Returns whether it marked any.
 */
function findContacts({ xy, ends }: Rings, polygons: Int32Array, touched: Uint8Array): boolean {
  let isAny = false
  const count = xy.length / 2
  const next = new Int32Array(count)
  boxes.clear(count)
  let from = 0
  for (const end of ends) {
    for (let i = from; i < end; i++) {
      const to = i + 1 < end ? i + 1 : from
      next[i] = to
      boxes.add(xy[i * 2]!, xy[i * 2 + 1]!, xy[to * 2]!, xy[to * 2 + 1]!)
    }
    from = end
  }
  boxes.visitOverlaps((one, two) => {
    if (next[one] === two || next[two] === one) return
    const a = polygons[one]!
    const b = polygons[two]!
    if (touched[a] === 1 && touched[b] === 1) return
    if (!meet(xy, one, next[one]!, two, next[two]!)) return
    isAny = true
    touched[a] = 1
    touched[b] = 1
  })
  return isAny
}

/** Whether two edges whose boxes overlap have a point in common. */
function meet(xy: readonly number[], a: number, b: number, c: number, d: number): boolean {
  const ax = xy[a * 2]!
  const ay = xy[a * 2 + 1]!
  const bx = xy[b * 2]!
  const by = xy[b * 2 + 1]!
  const cx = xy[c * 2]!
  const cy = xy[c * 2 + 1]!
  const dx = xy[d * 2]!
  const dy = xy[d * 2 + 1]!
  const sideC = side(ax, ay, bx, by, cx, cy)
  const sideD = side(ax, ay, bx, by, dx, dy)
  if ((sideC > 0 && sideD > 0) || (sideC < 0 && sideD < 0)) return false
  const sideA = side(cx, cy, dx, dy, ax, ay)
  const sideB = side(cx, cy, dx, dy, bx, by)
  return !((sideA > 0 && sideB > 0) || (sideA < 0 && sideB < 0))
}
