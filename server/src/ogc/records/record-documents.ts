import { licenseLink, spdxId } from '@wayleave/contract/licenses'
import { exportFormatsOf } from '@wayleave/geodata/exports'
import type { ListedDataset } from '../../data/catalog/dataset.ts'
import type { About } from '../../http/about.ts'
import { plainText } from '../../http/pages/plain-text.ts'
import {
  CATALOG_ENCODINGS,
  DOCUMENT_ENCODINGS,
  type Encoding,
  geojson,
  html,
  json,
  openApi,
  RECORD_ENCODINGS,
} from '../request/encodings.ts'
import type { QueryPair } from '../request/query-string.ts'
import { type Link, selfAndAlternates } from '../write/links.ts'
import { externalIdOf, RECORD_TYPE } from './record-query.ts'

export const RECORDS_ROOT = '/v1/records'
/** The one catalogue. */
export const CATALOG_ID = 'datasets'

const RECORDS = 'http://www.opengis.net/spec/ogcapi-records-1/1.0/conf'
const FEATURES = 'http://www.opengis.net/spec/ogcapi-features-1/1.0/conf'
const PROFILE = 'http://www.opengis.net/def/profile/OGC/0/ogc-record'

const RECORDS_CONFORMANCE: readonly string[] = [
  'http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/core',
  'http://www.opengis.net/spec/ogcapi-common-2/1.0/conf/collections',
  ...['core', 'oas30', 'geojson', 'html'].map((name) => `${FEATURES}/${name}`),
  ...[
    'record-core',
    'record-collection',
    'record-core-query-parameters',
    'records-api',
    'searchable-catalog',
    'json',
    'html',
    'oas30',
    'autodiscovery',
  ].map((name) => `${RECORDS}/${name}`),
]

/** What every document is made from. */
export interface RecordsPlace {
  base: string
  about: About
  pairs: readonly QueryPair[]
  encoding: Encoding
}

export function recordsLanding({ base, about, pairs, encoding }: RecordsPlace) {
  const root = base + RECORDS_ROOT
  return {
    title: `${about.title}: the catalogue`,
    description: 'The datasets of the service as records, by OGC API - Records.',
    links: [
      ...selfAndAlternates(root, pairs, DOCUMENT_ENCODINGS, encoding),
      { href: `${root}/api`, rel: 'service-desc', type: openApi.mediaType, title: 'The API definition' },
      { href: `${root}/api?f=html`, rel: 'service-doc', type: html.mediaType, title: 'The API, described' },
      { href: `${root}/conformance`, rel: 'conformance', type: json.mediaType, title: 'What is supported' },
      { href: `${root}/collections`, rel: 'data', type: json.mediaType, title: 'The catalogues' },
      {
        href: `${root}/collections/${CATALOG_ID}`,
        rel: 'http://www.opengis.net/def/rel/ogc/1.0/ogc-catalog',
        type: 'application/ogc-catalog+json',
        title: 'The catalogue of datasets',
      },
    ],
  }
}

export function recordsConformance({ base, pairs, encoding }: RecordsPlace) {
  return {
    conformsTo: RECORDS_CONFORMANCE,
    links: selfAndAlternates(`${base}${RECORDS_ROOT}/conformance`, pairs, DOCUMENT_ENCODINGS, encoding),
  }
}

export function catalogs(place: RecordsPlace, datasets: readonly ListedDataset[]) {
  const { base, pairs, encoding } = place
  const root = `${base}${RECORDS_ROOT}/collections`
  return {
    links: selfAndAlternates(root, pairs, DOCUMENT_ENCODINGS, encoding),
    collections: [
      catalogOf(place, datasets, [
        { href: `${root}/${CATALOG_ID}`, rel: 'self', type: 'application/ogc-catalog+json' },
      ]),
    ],
  }
}

export function catalog(place: RecordsPlace, datasets: readonly ListedDataset[]) {
  const { base, pairs, encoding } = place
  const url = `${base}${RECORDS_ROOT}/collections/${CATALOG_ID}`
  return catalogOf(place, datasets, selfAndAlternates(url, pairs, CATALOG_ENCODINGS, encoding))
}

