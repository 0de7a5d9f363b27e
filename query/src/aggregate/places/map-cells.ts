import type { Geometry, Position } from '@wayleave/geodata/geometry'
import { cellToBoundary, getNumCells, latLngToCell } from 'h3-js'
import type { Dimension } from '../aggregate-query.ts'

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

export function cellGrid(dimension: Extract<Dimension, { kind: 'tile' | 'h3' }>): CellGrid {
  return dimension.kind === 'tile' ? tileGrid(dimension.zoom) : h3Grid(dimension.resolution)
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

function h3Grid(resolution: number): CellGrid {
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

function ring(corners: Position[]): Geometry {
  return { type: 'Polygon', coordinates: [[...corners, corners[0]!]] }
}

/**
 * A cell that crosses the antimeridian is cut there (RFC 7946, section 3.1.9). One that contains a pole is a band that
 * ends at the pole.
 */
function acrossAntimeridian(corners: Position[]): Geometry {
  const unwrapped: Position[] = []
  let turns = 0
  for (const [i, [x, y]] of corners.entries()) {
    const before = corners[i - 1]?.[0] ?? x!
    if (x! - before > 180) turns--
    else if (x! - before < -180) turns++
    unwrapped.push([x! + turns * 360, y!])
  }
  const [first, last] = [corners[0]!, corners.at(-1)!]
  const closing = first[0]! - last[0]!
  const end = turns + (closing > 180 ? -1 : closing < -180 ? 1 : 0)
  if (end !== 0) {
    const pole = first[1]! > 0 ? 90 : -90
    unwrapped.push([first[0]! + end * 360, first[1]!], [first[0]! + end * 360, pole], [first[0]!, pole])
  }
  const longitudes = unwrapped.map(([x]) => x!)
  const [west, east] = [Math.min(...longitudes), Math.max(...longitudes)]
  if (west >= -180 && east <= 180) return ring(unwrapped)
  const parts = [-360, 0, 360].flatMap((shift) => {
    const moved = unwrapped.map(([x, y]): Position => [x! + shift, y!])
    const part = cut(cut(moved, -180, 1), 180, -1)
    return part.length < 3 ? [] : [[[...part, part[0]!]]]
  })
  return { type: 'MultiPolygon', coordinates: parts }
}

/** The part of a ring on one side of a meridian: east of it if `side` is 1, west of it if it is -1. */
function cut(corners: Position[], meridian: number, side: 1 | -1): Position[] {
  return corners.flatMap(([x, y], i) => {
    const [px, py] = corners[(i + corners.length - 1) % corners.length]! as [number, number]
    const isIn = (x! - meridian) * side >= 0
    const crossing: Position[] =
      isIn === (px - meridian) * side >= 0 ? [] : [[meridian, py + ((y! - py) * (meridian - px)) / (x! - px)]]
    return isIn ? [...crossing, [x!, y!]] : crossing
  })
}
