import type { Geometry } from '../feature.ts'
import { geometryText } from '../geometry/geometry-text.ts'
import { pointOnSurface } from '../geometry/point-on-surface.ts'
import { sliceFeature } from '../pack/pack.ts'
import { idColumn } from '../snapshot/feature-ids.ts'
import type { Manifest } from '../snapshot/manifest.ts'
import type { RenamedProperties } from '../snapshot/renamed-properties.ts'

const MAX_SAMPLE_ROWS = 100

/** The positions of the sample, evenly spread over the snapshot: at most a tenth of the rows, min one. */
export function samplePositions(rows: number): number[] {
  const count = Math.min(rows, MAX_SAMPLE_ROWS, Math.max(1, Math.floor(rows / 10)))
  return Array.from({ length: count }, (_, i) => Math.floor(((i + 0.5) * rows) / count))
}

/**
 * Makes a sample row from a feature's text, in the shape of a row of the json export: the id if it is a
 * column, the columns, then
 * `longitude` and `latitude`, and `geometry` unless the dataset has only points.
 */
export function sampleRow(
  feature: Buffer,
  manifest: Pick<Manifest, 'columns' | 'geometryType' | 'id'>,
  properties: RenamedProperties,
): string {
  const parts = sliceFeature(feature)
  const out = Buffer.alloc(parts.properties.length + properties.extraBytes)
  const end = properties.putMembers(parts.properties, 0, parts.properties.length, out, 0)
  const id = idColumn(manifest)
  const columns = [
    ...(id === null ? [] : [`${JSON.stringify(id.name)}:${parts.id.toString('utf8')}`]),
    ...(manifest.columns.length === 0 ? [] : [out.toString('utf8', 0, end)]),
  ].join(',')
  if (manifest.geometryType === null) return `{${columns}}`
  const geometry = JSON.parse(parts.geometry.toString('utf8')) as Geometry | null
  const point = geometry === null ? null : pointOnSurface(geometry)
  const place = `"longitude":${point?.[0] ?? null},"latitude":${point?.[1] ?? null}`
  const shape =
    manifest.geometryType !== 'Point'
      ? `,"geometry":${geometry === null ? 'null' : geometryText(geometry)}`
      : ''
  return `{${columns}${columns === '' ? '' : ','}${place}${shape}}`
}
