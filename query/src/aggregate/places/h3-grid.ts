import type { Position } from '@wayleave/geodata/geometry'
import { cellToBoundary, getNumCells, latLngToCell } from 'h3-js'
import type { CellGrid } from './cell-grid.ts'
import { acrossAntimeridian } from './cell-shapes.ts'

export function h3Grid(resolution: number): CellGrid {
  return {
    name: `h3 ${resolution}`,
    count: getNumCells(resolution),
    cellAt: (longitude, latitude) => latLngToCell(latitude, longitude, resolution),
    text: (cell) => cell as string,
    geometry(cell) {
      const corners = cellToBoundary(cell as string).map(([latitude, longitude]) => [longitude, latitude])
      return acrossAntimeridian(corners as Position[])
    },
  }
}
