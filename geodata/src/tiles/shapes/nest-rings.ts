import { isInRing, type Rings, ringArea } from './rings.ts'

/** A ring: positions `from` to `end`, and the box around them. */
interface Ring {
  from: number
  end: number
  /** Twice its area, negative for a hole. */
  area: number
  west: number
  north: number
  east: number
  south: number
  holes: Ring[]
}

/** Outer rings, which have a positive area, from small to large, each followed by the holes that it is the smallest around. */
export function nestRings(xy: Int32Array, ends: readonly number[]): Rings {
  const rings = ringsOf(xy, ends)
  const outer = rings.filter(({ area }) => area > 0).sort((a, b) => a.area - b.area)
  for (const hole of rings) {
    if (hole.area >= 0) continue
    const around = outer.find((ring) => ring.area > -hole.area && surrounds(xy, ring, hole))
    around?.holes.push(hole)
  }
  const nested: Rings = { xy: [], ends: [] }
  const append = ({ from, end }: Ring) => {
    for (let i = from * 2; i < end * 2; i++) nested.xy.push(xy[i]!)
    nested.ends.push(nested.xy.length / 2)
  }
  for (const ring of outer) {
    append(ring)
    ring.holes.forEach(append)
  }
  return nested
}

function ringsOf(xy: Int32Array, ends: readonly number[]): Ring[] {
  let from = 0
  return ends.map((end) => {
    let [west, north, east, south] = [Infinity, Infinity, -Infinity, -Infinity]
    for (let i = from; i < end; i++) {
      west = Math.min(west, xy[i * 2]!)
      east = Math.max(east, xy[i * 2]!)
      north = Math.min(north, xy[i * 2 + 1]!)
      south = Math.max(south, xy[i * 2 + 1]!)
    }
    const ring = { from, end, area: ringArea(xy, from, end), west, north, east, south, holes: [] }
    from = end
    return ring
  })
}

/** Whether a ring surrounds another that does not cross it. The middle of an edge is never on both. */
function surrounds(xy: Int32Array, { from, end, west, north, east, south }: Ring, inner: Ring): boolean {
  const first = inner.from * 2
  const x = (xy[first]! + xy[first + 2]!) / 2
  const y = (xy[first + 1]! + xy[first + 3]!) / 2
  if (x < west || x > east || y < north || y > south) return false
  return isInRing(xy, from, end, x, y)
}
