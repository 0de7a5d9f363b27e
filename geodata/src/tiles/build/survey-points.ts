import type { SyncIndex } from '../../snapshot/open-index-sync.ts'
import { firstTileId, hilbertIndex, tileOf } from '../tile-id.ts'
import { EXTENT_BITS, LARGEST_MAX_ZOOM, WORLD_BITS } from '../web-mercator.ts'
import { KEY_BITS, keysPerTile, orderPoints } from './point-order.ts'
import { bytesNear, eachPointIn, pointsIn } from './points-in-tile.ts'

/** The first zoom at which points are told apart by tile units. */
export const FIRST_PRECISE_ZOOM = 9
/** No tile below this zoom is looked at by itself: it is a tile unit of `FIRST_PRECISE_ZOOM`. */
const DEEPEST = FIRST_PRECISE_ZOOM + EXTENT_BITS

/** What has to be known of all points before tiles are built. */
export interface PointSurvey {
  points: number
  /** By zoom: the most points, and the most bytes in the pack, that a tile has. */
  maxPoints: Float64Array
  maxBytes: Float64Array
  /** By zoom: how many points share a tile unit with the point before them, but not its place along the curve. */
  sharedUnits: Float64Array
  /** By the number of a tile: the bytes of its points in the pack. Tiles below one with few bytes are not listed. */
  bytes: Map<number, number>
}

interface Total {
  points: number
  bytes: number
}

const NOTHING: Total = { points: 0, bytes: 0 }

/** Surveys the points of a snapshot, of at most about `maxBytes` at a time. */
export function surveyPoints(index: SyncIndex, maxBytes: number): PointSurvey {
  const zooms = LARGEST_MAX_ZOOM + 1
  const survey: PointSurvey = {
    points: 0,
    maxPoints: new Float64Array(zooms),
    maxBytes: new Float64Array(zooms),
    sharedUnits: new Float64Array(zooms),
    bytes: new Map(),
  }
  survey.points = visit({ index, maxBytes, survey }, 0, 0).points
  return survey
}

interface Visit {
  index: SyncIndex
  maxBytes: number
  survey: PointSurvey
}

function visit(state: Visit, z: number, index: number): Total {
  const near = bytesNear(state.index, tileOf(firstTileId(z) + index))
  if (near === 0) return NOTHING
  const total = near <= state.maxBytes ? sort(state, z, index) : divide(state, z, index)
  note(state.survey, z, total)
  state.survey.bytes.set(firstTileId(z) + index, total.bytes)
  return total
}

function note({ maxPoints, maxBytes }: PointSurvey, z: number, { points, bytes }: Total): void {
  if (z > LARGEST_MAX_ZOOM) return
  maxPoints[z] = Math.max(maxPoints[z]!, points)
  maxBytes[z] = Math.max(maxBytes[z]!, bytes)
}

/** A tile with too many points to be sorted at a time. */
function divide(state: Visit, z: number, index: number): Total {
  if (z === DEEPEST) return count(state, z, index)
  const total = { points: 0, bytes: 0 }
  for (let child = 0; child < 4; child++) {
    const { points, bytes } = visit(state, z + 1, index * 4 + child)
    total.points += points
    total.bytes += bytes
  }
  return total
}

/** A heap of points: they have few different places, however many they are. */
function count({ index: source, survey }: Visit, z: number, index: number): Total {
  const total = { points: 0, bytes: 0 }
  const keys = new Set<number>()
  const { offsets } = source
  eachPointIn(source, tileOf(firstTileId(z) + index), (position, x, y) => {
    total.points++
    total.bytes += offsets.at(position + 1) - offsets.at(position)
    keys.add(hilbertIndex(KEY_BITS, x >>> (WORLD_BITS - KEY_BITS), y >>> (WORLD_BITS - KEY_BITS)))
  })
  noteUnits(survey, Float64Array.from(keys).sort())
  return total
}

function sort({ index: source, survey }: Visit, top: number, index: number): Total {
  const { positions, xs, ys } = pointsIn(source, tileOf(firstTileId(top) + index))
  const { order, keys } = orderPoints(xs, ys)
  const { offsets } = source
  /** The bytes of the points before each one. */
  const before = new Float64Array(keys.length + 1)
  for (let i = 0; i < keys.length; i++) {
    const position = positions[order[i]!]!
    before[i + 1] = before[i]! + offsets.at(position + 1) - offsets.at(position)
  }
  for (let z = top + 1; z <= LARGEST_MAX_ZOOM; z++) note(survey, z, largestTile(keys, before, z))
  noteUnits(survey, keys)
  return { points: keys.length, bytes: before[keys.length]! }
}

/** The most points and the most bytes of a tile. `before` has the bytes before each point. */
function largestTile(keys: Float64Array, before: Float64Array, z: number): Total {
  const span = keysPerTile(z)
  const largest = { points: 0, bytes: 0 }
  for (let from = 0, to = 1; from < keys.length; to++) {
    if (to < keys.length && Math.floor(keys[to]! / span) === Math.floor(keys[from]! / span)) continue
    largest.points = Math.max(largest.points, to - from)
    largest.bytes = Math.max(largest.bytes, before[to]! - before[from]!)
    from = to
  }
  return largest
}

function noteUnits({ sharedUnits }: PointSurvey, keys: Float64Array): void {
  for (let z = FIRST_PRECISE_ZOOM; z <= LARGEST_MAX_ZOOM; z++) {
    const span = Math.max(1, keysPerTile(z + EXTENT_BITS))
    let shared = 0
    for (let i = 1; i < keys.length; i++) {
      if (keys[i] !== keys[i - 1] && Math.floor(keys[i]! / span) === Math.floor(keys[i - 1]! / span)) shared++
    }
    sharedUnits[z]! += shared
  }
}
