import { DEFAULT_LIMITS } from '../cql2/ast.ts'
import type { Conditions } from '../plan/conditions.ts'

/** Longitude and latitude. */
const CRS84 = { uri: 'http://www.opengis.net/def/crs/OGC/1.3/CRS84', toWgs84: null, northingFirst: false }

/** The conditions of a filter in CQL2 text. */
export function conditionsOf(text: string): Conditions & { filter: NonNullable<Conditions['filter']> } {
  const filter = { text, language: 'cql2-text' as const, crs: CRS84, limits: DEFAULT_LIMITS }
  return { filter, datetime: null, properties: [] }
}
