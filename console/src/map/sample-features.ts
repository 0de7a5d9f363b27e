import type { Feature, Geometry, Row } from '@wayleave/client'

/** The rows of the sample as features, for maps without a key. */
export function sampleFeatures(rows: Row[]): Feature[] {
  return rows.flatMap(({ geometry, ...row }, id) => {
    const { longitude, latitude } = row
    const point = { type: 'Point', coordinates: [longitude, latitude] } as Geometry
    const shape = (geometry as Geometry | null | undefined) ?? (typeof longitude === 'number' ? point : null)
    return shape ? [{ type: 'Feature' as const, id, geometry: shape, properties: row }] : []
  })
}
