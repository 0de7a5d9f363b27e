import { BoundedCache } from '@wayleave/geodata/base'
import Negotiator from 'negotiator'
import { invalidInput, Problem } from '../../base/problem.ts'

/** An encoding of a response: its name in `f=`, its media type, and the other values that select it. */
export interface Encoding<Name extends string = string> {
  name: Name
  mediaType: string
  /** Further values of `f` and of `Accept` that select it. */
  names: readonly string[]
  types: readonly string[]
  title: string
}

function encoding<Name extends string>(
  name: Name,
  mediaType: string,
  title: string,
  { names = [] as string[], types = [] as string[] } = {},
): Encoding<Name> {
  const bare = mediaType.split(';', 1)[0]!
  return { name, mediaType, title, names: [name, ...names], types: [bare, ...types] }
}

const JSON_TYPES = ['application/json']

export const json = encoding('json', 'application/json', 'JSON')
export const html = encoding('html', 'text/html', 'HTML', { types: ['application/xhtml+xml'] })
export const openApi = encoding('json', 'application/vnd.oai.openapi+json;version=3.0', 'OpenAPI 3.0', {
  types: ['application/openapi+json', ...JSON_TYPES],
})
export const schemaJson = encoding('json', 'application/schema+json', 'JSON Schema', { types: JSON_TYPES })
export const geojson = encoding('json', 'application/geo+json', 'GeoJSON', {
  names: ['geojson'],
  types: [...JSON_TYPES, 'application/vnd.geo+json'],
})
export const jsonFg = encoding('jsonfg', 'application/vnd.ogc.fg+json', 'JSON-FG', {
  types: ['application/fg+json'],
})
export const ndjson = encoding('ndjson', 'application/x-ndjson', 'Newline-delimited GeoJSON', {
  types: ['application/ndjson', 'application/jsonl'],
})
export const geojsonSeq = encoding('geojsonseq', 'application/geo+json-seq', 'GeoJSON text sequence')
export const csv = encoding('csv', 'text/csv', 'CSV')
export const flatgeobuf = encoding('fgb', 'application/vnd.flatgeobuf', 'FlatGeobuf', {
  types: ['application/flatgeobuf'],
})

export const parquet = encoding('parquet', 'application/vnd.apache.parquet', 'GeoParquet', {
  names: ['geoparquet'],
})

export const arrow = encoding('arrow', 'application/vnd.apache.arrow.stream', 'Arrow')

/** Cells or areas as features; JSON is another encoding of the same groups. */
export const geojsonAreas = encoding('geojson', 'application/geo+json', 'GeoJSON')

export const mvt = encoding('mvt', 'application/vnd.mapbox-vector-tile', 'Mapbox Vector Tile', {
  names: ['pbf'],
  types: ['application/x-protobuf', 'application/vnd.mapbox-vector-tile'],
})
export const tileJson = encoding('tilejson', 'application/vnd.mapbox.tile+json', 'TileJSON 3.0', {
  types: ['application/vnd.mapbox.tilejson+json'],
})

const catalogJson = encoding('json', 'application/ogc-catalog+json', 'JSON', { types: JSON_TYPES })

/** The first encoding of each list is the default. */
export const TILE_ENCODINGS = [mvt]
export const TILE_DOCUMENT_ENCODINGS = [json, tileJson]
export const DOCUMENT_ENCODINGS = [json, html]
export const API_ENCODINGS = [openApi, html]
export const CATALOG_ENCODINGS = [catalogJson, html]
export const RECORD_ENCODINGS = [geojson, html]
export const SCHEMA_ENCODINGS = [schemaJson, html]
/** For programs only. */
export const FEATURE_SCHEMA_ENCODINGS = [schemaJson]
export const ITEMS_ENCODINGS = [geojson, jsonFg, ndjson, geojsonSeq, csv, flatgeobuf, html]
/** A search has no HTML page, because a browser's address bar sends no body. */
export const SEARCH_ENCODINGS = ITEMS_ENCODINGS.filter((encoding) => encoding !== html)
/** The files of selected rows; CSV is first, because a browser's `Accept` names none of them. */
export const EXTRACT_ENCODINGS = [csv, geojson, parquet]
export const AGGREGATE_ENCODINGS = [json, csv, parquet, arrow, geojsonAreas]
export type AggregateEncoding = (typeof AGGREGATE_ENCODINGS)[number]
/** One of the encodings of a page of features. */
export type ItemsEncoding = (typeof ITEMS_ENCODINGS)[number]
export const ITEM_ENCODINGS = [geojson, jsonFg, html]

/** Cached results of parsing `Accept` headers, for each list of encodings: clients send the same few. */
const remembered = new Map<readonly Encoding[], BoundedCache<string, Encoding | null>>()
const MAX_REMEMBERED = 1000
/** Longer headers, which no program sends, count as absent (RFC 9110, section 12.5.1, allows that). */
const MAX_ACCEPT = 2000

/** Uses `f` if it is given, else `Accept`, else the first encoding. */
export function negotiate<E extends Encoding>(
  encodings: readonly E[],
  f: string | undefined,
  accept: string | undefined,
): E {
  if (f !== undefined) {
    for (const one of encodings) if (one.names.includes(f)) return one
    throw invalidInput('f', `must be one of ${encodings.map(({ name }) => name).join(', ')}`)
  }
  if (accept === undefined || accept === '' || accept === '*/*' || accept.length > MAX_ACCEPT)
    return encodings[0]!
  let choices = remembered.get(encodings)
  if (!choices) {
    choices = new BoundedCache(MAX_REMEMBERED)
    remembered.set(encodings, choices)
  }
  let encoding = choices.get(accept) as E | null | undefined
  if (encoding === undefined) {
    encoding = accepted(encodings, accept)
    choices.set(accept, encoding)
  }
  if (encoding === null) {
    const types = encodings.map(({ mediaType }) => mediaType)
    throw new Problem('not-acceptable', `Here there are ${types.join(', ')}.`)
  }
  return encoding
}

/**
 * The encoding of the media type that the client prefers (RFC 9110, section 12.5.1). If types have the same quality,
 * one that the header names takes precedence over one that only a range covers, then the header's order decides.
 */
function accepted<E extends Encoding>(encodings: readonly E[], accept: string): E | null {
  // Parameters such as `version=3.0` do not distinguish our encodings, and some clients send `*` for `*/*`.
  const ranges = accept
    .replaceAll(/;\s*(?!q\s*=)[^;,]*/gi, '')
    .replaceAll(/(^|,)\s*\*\s*(?=[,;]|$)/g, '$1*/*')
  // An encoding's other types count only if the header names them: a range alone must not select a refused encoding.
  const offered = encodings.flatMap(({ types: [main, ...others] }) => [
    main!,
    ...others.filter((type) => ranges.toLowerCase().includes(type)),
  ])
  const type = new Negotiator({ headers: { accept: ranges } }).mediaType(offered)
  return encodings.find(({ types }) => type !== undefined && types.includes(type)) ?? null
}
