import type { Geometry } from '@wayleave/geodata/geometry'

/** A division of the map into cells. A cell is named by a number or a text. */
export interface CellGrid {
  /** Distinguishes it from other grids. */
  name: string
  /** The max number of cells. */
  count: number
  cellAt(longitude: number, latitude: number): number | string
  /** As it is in the result. */
  text(cell: number | string): string
  geometry(cell: number | string): Geometry
}
