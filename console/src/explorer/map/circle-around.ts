import type { Position } from '../filter/clause.ts'

const EARTH_KM = 6371.0088
/** Enough that a circle looks round; a filter in an address should stay short. */
const CORNERS = 48

/** The corners of a circle, the first one again at the end. It is cut off at the poles and at the antimeridian. */
export function circleAround([longitude, latitude]: Position, kilometers: number): Position[] {
  const angle = kilometers / EARTH_KM
  const radians = (degrees: number) => (degrees * Math.PI) / 180
  const degrees = (value: number) => (value * 180) / Math.PI
  const [sine, cosine] = [Math.sin(radians(latitude)), Math.cos(radians(latitude))]
  const corners = Array.from({ length: CORNERS }, (_, index): Position => {
    const bearing = (-2 * Math.PI * index) / CORNERS
    const y = Math.asin(sine * Math.cos(angle) + cosine * Math.sin(angle) * Math.cos(bearing))
    const turn = Math.atan2(
      Math.sin(bearing) * Math.sin(angle) * cosine,
      Math.cos(angle) - sine * Math.sin(y),
    )
    const x = Math.max(-180, Math.min(180, longitude + degrees(turn)))
    return [rounded(x), rounded(Math.max(-90, Math.min(90, degrees(y))))]
  })
  return [...corners, corners[0]!]
}

/** The distance of two places. */
export function kilometersBetween([x1, y1]: Position, [x2, y2]: Position): number {
  const radians = Math.PI / 180
  const haversine =
    Math.sin(((y2 - y1) * radians) / 2) ** 2 +
    Math.cos(y1 * radians) * Math.cos(y2 * radians) * Math.sin(((x2 - x1) * radians) / 2) ** 2
  return 2 * EARTH_KM * Math.asin(Math.min(1, Math.sqrt(haversine)))
}

export function rounded(degrees: number): number {
  return Number(degrees.toFixed(4))
}