function catalogOf({ base, about }: RecordsPlace, datasets: readonly ListedDataset[], links: Link[]) {
  const url = `${base}${RECORDS_ROOT}/collections/${CATALOG_ID}`
  const boxes = datasets.flatMap(({ manifest: { bbox } }) => (bbox === null ? [] : [bbox]))
  const updated = datasets
    .map(({ updatedAt }) => updatedAt)
    .sort()
    .at(-1)
  return {
    id: CATALOG_ID,
    type: 'Catalog',
    title: `The datasets of ${about.title}`,
    description: about.description,
    itemType: 'record',
    crs: ['http://www.opengis.net/def/crs/OGC/1.3/CRS84'],
    ...(boxes.length === 0 ? {} : { extent: { spatial: { bbox: [boxAround(boxes)] } } }),
    ...(updated === undefined ? {} : { updated }),
    links: [
      ...links,
      { href: `${url}/items`, rel: 'items', type: geojson.mediaType, title: 'The records as GeoJSON' },
      { href: `${url}/items?f=html`, rel: 'items', type: html.mediaType, title: 'The records as HTML' },
      { href: `${base}/catalog.jsonld`, rel: 'alternate', type: 'application/ld+json', title: 'DCAT' },
      { href: `${base}/catalog.ttl`, rel: 'alternate', type: 'text/turtle', title: 'DCAT in Turtle' },
      { href: base + RECORDS_ROOT, rel: 'root', type: json.mediaType },
    ],
  }
}

function boxAround(boxes: [number, number, number, number][]): number[] {
  const crosses = boxes.some(([west, , east]) => west > east)
  return [
    crosses ? -180 : Math.min(...boxes.map((box) => box[0])),
    Math.min(...boxes.map((box) => box[1])),
    crosses ? 180 : Math.max(...boxes.map((box) => box[2])),
    Math.max(...boxes.map((box) => box[3])),
  ]
}

/** A record on its own page, with links to its other encodings. */
export function recordDocument(place: RecordsPlace, dataset: ListedDataset) {
  const { base, pairs, encoding } = place
  const url = `${base}${RECORDS_ROOT}/collections/${CATALOG_ID}/items/${dataset.table}`
  return recordOf(place, dataset, selfAndAlternates(url, pairs, RECORD_ENCODINGS, encoding))
}

/** A dataset as a record. Without `own`, it links to its own page. */
export function recordOf({ base }: RecordsPlace, dataset: ListedDataset, own?: Link[]) {
  const { table, title, description, keywords, license, attribution, manifest } = dataset
  const catalogUrl = `${base}${RECORDS_ROOT}/collections/${CATALOG_ID}`
  const { bbox, timeExtent } = manifest
  const licenseUrl = license === '' ? null : licenseLink(license)
  const spdx = license === '' ? null : spdxId(license)
  const formats = exportFormatsOf(manifest)
  return {
    id: table,
    type: 'Feature',
    geometry: bbox === null ? null : boxGeometry(bbox),
    ...(bbox === null ? {} : { bbox }),
    time: timeExtent ? { interval: timeExtent } : null,
    properties: {
      type: RECORD_TYPE,
      title,
      description: plainText(description),
      keywords,
      created: dataset.createdAt,
      updated: dataset.updatedAt,
      externalIds: [{ value: externalIdOf(dataset, base) }],
      formats: formats.map((format) => ({ name: format.title, mediaType: format.mediaType })),
      ...(attribution === '' ? {} : { contacts: [{ organization: attribution, roles: ['owner'] }] }),
      ...(license === '' ? {} : { license: spdx ?? 'other' }),
    },
    links: [
      ...(own ?? [{ href: `${catalogUrl}/items/${table}`, rel: 'self', type: geojson.mediaType }]),
      { href: catalogUrl, rel: 'collection', type: 'application/ogc-catalog+json', title: 'The catalogue' },
      { href: PROFILE, rel: 'profile' },
      { href: `${base}/datasets/${table}`, rel: 'about', type: html.mediaType, title: 'The dataset’s page' },
      {
        href: `${base}/v1/ogc/collections/${table}`,
        rel: 'http://www.opengis.net/def/rel/ogc/1.0/data',
        type: json.mediaType,
        title: 'The features, by OGC API - Features (needs a key)',
      },
      ...(licenseUrl === null ? [] : [{ href: licenseUrl, rel: 'license', title: license }]),
    ],
  }
}

function boxGeometry([west, south, east, north]: [number, number, number, number]) {
  const ring = (left: number, right: number) => [
    [
      [left, south],
      [right, south],
      [right, north],
      [left, north],
      [left, south],
    ],
  ]
  if (west <= east) return { type: 'Polygon', coordinates: ring(west, east) }
  return { type: 'MultiPolygon', coordinates: [ring(west, 180), ring(-180, east)] }
}
