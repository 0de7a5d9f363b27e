import { assertNever } from '../assert-never.ts'
import type { Geometry, Position } from '../feature.ts'
import { geometryBbox } from './bbox.ts'

/**
 * A point on the geometry, for the longitude and latitude of csv and json rows: a point itself, the middle of
 * a line by length, a point inside a polygon and outside its holes. Null if the geometry is empty. If it
 * has several members, the largest one of the highest dimension is used.
 */
export function pointOnSurface(geometry: Geometry): Position | null {
  if (geometry.type === 'Point') return geometry.coordinates.length > 0 ? geometry.coordinates : null
  const parts: Parts = { polygons: [], lines: [], points: [] }
  collect(geometry, parts)
  return (
    best(parts.polygons, insidePolygon) ??
    best(parts.lines, middleOfLine) ??
    parts.points.find((point) => point.length > 0) ??
    null
  )
}

interface Parts {
  polygons: Position[][][]
  lines: Position[][]
  points: Position[]
}

interface Candidate {
  at: Position
  size: number
}

/** Pushes one by one, because a geometry may have more members than the max number of call arguments. */
function collect(geometry: Geometry, into: Parts): void {
  switch (geometry.type) {
    case 'Point':
      into.points.push(geometry.coordinates)
      return
    case 'MultiPoint':
      for (const point of geometry.coordinates) into.points.push(point)
      return
    case 'LineString':
      into.lines.push(geometry.coordinates)
      return
    case 'MultiLineString':
      for (const line of geometry.coordinates) into.lines.push(line)
      return
    case 'Polygon':
      into.polygons.push(geometry.coordinates)
      return
    case 'MultiPolygon':
      for (const rings of geometry.coordinates) into.polygons.push(rings)
      return
    case 'GeometryCollection':
      for (const member of geometry.geometries) collect(member, into)
      return
    default:
      assertNever(geometry)
  }
}

function best<T>(parts: T[], candidate: (part: T) => Candidate | null): Position | null {
  let chosen: Candidate | null = null
  for (const part of parts) {
    const next = candidate(part)
    if (next !== null && (chosen === null || next.size > chosen.size)) chosen = next
  }
  return chosen?.at ?? null
}

function middleOfLine(line: Position[]): Candidate | null {
  if (line.length === 0) return null
  let length = 0
  for (let i = 1; i < line.length; i++) length += distance(line[i - 1]!, line[i]!)
  let remainingLength = length / 2
  for (let i = 1; i < line.length; i++) {
    const [from, to] = [line[i - 1]!, line[i]!]
    const step = distance(from, to)
    if (step > 0 && remainingLength <= step) {
      const share = remainingLength / step
      const at = [from[0]! + (to[0]! - from[0]!) * share, from[1]! + (to[1]! - from[1]!) * share]
      return { at, size: length }
    }
    remainingLength -= step
  }
  return { at: [line[0]![0]!, line[0]![1]!], size: length }
}

function distance(a: Position, b: Position): number {
  return Math.hypot(a[0]! - b[0]!, a[1]! - b[1]!)
}

/** The middle of the longest stretch inside the polygon of a horizontal line near its centre. */
function insidePolygon(rings: Position[][]): Candidate | null {
  const outer = rings[0]
  if (outer === undefined || outer.length === 0) return null
  const y = quietLatitude(rings)
  const crossings: number[] = []
  for (const ring of rings) {
    for (let i = 1; i < ring.length; i++) {
      const [x1, y1] = ring[i - 1] as [number, number]
      const [x2, y2] = ring[i] as [number, number]
      if (y1 > y !== y2 > y) crossings.push(x1 + ((y - y1) / (y2 - y1)) * (x2 - x1))
    }
  }
  crossings.sort((a, b) => a - b)
  let at = [outer[0]![0]!, outer[0]![1]!]
  let width = 0
  for (let i = 1; i < crossings.length; i += 2) {
    const west = crossings[i - 1]!
    const east = crossings[i]!
    if (east - west > width) {
      width = east - west
      at = [(west + east) / 2, y]
    }
  }
  return { at, size: width }
}

/** Halfway between the nearest vertices above and below the centre, so that the line meets no vertex. */
function quietLatitude(rings: Position[][]): number {
  const [, south, , north] = geometryBbox({ type: 'Polygon', coordinates: rings })
  const centre = (south + north) / 2
  let below = south
  let above = north
  for (const ring of rings) {
    for (const position of ring) {
      const y = position[1]!
      if (y <= centre && y > below) below = y
      if (y > centre && y < above) above = y
    }
  }
  return (below + above) / 2
}
