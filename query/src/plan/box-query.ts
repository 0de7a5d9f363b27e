import type { Bbox, Transform } from '@wayleave/geodata/geometry'

/** The box that features have to meet. */
export interface BoxQuery {
  /** In longitude and latitude, for the tree. It crosses the antimeridian if west > east. */
  box: Bbox
  /** Min and max height, if the box has them. Features whose heights are all outside do not match. */
  heights: [number, number] | null
  /**
   * Set if the query's box is not a box in longitude and latitude: `box` only encloses it, and this decides.
   */
  projected: { transform: Transform; box: Bbox } | null
}
