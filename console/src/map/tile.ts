export type Box = [west: number, south: number, east: number, north: number]

/** A tile of the web map grid as a string that can be a map key: "zoom/x/y". */
export type TileName = string

interface Tile {
  zoom: number
  x: number
  y: number
}

const WIDEST_LATITUDE = 85.0511287798066

const nameOf = ({ zoom, x, y }: Tile): TileName => `${zoom}/${x}/${y}`

function tileOf(name: TileName): Tile {
  const [zoom, x, y] = name.split('/').map(Number) as [number, number, number]
  return { zoom, x, y }
}

/** The tiles that cover a view. Beyond the antimeridian the columns wrap around. */
export function tilesOf([west, south, east, north]: Box, zoom: number): TileName[] {
  const size = 2 ** zoom
  const column = (longitude: number) => Math.floor(((longitude + 180) / 360) * size)
  const names = new Set<TileName>()
  const last = Math.min(column(east), column(west) + size - 1)
  for (let x = column(west); x <= last; x++) {
    for (let y = rowOf(north, size); y <= rowOf(south, size); y++) {
      names.add(nameOf({ zoom, x: ((x % size) + size) % size, y }))
    }
  }
  return [...names]
}

function rowOf(latitude: number, size: number): number {
  const clamped = Math.max(-WIDEST_LATITUDE, Math.min(WIDEST_LATITUDE, latitude))
  const sine = Math.sin((clamped * Math.PI) / 180)
  const row = Math.floor((0.5 - Math.log((1 + sine) / (1 - sine)) / (4 * Math.PI)) * size)
  return Math.max(0, Math.min(size - 1, row))
}

/** The tile's box in degrees. The outermost rows extend to the poles, which the grid does not cover. */
export function boxOf(name: TileName): Box {
  const { zoom, x, y } = tileOf(name)
  const size = 2 ** zoom
  const longitude = (column: number) => (column / size) * 360 - 180
  const latitude = (row: number) => (Math.atan(Math.sinh(Math.PI * (1 - (2 * row) / size))) * 180) / Math.PI
  return [longitude(x), y === size - 1 ? -90 : latitude(y + 1), longitude(x + 1), y === 0 ? 90 : latitude(y)]
}

/** The tiles that contain a tile, from the smallest to the largest. */
export function ancestorsOf(name: TileName): TileName[] {
  const { zoom, x, y } = tileOf(name)
  return Array.from({ length: zoom }, (_, index) => {
    const up = index + 1
    return nameOf({ zoom: zoom - up, x: x >> up, y: y >> up })
  })
}

/** The center of the intersection of a tile and a box. */
export function middleOf(name: TileName, within: Box): [longitude: number, latitude: number] {
  const [west, south, east, north] = boxOf(name)
  return [
    (Math.max(west, within[0]) + Math.min(east, within[2])) / 2,
    (Math.max(south, within[1]) + Math.min(north, within[3])) / 2,
  ]
}
