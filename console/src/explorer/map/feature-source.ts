import type { Feature } from '@wayleave/client'
import { drawnGeometry } from './drawn-geometry.ts'
import { type DataSource, FEATURE_ID } from './map-style.ts'

/** A sample has no more. */
const FEW = 100

/** Features that the page already has, as a source of the map. */
export function featureSource(features: readonly Feature[], attribution: string): DataSource {
  return {
    kind: 'features',
    attribution,
    isSparse: features.length <= FEW,
    collection: {
      type: 'FeatureCollection',
      features: features
        .filter(({ geometry }) => geometry !== null)
        .map(({ id, geometry, properties }) => ({
          type: 'Feature',
          properties: { ...drawnProperties(properties), [FEATURE_ID]: String(id) },
          geometry: drawnGeometry(geometry),
        })),
    },
  }
}

/**
 * Properties as the service's tiles have them: null is left out, so that it is missing, not 0 or an empty text,
 * and integers that tiles cannot hold, such as 1e24, are texts. MapLibre encodes features as tiles, and fails otherwise.
 */
function drawnProperties(properties: Feature['properties']): Feature['properties'] {
  const drawn = Object.entries(properties)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [name, isTooLarge(value) ? String(value) : value])
  return Object.fromEntries(drawn)
}

function isTooLarge(value: unknown): boolean {
  return typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER
}
