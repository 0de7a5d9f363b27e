import { licenseLink } from '@wayleave/contract/licenses'
import { type Bbox, roundOutward } from '@wayleave/geodata/geometry'
import type { ListedDataset, ManifestSummary } from '../../data/catalog/dataset.ts'
import { CRS84, type CrsList, storageCrs } from '../request/crs-list.ts'
import {
  DOCUMENT_ENCODINGS,
  type Encoding,
  geojson,
  html,
  ITEMS_ENCODINGS,
  json,
  schemaJson,
  tileJson,
} from '../request/encodings.ts'
import type { QueryPair } from '../request/query-string.ts'
import { WEB_MERCATOR_QUAD } from '../tiles/tile-matrix-set.ts'
import { hasTiles } from '../tiles/tile-states.ts'
import { TILESETS_VECTOR } from '../tiles/tileset-documents.ts'
import { type Link, ROOT, selfAndAlternates } from '../write/links.ts'

const QUERYABLES = 'http://www.opengis.net/def/rel/ogc/1.0/queryables'
const SCHEMA = 'http://www.opengis.net/def/rel/ogc/1.0/schema'
const SORTABLES = 'http://www.opengis.net/def/rel/ogc/1.0/sortables'

const GREGORIAN = 'http://www.opengis.net/def/uom/ISO-8601/0/Gregorian'
const WORLD: Bbox = [-180, -90, 180, 90]

export type CollectionDocument = ReturnType<typeof collectionDocument>

export function collectionDocument(
  dataset: ListedDataset,
  base: string,
  crsList: CrsList,
  own: readonly Link[],
) {
  const { table, manifest } = dataset
  const url = `${base}${ROOT}/collections/${table}`
  return {
    id: table,
    title: dataset.title,
    description: dataset.description,
    ...(dataset.attribution === '' ? {} : { attribution: dataset.attribution }),
    ...(dataset.license === '' ? {} : { license: dataset.license }),
    keywords: dataset.keywords,
    itemType: 'feature',
    ...extentOf(manifest),
    crs: crsList.of(manifest).map(({ uri }) => uri),
    storageCrs: storageCrs(manifest).uri,
    itemCount: manifest.rows,
    updated: dataset.updatedAt,
    links: [
      ...own,
      ...ITEMS_ENCODINGS.map((encoding) => ({
        // The first one, which clients get by default, has no query: GDAL appends the id of a feature to it.
        href: encoding === geojson ? `${url}/items` : `${url}/items?f=${encoding.name}`,
        rel: 'items',
        type: encoding.mediaType,
        title: `The features as ${encoding.title}`,
      })),
      {
        href: `${url}/queryables`,
        rel: QUERYABLES,
        type: schemaJson.mediaType,
        title: 'What can be filtered by',
      },
      {
        href: `${url}/sortables`,
        rel: SORTABLES,
        type: schemaJson.mediaType,
        title: 'What can be sorted by',
      },
      { href: `${url}/schema`, rel: SCHEMA, type: schemaJson.mediaType, title: 'The schema of a feature' },
      {
        href: `${url}/feature-schema`,
        rel: 'describedby',
        type: schemaJson.mediaType,
        title: 'The schema of a feature in GeoJSON',
      },
      ...tileLinks(dataset, url),
      { href: `${base}/v1/dataset/${table}`, rel: 'about', type: json.mediaType, title: 'The dataset' },
      ...licenseLinks(dataset.license),
    ],
  }
}

export function oneCollection(
  dataset: ListedDataset,
  base: string,
  crsList: CrsList,
  pairs: readonly QueryPair[],
  encoding: Encoding,
) {
  const url = `${base}${ROOT}/collections/${dataset.table}`
  return collectionDocument(
    dataset,
    base,
    crsList,
    selfAndAlternates(url, pairs, DOCUMENT_ENCODINGS, encoding),
  )
}

export function allCollections(
  datasets: readonly ListedDataset[],
  base: string,
  crsList: CrsList,
  pairs: readonly QueryPair[],
  encoding: Encoding,
) {
  const url = `${base}${ROOT}/collections`
  return {
    links: selfAndAlternates(url, pairs, DOCUMENT_ENCODINGS, encoding),
    crs: crsList.common.map(({ uri }) => uri),
    collections: datasets.map((dataset) => {
      const own = [json, html].map(({ name, mediaType }) => ({
        href: `${url}/${dataset.table}?f=${name}`,
        rel: name === encoding.name ? 'self' : 'alternate',
        type: mediaType,
        title: dataset.title,
      }))
      return collectionDocument(dataset, base, crsList, own)
    }),
  }
}

interface Extent {
  spatial?: { bbox: Bbox[]; crs: string }
  temporal?: { interval: [string, string][]; trs: string }
}

/** The spatial and temporal extent. Features without geometry and time have no extent. */
function extentOf({ geometryType, bbox, timeExtent }: ManifestSummary): { extent?: Extent } {
  const extent: Extent = {}
  if (geometryType !== null) extent.spatial = { bbox: [bbox ? roundOutward(bbox) : WORLD], crs: CRS84.uri }
  if (timeExtent) extent.temporal = { interval: [asMoments(timeExtent)], trs: GREGORIAN }
  return extent.spatial || extent.temporal ? { extent } : {}
}

/**
 * The standard requires timestamps at the ends of an interval: days extend from their first second to their
 * last.
 */
function asMoments([start, end]: [string, string]): [string, string] {
  const isDay = !start.includes('T')
  return isDay ? [`${start}T00:00:00Z`, `${end}T23:59:59Z`] : [start, end]
}

/** Where the tiles of a collection are described; a table has none. */
function tileLinks(dataset: ListedDataset, url: string): Link[] {
  if (!hasTiles(dataset)) return []
  const tileset = `${url}/tiles/${WEB_MERCATOR_QUAD}`
  return [
    { href: `${url}/tiles`, rel: TILESETS_VECTOR, type: json.mediaType, title: 'The tilesets' },
    {
      href: `${tileset}?f=tilejson`,
      rel: 'tilejson',
      type: tileJson.mediaType,
      title: 'The tiles as TileJSON',
    },
    {
      href: `${url}/style`,
      rel: 'stylesheet',
      type: json.mediaType,
      title: 'A MapLibre style for the tiles',
    },
  ]
}

/** A license that is a URL becomes a link; others are only named. A link must have a type. */
function licenseLinks(license: string): Link[] {
  const href = licenseLink(license)
  return href === null ? [] : [{ href, rel: 'license', type: html.mediaType, title: 'The license' }]
}
