import type { Dimension } from '../aggregate-query.ts'
import type { CellGrid } from './cell-grid.ts'
import { ring } from './cell-shapes.ts'

export async function cellGrid(dimension: Extract<Dimension, { kind: 'tile' | 'h3' }>): Promise<CellGrid> {
  if (dimension.kind === 'tile') return tileGrid(dimension.zoom)
  // The library takes memory and the time to start it, which most processes need not spend.
  const { h3Grid } = await import('./h3-grid.ts')
  return h3Grid(dimension.resolution)
}

/** Tiles of web mercator. Places beyond its latitudes are in the first and the last row. */
function tileGrid(zoom: number): CellGrid {
  const side = 2 ** zoom
  const within = (index: number) => Math.min(side - 1, Math.max(0, Math.floor(index)))
  const [x, y] = [(cell: number) => cell % side, (cell: number) => Math.floor(cell / side)]
  return {
    name: `tile ${zoom}`,
    count: side * side,
    cellAt(longitude, latitude) {
      const sine = Math.sin((latitude * Math.PI) / 180)
      const northing = Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)
      return within((0.5 - northing) * side) * side + within((longitude / 360 + 0.5) * side)
    },
    text: (cell) => `${zoom}/${x(cell as number)}/${y(cell as number)}`,
    geometry(cell) {
      const [column, row] = [x(cell as number), y(cell as number)]
      const longitude = (index: number) => (index / side) * 360 - 180
      const latitude = (index: number) =>
        (Math.atan(Math.sinh(Math.PI * (1 - (2 * index) / side))) * 180) / Math.PI
      const [west, east] = [longitude(column), longitude(column + 1)]
      const [south, north] = [latitude(row + 1), latitude(row)]
      return ring([
        [west, south],
        [east, south],
        [east, north],
        [west, north],
      ])
    },
  }
}
