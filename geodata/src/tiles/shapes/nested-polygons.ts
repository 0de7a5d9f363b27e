import { isInRing, type Rings, ringArea } from './rings.ts'

/** An outer ring and its holes, which follow it: positions `from` to `end`. */
interface Polygon {
  /** The number that the caller gave to it. */
  number: number
  from: number
  end: number
  /** The ends of its rings. */
  ends: number[]
  west: number
  north: number
  east: number
  south: number
}

/**
 * Marks polygons of a multipolygon that lie inside another one without meeting it, and those around them.
 * `numbers` has the polygon of each ring; pairs that are marked already are not looked at. Outer rings have
 * a positive area and holes a negative one. Returns whether it marked any.
 */
export function findNested(rings: Rings, numbers: readonly number[], touched: Uint8Array): boolean {
  const polygons = polygonsOf(rings, numbers)
  let isAny = false
  for (const inner of polygons) {
    for (const outer of polygons) {
      if (touched[inner.number] === 1 && touched[outer.number] === 1) continue
      if (inner === outer || !isBoxInside(inner, outer) || !isStartInside(rings.xy, inner, outer)) continue
      touched[inner.number] = 1
      touched[outer.number] = 1
      isAny = true
    }
  }
  return isAny
}

function polygonsOf({ xy, ends }: Rings, numbers: readonly number[]): Polygon[] {
  const polygons: Polygon[] = []
  let from = 0
  ends.forEach((end, ring) => {
    const last = polygons.at(-1)
    if (last && ringArea(xy, from, end) < 0) {
      last.end = end
      last.ends.push(end)
    } else {
      const box = { west: Infinity, north: Infinity, east: -Infinity, south: -Infinity }
      for (let i = from; i < end; i++) {
        box.west = Math.min(box.west, xy[i * 2]!)
        box.east = Math.max(box.east, xy[i * 2]!)
        box.north = Math.min(box.north, xy[i * 2 + 1]!)
        box.south = Math.max(box.south, xy[i * 2 + 1]!)
      }
      polygons.push({ number: numbers[ring]!, from, end, ends: [end], ...box })
    }
    from = end
  })
  return polygons
}

function isBoxInside(inner: Polygon, outer: Polygon): boolean {
  return (
    inner.west > outer.west &&
    inner.east < outer.east &&
    inner.north > outer.north &&
    inner.south < outer.south
  )
}

/** Whether the first position of a polygon is inside another one that it does not meet. */
function isStartInside(xy: readonly number[], inner: Polygon, { from, ends }: Polygon): boolean {
  const x = xy[inner.from * 2]!
  const y = xy[inner.from * 2 + 1]!
  let isInside = false
  let start = from
  for (const end of ends) {
    if (isInRing(xy, start, end, x, y)) isInside = !isInside
    start = end
  }
  return isInside
}
