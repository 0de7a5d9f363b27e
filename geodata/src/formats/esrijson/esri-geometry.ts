import type { Geometry, Position, Value } from '../../feature.ts'
import { groupRings } from '../shapefile/rings.ts'

export type EsriGeometry = { [name: string]: Value }

/** What the third number of a position is; `unstated` is taken as a height, as GDAL does. */
export type ThirdNumber = 'height' | 'measure' | 'unstated'

/** `stated` are the members of the feature set, which a geometry may repeat. */
export function thirdNumberOf(
  geometry: EsriGeometry,
  stated: { hasZ?: unknown; hasM?: unknown },
): ThirdNumber {
  if ((geometry['hasZ'] ?? stated.hasZ) === true) return 'height'
  return (geometry['hasM'] ?? stated.hasM) === true ? 'measure' : 'unstated'
}

/** Converts a geometry of Esri's JSON; returns a sentence if it cannot be read. */
export function readEsriGeometry(geometry: EsriGeometry, third: ThirdNumber): Geometry | null | string {
  const hasZ = third !== 'measure'
  if ('x' in geometry) return readPoint(geometry)
  for (const curves of ['curvePaths', 'curveRings'])
    if (curves in geometry) return `the geometry has curves (${curves}), which cannot be read`
  if (Array.isArray(geometry['points'])) {
    const points = positions(geometry['points'], hasZ)
    return points === null ? WRONG : { type: 'MultiPoint', coordinates: points }
  }
  const parts = (geometry['paths'] ?? geometry['rings']) as Value
  if (!Array.isArray(parts)) return Object.keys(geometry).length === 0 ? null : WRONG
  const lines = parts.map((part) => (Array.isArray(part) ? positions(part, hasZ) : null))
  if (lines.some((line) => line === null)) return WRONG
  const all = (lines as Position[][]).filter((line) => line.length > 0)
  if (all.length === 0) return null
  if ('paths' in geometry)
    return all.length === 1
      ? { type: 'LineString', coordinates: all[0]! }
      : { type: 'MultiLineString', coordinates: all }
  const polygons = groupRings(all)
  return polygons.length === 1
    ? { type: 'Polygon', coordinates: polygons[0]! }
    : { type: 'MultiPolygon', coordinates: polygons }
}

/** Whether the first position of points, paths or rings has more than two numbers. A point has names for them. */
export function hasThirdNumber({ points, paths, rings }: EsriGeometry): boolean {
  const parts = points ?? paths ?? rings
  const first = Array.isArray(parts)
    ? parts.find((part) => Array.isArray(part) && part.length > 0)
    : undefined
  const position = points === undefined && Array.isArray(first) ? first[0] : first
  return Array.isArray(position) && typeof position[2] === 'number'
}

const WRONG = 'the geometry is not a geometry of Esri JSON'

function readPoint({ x, y, z }: EsriGeometry): Geometry | null | string {
  // An empty point has null or "NaN" for x.
  if (x === null || x === 'NaN') return null
  if (typeof x !== 'number' || typeof y !== 'number') return WRONG
  return { type: 'Point', coordinates: typeof z === 'number' ? [x, y, z] : [x, y] }
}

function positions(list: Value[], hasZ: boolean): Position[] | null {
  const result: Position[] = []
  for (const each of list) {
    if (!Array.isArray(each) || typeof each[0] !== 'number' || typeof each[1] !== 'number') return null
    const z = hasZ ? each[2] : undefined
    result.push(typeof z === 'number' ? [each[0], each[1], z] : [each[0], each[1]])
  }
  return result
}
