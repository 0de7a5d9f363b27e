const FEATURES = 'http://www.opengis.net/spec/ogcapi-features'

/** What works here, and nothing else. */
export const CONFORMANCE: readonly string[] = [
  'http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/core',
  'http://www.opengis.net/spec/ogcapi-common-2/1.0/conf/collections',
  `${FEATURES}-1/1.0/conf/core`,
  `${FEATURES}-1/1.0/conf/oas30`,
  `${FEATURES}-1/1.0/conf/geojson`,
  `${FEATURES}-1/1.0/conf/html`,
  `${FEATURES}-2/1.0/conf/crs`,
]
