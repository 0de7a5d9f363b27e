import type { Feature, Geometry, Row } from '@wayleave/client'

/** The rows of the sample as features, for pages without a key. Rows have no ids there, so they are numbered. */
export function sampleFeatures(rows: Row[]): Feature[] {
  return rows.map(({ geometry, ...row }, id) => {
    const { longitude, latitude } = row
    const point = { type: 'Point', coordinates: [longitude, latitude] } as Geometry
    const shape = (geometry as Geometry | null | undefined) ?? (typeof longitude === 'number' ? point : null)
    return { type: 'Feature' as const, id, geometry: shape, properties: row }
  })
}
