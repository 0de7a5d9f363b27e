/** Features, geometries, boxes, spatial predicates and coordinate reference systems. */
export { isDay } from '../calendar.ts'
export { axisOrder, crsCode, type Transform, transformer } from '../crs.ts'
export {
  type Column,
  GEOMETRY_TYPES,
  type Geometry,
  type GeometryType,
  type Position,
  type Value,
} from '../feature.ts'
export { type Bbox, emptyBbox, geometryBbox, isEmptyBbox, roundOutward } from '../geometry/bbox.ts'
export { clipLatitudes } from '../geometry/clip-latitudes.ts'
export { geometryText } from '../geometry/geometry-text.ts'
export { intersectsBbox } from '../geometry/intersects-bbox.ts'
export { mapPositions } from '../geometry/map-positions.ts'
export { pointOnSurface } from '../geometry/point-on-surface.ts'
export { writeWkb } from '../geometry/wkb.ts'
export { writeWkt } from '../geometry/wkt.ts'
export { EXTERIOR, INTERIOR } from '../predicates/locate.ts'
export { locateBox } from '../predicates/locate-box.ts'
export {
  type PreparedGeometry,
  prepare,
  RelationBudget,
  RelationCostError,
  relates,
  type SpatialPredicate,
} from '../predicates/predicates.ts'
