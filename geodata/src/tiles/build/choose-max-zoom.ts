import { POINT_BYTES } from '../encode/point-cells.ts'
import { MAX_POINTS_SHOWN } from '../encode/tile-limits.ts'
import { tileSize, unitSize } from '../web-mercator.ts'
import { FIRST_PRECISE_ZOOM, type PointSurvey } from './survey-points.ts'

/** At zoom 14 a tile unit is 0.6 m at the equator. */
export const DEFAULT_MAX_ZOOM = 14

/** A tile of the deepest zoom should have no more points than this. */
const FEW_POINTS = 1500
/** At most one point in this many may share a tile unit with a point at another position. */
const SHARED_UNITS = 1000

/**
 * How deep tiles are built only for precision, by the number of points: maps enlarge the deepest tiles, and
 * then positions that were rounded to tile units are off. A tile unit is 0.6 m at zoom 14 and 19 m at zoom 9; each
 * point is in one tile of each zoom, so a zoom more costs about 200 bytes for each.
 */
const PRECISE: readonly { points: number; zoom: number }[] = [
  { points: 5_000, zoom: 14 },
  { points: 50_000, zoom: 12 },
  { points: 500_000, zoom: 10 },
  { points: Infinity, zoom: FIRST_PRECISE_ZOOM },
]

/**
 * The deepest zoom of points, within `limit`: the first at which every tile has few of them, nearly all that lie
 * apart stay apart, and positions are precise enough for their number.
 */
export function maxZoomOfPoints({ points, maxPoints, sharedUnits }: PointSurvey, limit: number): number {
  const { zoom } = PRECISE.find((precise) => points <= precise.points)!
  for (let z = Math.min(zoom, limit); z < limit; z++) {
    if (maxPoints[z]! <= FEW_POINTS && sharedUnits[z]! * SHARED_UNITS <= points) return z
  }
  return limit
}

/**
 * The deepest zoom above `maxZoom` at which a tile has too many points, or too large ones, to show each; -1 if there is
 * none. All tiles of this zoom and of those above it count points by cells, so that neighbouring tiles look alike.
 */
export function cellZoomOf({ maxPoints, maxBytes }: PointSurvey, maxZoom: number): number {
  const isLarge = (z: number) => maxPoints[z]! > MAX_POINTS_SHOWN || maxBytes[z]! > POINT_BYTES[0]!
  let z = 0
  while (z < maxZoom && isLarge(z)) z++
  return z - 1
}

/** What is known of shapes from a sample of them, in world units. */
export interface ShapeSample {
  /** Distances between neighbouring positions, of points to the next feature. */
  distances: number[]
  /** Width and height of boxes in turn. */
  boxes: number[]
  /** Width and height of the box around all of them. */
  extent: [width: number, height: number]
  /** The number of features that the sample stands for. */
  features: number
}

/** Neighbouring positions should be this many tile units apart: nine of ten of them are further. */
const UNITS_APART = 4
/** More tiles than this are not worth it: clients enlarge those of the zoom before. */
const MAX_TILES = 300_000
/** Up to this many tiles, a zoom is built only for precision. */
const FEW_TILES = 10_000

/**
 * The deepest zoom of lines and polygons: the first at which neighbouring positions stay well apart, unless the
 * features would be spread over too many tiles; deeper while they are spread over few.
 */
export function maxZoomOfShapes(sample: ShapeSample, limit: number): number {
  const { distances, boxes, features } = sample
  const sorted = Float64Array.from(distances.filter((distance) => distance > 0)).sort()
  const short = sorted[Math.floor(sorted.length / 10)] ?? tileSize(0)
  const weight = features / Math.max(1, boxes.length / 2)
  let z = 0
  for (; z < limit; z++) {
    const tiles = Math.min(tilesIn(sample.extent, z + 1), tilesAt(boxes, z + 1, weight))
    if (tiles > MAX_TILES || (tiles > FEW_TILES && unitSize(z) * UNITS_APART <= short)) break
  }
  return z
}

function tilesAt(boxes: readonly number[], z: number, weight: number): number {
  const size = tileSize(z)
  let tiles = 0
  for (let i = 0; i < boxes.length; i += 2) tiles += (boxes[i]! / size + 1) * (boxes[i + 1]! / size + 1)
  // Tiles that several features share are few at the zoom that matters.
  return tiles * weight
}

/** No more tiles than this have features, however many there are. */
function tilesIn([width, height]: readonly [number, number], z: number): number {
  const size = tileSize(z)
  return Math.min(4 ** z, (width / size + 1) * (height / size + 1))
}
