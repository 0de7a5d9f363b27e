type Nested = number | Nested[]

export type Geometry = { coordinates: Nested[] } | { geometries: Geometry[] }

/** A place of a geometry: its first position. Null if it has none. */
export function placeOf(geometry: Geometry): [x: number, y: number] | null {
  if ('geometries' in geometry) {
    for (const one of geometry.geometries) {
      const place = placeOf(one)
      if (place) return place
    }
    return null
  }
  let at: Nested | undefined = geometry.coordinates
  while (Array.isArray(at) && Array.isArray(at[0])) at = at[0]
  const [x, y] = Array.isArray(at) ? at : []
  return typeof x === 'number' && typeof y === 'number' ? [x, y] : null
}
