import type { Geometry, Position } from '@wayleave/geodata/geometry'

export function ring(corners: Position[]): Geometry {
  return { type: 'Polygon', coordinates: [[...corners, corners[0]!]] }
}

/**
 * A cell that crosses the antimeridian is cut there (RFC 7946, section 3.1.9). One that contains a pole is a band that
 * ends at the pole.
 */
export function acrossAntimeridian(corners: Position[]): Geometry {
  const unwrapped: Position[] = []
  let turns = 0
  for (const [i, [x, y]] of corners.entries()) {
    const before = corners[i - 1]?.[0] ?? x!
    if (x! - before > 180) turns--
    else if (x! - before < -180) turns++
    unwrapped.push([x! + turns * 360, y!])
  }
  const [first, last] = [corners[0]!, corners.at(-1)!]
  const closing = first[0]! - last[0]!
  const end = turns + (closing > 180 ? -1 : closing < -180 ? 1 : 0)
  if (end !== 0) {
    const pole = first[1]! > 0 ? 90 : -90
    unwrapped.push([first[0]! + end * 360, first[1]!], [first[0]! + end * 360, pole], [first[0]!, pole])
  }
  const longitudes = unwrapped.map(([x]) => x!)
  const [west, east] = [Math.min(...longitudes), Math.max(...longitudes)]
  if (west >= -180 && east <= 180) return ring(unwrapped)
  const parts = [-360, 0, 360].flatMap((shift) => {
    const moved = unwrapped.map(([x, y]): Position => [x! + shift, y!])
    const part = cut(cut(moved, -180, 1), 180, -1)
    return part.length < 3 ? [] : [[[...part, part[0]!]]]
  })
  return { type: 'MultiPolygon', coordinates: parts }
}

/** The part of a ring on one side of a meridian: east of it if `side` is 1, west of it if it is -1. */
function cut(corners: Position[], meridian: number, side: 1 | -1): Position[] {
  return corners.flatMap(([x, y], i) => {
    const [px, py] = corners[(i + corners.length - 1) % corners.length]! as [number, number]
    const isIn = (x! - meridian) * side >= 0
    const crossing: Position[] =
      isIn === (px - meridian) * side >= 0 ? [] : [[meridian, py + ((y! - py) * (meridian - px)) / (x! - px)]]
    return isIn ? [...crossing, [x!, y!]] : crossing
  })
}
