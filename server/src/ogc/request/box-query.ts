import type { Bbox, Transform } from '@wayleave/geodata/geometry'
import type { BoxQuery } from '@wayleave/query'
import { invalidInput } from '../../base/problem.ts'
import type { Crs } from './crs-list.ts'

export function readBox(text: string, crs: Crs): BoxQuery {
  const numbers = readNumbers(text)
  if (numbers === null || (numbers.length !== 4 && numbers.length !== 6)) {
    throw invalidInput('bbox', 'must be four or six numbers separated by commas')
  }
  const half = numbers.length / 2
  const lower = [numbers[0]!, numbers[1]!]
  const upper = [numbers[half]!, numbers[half + 1]!]
  if (crs.northingFirst) {
    lower.reverse()
    upper.reverse()
  }
  const bbox: Bbox = [lower[0]!, lower[1]!, upper[0]!, upper[1]!]
  if (bbox[1] > bbox[3]) throw invalidInput('bbox', 'must have its southern edge first')
  const heights: [number, number] | null = half === 3 ? [numbers[2]!, numbers[5]!] : null
  if (heights && heights[0] > heights[1]) throw invalidInput('bbox', 'must have its lower height first')
  if (crs.fromWgs84 === null) return { box: aroundTheWorld(bbox), heights, projected: null }
  if (bbox[0] > bbox[2]) throw invalidInput('bbox', 'must have its western edge first in this CRS')
  if (crs.rectangular) return { box: cornersOf(bbox, crs.toWgs84!), heights, projected: null }
  return {
    box: enclosing(bbox, crs),
    heights,
    projected: { transform: crs.fromWgs84, box: bbox },
  }
}

/**
 * Map clients that are panned beyond 180° request longitudes that no feature has; these are normalized to the
 * same places.
 */
function aroundTheWorld([west, south, east, north]: Bbox): Bbox {
  if (west > east || (west >= -180 && east <= 180)) return [west, south, east, north]
  if (east - west >= 360) return [-180, south, 180, north]
  const turned = (longitude: number) =>
    longitude > 180 || longitude < -180 ? longitude - 360 * Math.floor((longitude + 180) / 360) : longitude
  return [turned(west), south, turned(east), north]
}

function readNumbers(text: string): number[] | null {
  if (!/^[\d.eE+, -]*$/.test(text)) return null
  const numbers: number[] = []
  for (const part of text.split(',')) {
    const value = part.trim() === '' ? Number.NaN : Number(part)
    if (!Number.isFinite(value)) return null
    numbers.push(value)
  }
  return numbers
}

function cornersOf([west, south, east, north]: Bbox, toWgs84: Transform): Bbox {
  const [x1, y1] = toWgs84([west, south]) as [number, number]
  const [x2, y2] = toWgs84([east, north]) as [number, number]
  // Beyond the edge of the world, a projection may return no finite value or wrap around; then the edge is
  // used. Map clients ask for the whole world with an x that is a rounding error beyond it.
  const isWestBeyond = !Number.isFinite(x1) || (x1 > x2 && west < 0 && x1 > 0)
  const isEastBeyond = !Number.isFinite(x2) || (x1 > x2 && east > 0 && x2 < 0)
  return [
    isWestBeyond ? -180 : x1 - ROUNDING,
    Number.isFinite(y1) ? y1 - ROUNDING : -90,
    isEastBeyond ? 180 : x2 + ROUNDING,
    Number.isFinite(y2) ? y2 + ROUNDING : 90,
  ]
}

/** An edge that was transformed to another CRS and back is off by up to a few units in the last place. */
const ROUNDING = 1e-12

const STEPS = 24

/**
 * A box in longitude and latitude around a box in another CRS. The edges become curves, so points all over
 * the box are sampled. If one of the poles is inside, the box covers all longitudes.
 */
function enclosing(bbox: Bbox, crs: Crs): Bbox {
  const [west, south, east, north] = bbox
  const extent: Bbox = [Infinity, Infinity, -Infinity, -Infinity]
  for (let i = 0; i <= STEPS; i++) {
    for (let j = 0; j <= STEPS; j++) {
      const x = west + ((east - west) * i) / STEPS
      const y = south + ((north - south) * j) / STEPS
      const [longitude, latitude] = crs.toWgs84!([x, y]) as [number, number]
      if (!Number.isFinite(longitude) || !Number.isFinite(latitude)) return [...CRS84_WORLD]
      extent[0] = Math.min(extent[0], longitude)
      extent[1] = Math.min(extent[1], latitude)
      extent[2] = Math.max(extent[2], longitude)
      extent[3] = Math.max(extent[3], latitude)
    }
  }
  const margin = Math.max(extent[2] - extent[0], extent[3] - extent[1]) * 0.05 + 1e-6
  const around: Bbox = [extent[0] - margin, extent[1] - margin, extent[2] + margin, extent[3] + margin]
  for (const pole of [-90, 90]) {
    const [x, y] = crs.fromWgs84!([0, pole]) as [number, number]
    if (x >= west && x <= east && y >= south && y <= north) {
      around[0] = -180
      around[2] = 180
      around[pole < 0 ? 1 : 3] = pole
    }
  }
  // A jump from 180 to -180 is inside: the box would be on the other side of the world.
  return around[2] - around[0] > 180 ? [-180, around[1], 180, around[3]] : around
}

const CRS84_WORLD: Bbox = [-180, -90, 180, 90]
