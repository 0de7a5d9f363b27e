const CQL2 = 'http://www.opengis.net/spec/cql2/1.0/conf'
const FEATURES = 'http://www.opengis.net/spec/ogcapi-features-3/1.0/conf'

/**
 * The supported conformance classes of CQL2. Not included is `functions`, because there are no functions
 * beyond the standard's own.
 */
export const CQL2_CONFORMANCE: readonly string[] = [
  `${CQL2}/basic-cql2`,
  `${CQL2}/advanced-comparison-operators`,
  `${CQL2}/case-insensitive-comparison`,
  `${CQL2}/accent-insensitive-comparison`,
  `${CQL2}/basic-spatial-functions`,
  `${CQL2}/basic-spatial-functions-plus`,
  `${CQL2}/spatial-functions`,
  `${CQL2}/temporal-functions`,
  `${CQL2}/array-functions`,
  `${CQL2}/property-property`,
  `${CQL2}/arithmetic`,
  `${CQL2}/cql2-text`,
  `${CQL2}/cql2-json`,
]

/** The conformance classes of OGC API - Features - Part 3 for routes that offer `filter` and queryables. */
export const FILTERING_CONFORMANCE: readonly string[] = [
  `${FEATURES}/queryables`,
  `${FEATURES}/queryables-query-parameters`,
  `${FEATURES}/filter`,
  `${FEATURES}/features-filter`,
]
