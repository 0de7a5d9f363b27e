import type { Geometry, Value } from '@wayleave/geodata/geometry'

/**
 * A feature with values as in GeoJSON: timestamps end in Z, integers are numbers or, beyond 2^53, should be
 * bigint. Columns that the filter does not use may be missing.
 */
export interface FeatureValues {
  properties: { readonly [name: string]: Value | undefined }
  geometry: Geometry | null
}

export type Test = (feature: FeatureValues) => boolean | null
export type Reader<T> = (feature: FeatureValues) => T | null

/** The value of a scalar. Instants are strings that sort by time. */
export type ScalarValue = string | number | bigint | boolean
