/** West, south, east, north in degrees of WGS84. */
export type Box = [number, number, number, number]

/** As much of MapLibre's `LngLatBounds` as is needed. */
export interface Bounds {
  getWest(): number
  getSouth(): number
  getEast(): number
  getNorth(): number
}

/** The bounds of a map's view. Its longitudes grow beyond 180° when the map is dragged around the world. */
export function unwrappedBox(bounds: Bounds): Box {
  const latitude = (degrees: number) => Math.max(-90, Math.min(90, degrees))
  return [bounds.getWest(), latitude(bounds.getSouth()), bounds.getEast(), latitude(bounds.getNorth())]
}

/** The same box for the service. West is greater than east if it crosses the antimeridian. */
export function wrappedBox([west, south, east, north]: Box): Box {
  if (east - west >= 360) return [-180, south, 180, north]
  return [wrappedLongitude(west), south, wrappedLongitude(east), north]
}

export function contains(outer: Box, inner: Box): boolean {
  const [west, south, east, north] = outer
  const isWholeWorld = east - west >= 360
  return inner[1] >= south && inner[3] <= north && (isWholeWorld || (inner[0] >= west && inner[2] <= east))
}

function wrappedLongitude(degrees: number): number {
  if (degrees >= -180 && degrees <= 180) return degrees
  return ((((degrees + 180) % 360) + 360) % 360) - 180
}
