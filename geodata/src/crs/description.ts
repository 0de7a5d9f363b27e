/**
 * A horizontal coordinate reference system as described by WKT or PROJJSON, in one common form: angles in
 * degrees, lengths in metres, names as in the text.
 */
export interface CrsDescription {
  name: string
  id: CrsId | null
  geographic: GeographicPart
  /** Null for a geographic CRS. */
  projected: ProjectedPart | null
  /** A datum shift that the text itself states: position vector, in metres, arc-seconds and ppm. */
  shift: number[] | null
}

export interface CrsId {
  authority: string
  code: string
}

export interface GeographicPart {
  name: string
  id: CrsId | null
  datumName: string
  semiMajorAxis: number
  /** 0 for a sphere. */
  inverseFlattening: number
  /** Degrees east of Greenwich. */
  primeMeridian: number
  /** Degrees per unit of its longitudes and latitudes. */
  unit: number
}

export interface ProjectedPart {
  method: string
  /** Keyed by the normalised name (see `normalise`). */
  parameters: Map<string, number>
  /** Metres per unit of its coordinates. */
  unit: number
  /** A PROJ string that has more information than the method and its parameters. */
  projText?: string
  /** The axis directions of coordinates in files, such as `enu` or `wsu`; null if none are stated. */
  axes: string | null
}

/** Names differ in case, spaces, underscores and hyphens between formats and writers. */
export function normalise(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

/**
 * Files have x before y by convention, whatever order the authority states: north-east is read as east-north.
 * A CRS with axes to the west or south keeps its directions. On a polar CRS both axes may have the same
 * direction, along different meridians; those are x and y too.
 */
export function axesInFiles(directions: string[]): string | null {
  if (directions.length < 2) return null
  const letters = directions.slice(0, 2).map((direction) => direction.trim().toLowerCase()[0] ?? '')
  const pair = letters.join('')
  return ['ws', 'sw', 'wn', 'nw', 'es', 'se'].includes(pair) ? `${pair}u` : 'enu'
}
