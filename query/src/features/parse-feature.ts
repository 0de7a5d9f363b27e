import { parseJson } from '@wayleave/geodata/features'
import type { Geometry, Value } from '@wayleave/geodata/geometry'

export interface ParsedFeature {
  id: string | number | bigint
  geometry: Geometry | null
  properties: { [name: string]: Value }
}

/** Parses a feature of the pack. Integers are exact: those beyond 2^53 are bigint. */
export function parseFeature(bytes: Buffer, start = 0, end = bytes.length): ParsedFeature {
  return parseJson(bytes.toString('utf8', start, end)) as unknown as ParsedFeature
}
