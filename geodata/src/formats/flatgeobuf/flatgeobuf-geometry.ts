import type { Geometry, Position } from '../../feature.ts'
import { joinParts, linearizeArcs } from '../../geometry/arcs.ts'
import { SourceError } from '../../source-error.ts'
import { type FgbGeometry, GeometryType } from './flatgeobuf-tables.ts'

const MAX_DEPTH = 64

/** `declared` is the type in the file's header, which applies to all features unless it is unknown. */
export function readFlatgeobufGeometry(geometry: FgbGeometry, declared: number, depth = 0): Geometry {
  if (depth > MAX_DEPTH) throw new SourceError(`the geometry is nested more than ${MAX_DEPTH} deep`)
  const type = declared === GeometryType.Unknown ? geometry.type : declared
  switch (type) {
    case GeometryType.Point:
      return { type: 'Point', coordinates: positionsOf(geometry)[0] ?? [] }
    case GeometryType.LineString:
      return { type: 'LineString', coordinates: positionsOf(geometry) }
    case GeometryType.MultiPoint:
      return { type: 'MultiPoint', coordinates: positionsOf(geometry) }
    case GeometryType.Polygon:
      return { type: 'Polygon', coordinates: linesOf(geometry) }
    case GeometryType.MultiLineString:
      return { type: 'MultiLineString', coordinates: linesOf(geometry) }
    case GeometryType.MultiPolygon: {
      const coordinates = geometry.parts.map(linesOf)
      // Some writers omit the parts of a single polygon.
      return {
        type: 'MultiPolygon',
        coordinates: coordinates.length > 0 ? coordinates : [linesOf(geometry)].filter((p) => p.length > 0),
      }
    }
    case GeometryType.GeometryCollection: {
      const geometries = geometry.parts.map((part) =>
        readFlatgeobufGeometry(part, GeometryType.Unknown, depth + 1),
      )
      return { type: 'GeometryCollection', geometries }
    }
    case GeometryType.CircularString:
    case GeometryType.CompoundCurve:
      return asConverted({ type: 'LineString', coordinates: curveOf(geometry, type) }, geometry, type)
    case GeometryType.CurvePolygon:
      return asConverted({ type: 'Polygon', coordinates: curvesOf(geometry) }, geometry, type)
    case GeometryType.MultiCurve:
      return asConverted({ type: 'MultiLineString', coordinates: curvesOf(geometry) }, geometry, type)
    case GeometryType.MultiSurface:
      return asConverted({ type: 'MultiPolygon', coordinates: geometry.parts.map(surfaceOf) }, geometry, type)
    case GeometryType.PolyhedralSurface:
      return {
        type: 'MultiPolygon',
        coordinates: geometry.parts.map(linesOf),
        converted: 'surfaces',
      }
    // Its triangles are not parts but rings.
    case GeometryType.TIN:
      return {
        type: 'MultiPolygon',
        coordinates: linesOf(geometry).map((ring) => [ring]),
        converted: 'surfaces',
      }
    case GeometryType.Triangle:
      return { type: 'Polygon', coordinates: linesOf(geometry), converted: 'surfaces' }
    default:
      throw new SourceError(`the geometry has the unknown type ${nameOf(type)}`)
  }
}

/** Marks a geometry that had arcs. A curve type may consist of straight lines only. */
function asConverted(converted: Geometry, geometry: FgbGeometry, type: number): Geometry {
  if (hasArcs(geometry, type, 0)) converted.converted = 'curves'
  return converted
}

function hasArcs(geometry: FgbGeometry, type: number, depth: number): boolean {
  if (depth > MAX_DEPTH) return false
  return (
    type === GeometryType.CircularString || geometry.parts.some((part) => hasArcs(part, part.type, depth + 1))
  )
}

function curveOf(curve: FgbGeometry, type: number, depth = 0): Position[] {
  if (depth > MAX_DEPTH) throw new SourceError(`the geometry is nested more than ${MAX_DEPTH} deep`)
  if (type === GeometryType.CircularString) return linearizeArcs(positionsOf(curve))
  if (type === GeometryType.CompoundCurve)
    return joinParts(curve.parts.map((part) => curveOf(part, part.type, depth + 1)))
  return positionsOf(curve)
}

function curvesOf(geometry: FgbGeometry): Position[][] {
  return geometry.parts.map((part) => curveOf(part, part.type))
}

function surfaceOf(part: FgbGeometry): Position[][] {
  return part.type === GeometryType.CurvePolygon ? curvesOf(part) : linesOf(part)
}

function positionsOf(geometry: FgbGeometry): Position[] {
  const xy = geometry.xy ?? new Float64Array(0)
  const z = geometry.z
  const positions: Position[] = new Array(xy.length >> 1)
  for (let i = 0; i < positions.length; i++) {
    const [x, y] = [xy[i * 2]!, xy[i * 2 + 1]!]
    positions[i] = z && z.length > i ? [x, y, z[i]!] : [x, y]
  }
  return positions
}

function linesOf(geometry: FgbGeometry): Position[][] {
  const positions = positionsOf(geometry)
  if (positions.length === 0) return []
  const ends = geometry.ends
  if (!ends || ends.length === 0) return [positions]
  return Array.from(ends, (end, i) => {
    const start = i === 0 ? 0 : ends[i - 1]!
    // Otherwise many lines could have the same positions.
    if (end < start) throw new SourceError('the ends of the lines are out of order')
    return positions.slice(start, end)
  })
}

function nameOf(type: number): string {
  return Object.entries(GeometryType).find(([, number]) => number === type)?.[0] ?? String(type)
}
