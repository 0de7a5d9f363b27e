/**
 * `features.pack`: every feature as GeoJSON text in snapshot order, one per line, separated by `,\n`. With a
 * head and a tail around it, the file is a feature collection. The members are in this order, without
 * whitespace: `{"type":"Feature","id":…,"geometry":…,"properties":{…}}`.
 */
export const PACK_FILE = 'features.pack'
export const PACK_SEPARATOR = ',\n'
export const FEATURE_HEAD = '{"type":"Feature","id":'
export const GEOMETRY_HEAD = ',"geometry":'
export const PROPERTIES_HEAD = ',"properties":'
export const FEATURE_TAIL = '}'

const QUOTE = 34
const BACKSLASH = 92
const COMMA = 44

/** The end of the id that starts at `from`: an integer ends at a comma, a string after its closing quote. */
export function idEnd(bytes: Uint8Array, from: number): number {
  let at = from
  if (bytes[at] !== QUOTE) {
    while (at < bytes.length && bytes[at] !== COMMA) at++
    return at
  }
  at++
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at + 1
}

export interface FeatureParts {
  id: Buffer
  geometry: Buffer
  properties: Buffer
}

/** Splits a feature's bytes into its parts, as JSON text. A geometry has no member named `properties`. */
export function sliceFeature(feature: Buffer): FeatureParts {
  const idStop = idEnd(feature, FEATURE_HEAD.length)
  const geometryStart = idStop + GEOMETRY_HEAD.length
  const geometryStop = feature.indexOf(PROPERTIES_HEAD, geometryStart)
  return {
    id: feature.subarray(FEATURE_HEAD.length, idStop),
    geometry: feature.subarray(geometryStart, geometryStop),
    properties: feature.subarray(geometryStop + PROPERTIES_HEAD.length, feature.length - FEATURE_TAIL.length),
  }
}
