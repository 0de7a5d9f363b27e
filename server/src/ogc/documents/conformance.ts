import { CQL2_CONFORMANCE, FILTERING_CONFORMANCE } from './cql2-conformance.ts'

const FEATURES = 'http://www.opengis.net/spec/ogcapi-features'
/** OGC 23-058r2, which is both Part 5 of Features and Part 3 of Common, has its URIs under the latter. */
const SCHEMAS = 'http://www.opengis.net/spec/ogcapi-common-3/1.0/conf'

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
  `${SCHEMAS}/schemas`,
  `${SCHEMAS}/advanced-property-roles`,
  `${SCHEMAS}/returnables-and-receivables`,
  `${SCHEMAS}/queryables`,
  `${SCHEMAS}/sortables`,
  ...['core', 'tileset', 'tilesets-list', 'geodata-tilesets', 'mvt', 'tilejson', 'oas30'].map(
    (name) => `http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf/${name}`,
  ),
  'http://www.opengis.net/spec/json-fg-1/1.0/conf/core',
  'http://www.opengis.net/spec/json-fg-1/1.0/conf/types-schemas',
]
