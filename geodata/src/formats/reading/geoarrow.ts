import type { GeometryType } from '../../feature.ts'

/** GeoArrow's encodings and their geometry types. */
export const GEOARROW_TYPES: { [encoding: string]: GeometryType } = {
  point: 'Point',
  linestring: 'LineString',
  polygon: 'Polygon',
  multipoint: 'MultiPoint',
  multilinestring: 'MultiLineString',
  multipolygon: 'MultiPolygon',
}

/** Usual names of a geometry column in files whose metadata does not name one. */
export const USUAL_GEOMETRY_NAMES = /^(geometry|geom|the_geom|wkb|wkb_geometry|shape)$/i
