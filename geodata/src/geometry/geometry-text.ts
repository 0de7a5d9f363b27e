import type { Geometry, Position } from '../feature.ts'

/**
 * A geometry as GeoJSON text without whitespace, `type` first. JavaScript formats a number with the shortest
 * text that parses back to the same double, so nothing is lost. `JSON.stringify` would take twice as long per
 * point.
 */
export function geometryText(geometry: Geometry): string {
  switch (geometry.type) {
    case 'Point':
      return `{"type":"Point","coordinates":${positionText(geometry.coordinates)}}`
    case 'MultiPoint':
    case 'LineString':
      return `{"type":"${geometry.type}","coordinates":${lineText(geometry.coordinates)}}`
    case 'Polygon':
    case 'MultiLineString':
      return `{"type":"${geometry.type}","coordinates":${linesText(geometry.coordinates)}}`
    case 'MultiPolygon':
      return `{"type":"MultiPolygon","coordinates":[${geometry.coordinates.map(linesText).join(',')}]}`
    case 'GeometryCollection':
      return `{"type":"GeometryCollection","geometries":[${geometry.geometries.map(geometryText).join(',')}]}`
  }
}

function linesText(lines: Position[][]): string {
  return `[${lines.map(lineText).join(',')}]`
}

function lineText(positions: Position[]): string {
  let text = '['
  for (let i = 0; i < positions.length; i++) {
    if (i > 0) text += ','
    text += positionText(positions[i]!)
  }
  return `${text}]`
}

function positionText(position: Position): string {
  if (position.length === 2) return `[${position[0]},${position[1]}]`
  if (position.length === 3) return `[${position[0]},${position[1]},${position[2]}]`
  return '[]'
}
