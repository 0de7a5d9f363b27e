import type { Geometry as FgbGeometry } from 'flatgeobuf/lib/mjs/flat-geobuf/geometry.js'
import { GeometryType } from 'flatgeobuf/lib/mjs/flat-geobuf/geometry-type.js'
import type { Geometry, Position } from '../../feature.ts'
import { SourceError } from '../../source-error.ts'

const MAX_DEPTH = 64

/** `declared` is the type in the file's header, which applies to all features unless it is unknown. */
export function readFlatgeobufGeometry(geometry: FgbGeometry, declared: GeometryType, depth = 0): Geometry {
  if (depth > MAX_DEPTH) throw new SourceError(`the geometry is nested more than ${MAX_DEPTH} deep`)
  const type = declared === GeometryType.Unknown ? geometry.type() : declared
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
      const coordinates = partsOf(geometry).map(linesOf)
      // Some writers omit the parts of a single polygon.
      return {
        type: 'MultiPolygon',
        coordinates: coordinates.length > 0 ? coordinates : [linesOf(geometry)].filter((p) => p.length > 0),
      }
    }
    case GeometryType.GeometryCollection: {
      const geometries = partsOf(geometry).map((part) =>
        readFlatgeobufGeometry(part, GeometryType.Unknown, depth + 1),
      )
      return { type: 'GeometryCollection', geometries }
    }
    default:
      throw new SourceError(`the geometry is a ${GeometryType[type] ?? type}, which GeoJSON cannot express`)
  }
}

function partsOf(geometry: FgbGeometry): FgbGeometry[] {
  return Array.from({ length: geometry.partsLength() }, (_, i) => geometry.parts(i)!)
}

function positionsOf(geometry: FgbGeometry): Position[] {
  const xy = geometry.xyArray() ?? new Float64Array(0)
  const z = geometry.zArray()
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
  const ends = geometry.endsArray()
  if (!ends || ends.length === 0) return [positions]
  return Array.from(ends, (end, i) => positions.slice(i === 0 ? 0 : ends[i - 1]!, end))
}
