import { CQL2_CONFORMANCE, FILTERING_CONFORMANCE } from '../cql2/conformance.ts'

const FEATURES = 'http://www.opengis.net/spec/ogcapi-features'

/** The conformance classes that are supported. */
export const CONFORMANCE: readonly string[] = [
  'http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/core',
  'http://www.opengis.net/spec/ogcapi-common-2/1.0/conf/collections',
  `${FEATURES}-1/1.0/conf/core`,
  `${FEATURES}-1/1.0/conf/oas30`,
  `${FEATURES}-1/1.0/conf/geojson`,
  `${FEATURES}-1/1.0/conf/html`,
  `${FEATURES}-2/1.0/conf/crs`,
  ...FILTERING_CONFORMANCE,
  ...CQL2_CONFORMANCE,
  `${FEATURES}-5/1.0/conf/schemas`,
  `${FEATURES}-5/1.0/conf/core-roles-features`,
  `${FEATURES}-5/1.0/conf/returnables-and-receivables`,
  `${FEATURES}-5/1.0/conf/queryables`,
  `${FEATURES}-5/1.0/conf/sortables`,
  'http://www.opengis.net/spec/json-fg-1/1.0/conf/core',
  'http://www.opengis.net/spec/json-fg-1/1.0/conf/types-schemas',
]
