import type { Geometry, Position } from '../feature.ts'
import type { ColumnBytes } from './column-bytes.ts'

/**
 * Writes a geometry as GeoJSON text, byte for byte what `geometryText` returns, without building a string.
 * Returns whether any position has a height, because it visits all of them.
 */
export function writeGeojson(geometry: Geometry, bytes: ColumnBytes): boolean {
  const start = bytes.beginText()
  const withZ = writeGeometry(geometry, bytes)
  bytes.endText(start)
  return withZ
}

function writeGeometry(geometry: Geometry, bytes: ColumnBytes): boolean {
  bytes.ascii('{"type":"')
  bytes.ascii(geometry.type)
  bytes.ascii(geometry.type === 'GeometryCollection' ? '","geometries":' : '","coordinates":')
  const withZ = writeMembers(geometry, bytes)
  bytes.ascii('}')
  return withZ
}

function writeMembers(geometry: Geometry, bytes: ColumnBytes): boolean {
  switch (geometry.type) {
    case 'Point':
      return writePosition(geometry.coordinates, bytes)
    case 'MultiPoint':
    case 'LineString':
      return writeLine(geometry.coordinates, bytes)
    case 'MultiLineString':
    case 'Polygon':
      return writeLines(geometry.coordinates, bytes)
    case 'MultiPolygon':
      return writeList(geometry.coordinates, writeLines, bytes)
    case 'GeometryCollection':
      return writeList(geometry.geometries, writeGeometry, bytes)
  }
}

function writeLines(lines: Position[][], bytes: ColumnBytes): boolean {
  return writeList(lines, writeLine, bytes)
}

function writeLine(positions: Position[], bytes: ColumnBytes): boolean {
  return writeList(positions, writePosition, bytes)
}

function writePosition(position: Position, bytes: ColumnBytes): boolean {
  bytes.ascii('[')
  for (let i = 0; i < position.length; i++) {
    if (i > 0) bytes.ascii(',')
    bytes.number(position[i]!)
  }
  bytes.ascii(']')
  return position.length > 2
}

function writeList<T>(
  members: T[],
  write: (member: T, bytes: ColumnBytes) => boolean,
  bytes: ColumnBytes,
): boolean {
  let withZ = false
  bytes.ascii('[')
  for (let i = 0; i < members.length; i++) {
    if (i > 0) bytes.ascii(',')
    if (write(members[i]!, bytes)) withZ = true
  }
  bytes.ascii(']')
  return withZ
}
