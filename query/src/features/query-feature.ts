import type { Manifest } from '@wayleave/geodata/snapshot'
import { type ParsedFeature, parseFeature } from './parse-feature.ts'

/** Parses a feature for a filter or a sort order, to which the id is a property like the others. */
export function queryFeature({ id }: Manifest, bytes: Buffer, start = 0, end = bytes.length): ParsedFeature {
  const feature = parseFeature(bytes, start, end)
  if (id.name !== undefined) feature.properties[id.name] = feature.id
  return feature
}
