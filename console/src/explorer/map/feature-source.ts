import type { Feature } from '@wayleave/client'
import { drawnGeometry } from './drawn-geometry.ts'
import { type DataSource, FEATURE_ID } from './map-style.ts'

/** Features that the page already has, as a source of the map. */
export function featureSource(features: readonly Feature[]): DataSource {
  return {
    kind: 'features',
    collection: {
      type: 'FeatureCollection',
      features: features
        .filter(({ geometry }) => geometry !== null)
        .map(({ id, geometry, properties }) => ({
          type: 'Feature',
          properties: { ...properties, [FEATURE_ID]: String(id) },
          geometry: drawnGeometry(geometry),
        })),
    },
  }
}
