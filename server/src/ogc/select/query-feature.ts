import { idQueryable } from '@wayleave/geodata/snapshot/feature-ids.ts'
import type { Manifest } from '@wayleave/geodata/snapshot/manifest.ts'
import { type ParsedFeature, parseFeature } from './parse-feature.ts'

/** Parses a feature for a filter or a sort order, to which the id is a property like the others. */
export function queryFeature(
  manifest: Manifest,
  bytes: Buffer,
  start = 0,
  end = bytes.length,
): ParsedFeature {
  const feature = parseFeature(bytes, start, end)
  const queryable = idQueryable(manifest)
  if (queryable !== null && manifest.id.column === null)
    feature.properties[queryable.column.name] = feature.id
  return feature
}
