type Ring = number[][]

/**
 * The atlas has rings that cross the antimeridian and enclose the pole, which is right for a globe. On a map
 * such an edge spans the whole world, so RFC 7946 (section 3.1.9) requires geometries to be cut there.
 */
export function cutAtAntimeridian(polygon: Ring[]): Ring[][] {
  // The atlas leaves a hole of a thousandth of a degree around a pole because of its own cut; drop it.
  const [outer = [], ...holes] = polygon.filter((ring) =>
    ring.some(([, latitude]) => Math.abs(latitude!) < 89.99),
  )
  const pieces = cutRing(outer)
  if (pieces.length === 1) return [[pieces[0]!, ...holes]]
  return pieces.map((piece) => [piece, ...holes.filter((hole) => isWithin(hole[0]!, piece))])
}

function cutRing(ring: Ring): Ring[] {
  const line = unwrap(ring)
  const turn = line.at(-1)![0]! - line[0]![0]!
  if (Math.abs(turn) > 180) return [aroundPole(line)]
  const longitudes = line.map(([longitude]) => longitude!)
  const west = Math.floor((Math.min(...longitudes) + 180) / 360)
  const east = Math.ceil((Math.max(...longitudes) + 180) / 360) - 1
  const pieces: Ring[] = []
  for (let world = west; world <= east; world++) {
    const strip = clip(clip(line, world * 360 - 180, 1), world * 360 + 180, -1)
    if (strip.length < 3) continue
    const piece = strip.map(([longitude, latitude]) => [longitude! - world * 360, latitude!])
    pieces.push([...piece, [...piece[0]!]])
  }
  return pieces
}

/** Shifts each position to within half a turn of the previous one: edges become as short as on a globe. */
function unwrap(ring: Ring): Ring {
  let shift = 0
  return ring.map(([longitude, latitude], i) => {
    if (i > 0) {
      const step = longitude! - ring[i - 1]![0]!
      if (step > 180) shift -= 360
      else if (step < -180) shift += 360
    }
    return [longitude! + shift, latitude!]
  })
}

/** A ring once around the world starts and ends at the antimeridian, and is closed along its pole. */
function aroundPole(line: Ring): Ring {
  const turn = line.at(-1)![0]! - line[0]![0]!
  const way = Math.sign(turn)
  const pole = line.reduce((sum, [, latitude]) => sum + latitude!, 0) < 0 ? -90 : 90
  const meridian = Math.floor((Math.min(line[0]![0]!, line.at(-1)![0]!) + 180) / 360) * 360 + 180
  const isPast = ([longitude]: number[]) => (longitude! - meridian) * way >= 0
  // There is no crossing if the ring starts at the antimeridian itself.
  const crossing = Math.max(
    0,
    line.findIndex((here, i) => i > 0 && isPast(here) && !isPast(line[i - 1]!)),
  )
  const latitude = crossing === 0 ? line[0]![1]! : latitudeAt(meridian, line[crossing - 1]!, line[crossing]!)
  const inWorld = (longitude: number) => Math.max(-180, Math.min(180, longitude - meridian - 180 * way))
  const turned = [
    ...line.slice(crossing),
    ...line.slice(1, crossing).map(([longitude, y]) => [longitude! + turn, y!]),
  ].map(([longitude, y]) => [inWorld(longitude!), y!])
  const [start, end] = [-180 * way, 180 * way]
  return [[start, pole], [start, latitude], ...turned, [end, latitude], [end, pole], [start, pole]]
}

function latitudeAt(meridian: number, a: number[], b: number[]): number {
  return a[1]! + ((b[1]! - a[1]!) * (meridian - a[0]!)) / (b[0]! - a[0]!)
}

/** The part of a ring (without its last position) on one side of a meridian. */
function clip(ring: Ring, meridian: number, side: 1 | -1): Ring {
  const open = isSame(ring[0], ring.at(-1)) ? ring.slice(0, -1) : ring
  const inside = ([longitude]: number[]) => (longitude! - meridian) * side >= 0
  return open.flatMap((here, i) => {
    const before = open.at(i - 1)!
    const crossing = inside(here) === inside(before) ? [] : [[meridian, latitudeAt(meridian, before, here)]]
    return inside(here) ? [...crossing, here] : crossing
  })
}

function isSame(a: number[] | undefined, b: number[] | undefined): boolean {
  return a?.[0] === b?.[0] && a?.[1] === b?.[1]
}

/** Whether a ring contains a position, by counting the edges to its east. */
function isWithin([x, y]: number[], ring: Ring): boolean {
  let within = false
  for (let i = 0, j = ring.length - 1; i < ring.length; j = i++) {
    const [ax, ay] = ring[i] as [number, number]
    const [bx, by] = ring[j] as [number, number]
    if (ay > y! !== by > y! && x! < ((bx - ax) * (y! - ay)) / (by - ay) + ax) within = !within
  }
  return within
}
