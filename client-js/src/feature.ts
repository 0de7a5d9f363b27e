/** Longitude, latitude and, if the dataset has one, a height. */
export type Position = number[]

export type Geometry =
  | { type: 'Point'; coordinates: Position }
  | { type: 'MultiPoint' | 'LineString'; coordinates: Position[] }
  | { type: 'MultiLineString' | 'Polygon'; coordinates: Position[][] }
  | { type: 'MultiPolygon'; coordinates: Position[][][] }
  | { type: 'GeometryCollection'; geometries: Geometry[] }

export interface Feature<P = Record<string, unknown>> {
  type: 'Feature'
  id: string | number
  geometry: Geometry | null
  properties: P
}
