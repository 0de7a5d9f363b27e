import { clipShape, type Shape, ShapeBuilder } from '@wayleave/geodata/tiles'

/** A position in a tile, in its units. */
export interface TilePoint {
  x: number
  y: number
}

type Part = readonly TilePoint[]

/** What a tile has of a feature inside of its own square. */
export interface InsideTile {
  points: Part[]
  lines: Part[]
  /** Rings of areas that the tile has completely. */
  areas: Part[]
  /** Rings of areas that the tile's edges cut. The cuts are not borders: those are among the lines. */
  cutAreas: Part[]
}

/** MVT's types. */
export const POINT = 1
const LINE = 2
const POLYGON = 3

/**
 * Removes what a tile has of a feature in its margin, which its neighbours have too, so that several tiles can be
 * drawn side by side. `parts` are the lists of positions of an MVT geometry; rings repeat their first position.
 */
export function insideTile(type: number, parts: readonly Part[], extent: number): InsideTile {
  const inside: InsideTile = { points: [], lines: [], areas: [], cutAreas: [] }
  // Most features are not cut.
  if (parts.every((part) => part.every(({ x, y }) => x >= 0 && y >= 0 && x < extent && y < extent))) {
    inside[type === POINT ? 'points' : type === LINE ? 'lines' : 'areas'] = [...parts]
    return inside
  }
  const clip = (shape: Shape) => clipShape(shape, { minX: 0, minY: 0, maxX: extent, maxY: extent })
  if (type === POINT) inside.points = partsOf(clip(shapeOf(POINT, [parts.flat()])))
  else if (type === LINE) inside.lines = partsOf(clip(shapeOf(LINE, parts)))
  else if (type === POLYGON) {
    const shape = shapeOf(POLYGON, parts)
    const area = clip(shape)
    if (area === shape) inside.areas = partsOf(area)
    else {
      inside.cutAreas = partsOf(area)
      inside.lines = partsOf(clip(shapeOf(LINE, parts)))
    }
  }
  return inside
}

function shapeOf(type: 1 | 2 | 3, parts: readonly Part[]): Shape {
  const builder = new ShapeBuilder()
  for (const part of parts) {
    const positions = type === POLYGON ? part.slice(0, -1) : part
    for (const { x, y } of positions) builder.add(x, y)
    builder.endList(type === POLYGON && isHole(positions))
  }
  return builder.finish({ position: 0, type, isCounted: true })
}

/** In a tile, the positions of outer rings are clockwise, as seen on the map, and those of holes are not. */
function isHole(ring: Part): boolean {
  let area = 0
  ring.forEach(({ x, y }, i) => {
    const next = ring[(i + 1) % ring.length]!
    area += x * next.y - next.x * y
  })
  return area < 0
}

function partsOf(shape: Shape | null): Part[] {
  if (shape === null) return []
  const { xy, ends, type } = shape
  const parts: Part[] = []
  let from = 0
  for (const end of ends) {
    const part = Array.from({ length: end - from }, (_, i) => ({
      x: xy[(from + i) * 2]!,
      y: xy[(from + i) * 2 + 1]!,
    }))
    if (type === POLYGON) part.push(part[0]!)
    parts.push(part)
    from = end
  }
  return parts
}
