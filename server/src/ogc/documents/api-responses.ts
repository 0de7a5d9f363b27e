import { problemSchema } from '@wayleave/contract/records'
import { GEOMETRY_TYPES } from '@wayleave/geodata/geometry'
import {
  arrow,
  csv,
  type Encoding,
  flatgeobuf,
  geojsonSeq,
  html,
  mvt,
  ndjson,
  parquet,
  SEARCH_ENCODINGS,
} from '../request/encodings.ts'
import { MAX_IDS, MAX_LIMIT } from '../request/items-query.ts'
import { BOX, DATETIME } from './api-parameters.ts'

const text = { type: 'string' } as const
const moment = { type: 'string', format: 'date-time' } as const
const list = (items: object) => ({ type: 'array', items })
// OpenAPI 3.0 does not allow an empty `required` list.
const object = (required: string[], properties: Record<string, object>) => ({
  type: 'object',
  ...(required.length > 0 ? { required } : {}),
  properties,
})
const schema = (name: string) => ({ $ref: `#/components/schemas/${name}` })
/** Larger integers are read as other numbers, and are rejected. */
const SAFE_INTEGER = { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }
const links = list(schema('Link'))

const FEATURE = {
  type: { type: 'string', enum: ['Feature'] },
  id: { oneOf: [{ type: 'integer' }, text] },
  geometry: schema('Geometry'),
  properties: { type: 'object', additionalProperties: true },
}

/** The schemas of response bodies. Members that only some responses have are not required. */
export const RESPONSE_SCHEMAS = {
  Tile: { type: 'string', format: 'binary' },
  Link: object(['href', 'rel'], {
    href: { type: 'string', format: 'uri' },
    rel: text,
    type: text,
    title: text,
    method: { type: 'string', enum: ['POST'] },
    body: { type: 'object' },
    merge: { type: 'boolean' },
  }),
  LandingPage: object(['links'], {
    title: text,
    description: text,
    contact: object([], { name: text, url: text, email: text }),
    license: text,
    links,
  }),
  Conformance: object(['conformsTo'], { conformsTo: list(text), links }),
  Collections: object(['links', 'collections'], {
    links,
    crs: list(text),
    collections: list(schema('Collection')),
  }),
  Collection: object(['id', 'links'], {
    id: text,
    title: text,
    description: text,
    attribution: text,
    license: text,
    keywords: list(text),
    itemType: { type: 'string', enum: ['feature'] },
    extent: schema('Extent'),
    crs: list(text),
    storageCrs: { type: 'string', format: 'uri' },
    itemCount: { type: 'integer', minimum: 0 },
    updated: moment,
    links,
  }),
  Extent: object([], {
    spatial: object(['bbox', 'crs'], {
      bbox: list({ type: 'array', minItems: 4, maxItems: 4, items: { type: 'number' } }),
      crs: text,
    }),
    temporal: object(['interval', 'trs'], {
      interval: list({ type: 'array', minItems: 2, maxItems: 2, items: moment }),
      trs: text,
    }),
  }),
  Features: object(['type', 'features', 'links', 'timeStamp', 'numberReturned'], {
    type: { type: 'string', enum: ['FeatureCollection'] },
    numberMatched: {
      type: 'integer',
      minimum: 0,
      description: 'The number of features that the request selects on all pages; see the parameter `count`.',
    },
    numberReturned: { type: 'integer', minimum: 0 },
    timeStamp: moment,
    links,
    features: list(object(['type', 'geometry', 'properties'], FEATURE)),
  }),
  Feature: object(['type', 'id', 'geometry', 'properties', 'links'], { ...FEATURE, links }),
  Facets: object(['numberMatched', 'facets', 'links'], {
    numberMatched: { type: 'integer', minimum: 0 },
    extent: {
      type: 'array',
      minItems: 4,
      maxItems: 4,
      items: { type: 'number' },
      nullable: true,
      description:
        'West, south, east, north of the features in CRS84; null if none of them has a place. Only with `extent=true`.',
    },
    facets: { type: 'object', additionalProperties: schema('Facet') },
    omitted: {
      ...list(text),
      description:
        'Text columns with so many different values that they are counted only if `columns` names them.',
    },
    links,
  }),
  Aggregate: object(['columns', 'rows', 'numberGroups', 'links'], {
    columns: list(object(['name', 'type'], { name: text, type: text, unit: text })),
    rows: list({ type: 'array', items: {}, description: 'A value for each column.' }),
    numberGroups: { type: 'integer', minimum: 0, description: 'The number of groups on all pages.' },
    links,
  }),
  Facet: object(['type', 'nulls'], {
    type: text,
    nulls: { type: 'integer', minimum: 0, description: 'How many features have no value.' },
    values: list(object(['value', 'count'], { value: {}, count: { type: 'integer', minimum: 1 } })),
    others: {
      type: 'integer',
      minimum: 0,
      description: 'How many features have a value that is not in `values`.',
    },
    histogram: list(
      object(['from', 'to', 'count'], { from: {}, to: {}, count: { type: 'integer', minimum: 0 } }),
    ),
  }),
  Geometry: {
    ...object(['type'], {
      type: {
        type: 'string',
        enum: GEOMETRY_TYPES,
      },
      coordinates: list({}),
      geometries: list({ type: 'object' }),
    }),
    nullable: true,
  },
  Document: { type: 'object', additionalProperties: true },
  Search: {
    ...object([], {
      f: {
        type: 'string',
        enum: SEARCH_ENCODINGS.map(({ name }) => name),
        description: 'The encoding of the response.',
      },
      limit: { type: 'integer', minimum: 1, description: `More than ${MAX_LIMIT} means that.` },
      offset: { type: 'integer', minimum: 0 },
      cursor: text,
      bbox: BOX,
      'bbox-crs': text,
      crs: text,
      ids: {
        ...list({ oneOf: [{ type: 'string', minLength: 1 }, SAFE_INTEGER] }),
        minItems: 1,
        maxItems: MAX_IDS,
      },
      datetime: { type: 'string', pattern: DATETIME },
      filter: { oneOf: [text, { type: 'object' }] },
      'filter-lang': { type: 'string', enum: ['cql2-text', 'cql2-json'] },
      'filter-crs': text,
      sortby: list(text),
      properties: list(text),
      resulttype: { type: 'string', enum: ['results', 'hits'] },
    }),
    additionalProperties: true,
  },
  Problem: problemSchema,
}

export type ResponseSchema = keyof typeof RESPONSE_SCHEMAS

const BYTES = { type: 'string', format: 'binary' }
const BINARY: readonly Encoding[] = [flatgeobuf, mvt, parquet, arrow]
const TEXTS: readonly Encoding[] = [html, csv, ndjson, geojsonSeq]

/** The content of a response in each of its encodings. */
export function responseContent(
  encodings: readonly Encoding[],
  name: ResponseSchema,
): Record<string, object> {
  const entries = encodings.map((encoding) => {
    const of = BINARY.includes(encoding) ? BYTES : TEXTS.includes(encoding) ? text : schema(name)
    return [encoding.mediaType, { schema: of }]
  })
  return Object.fromEntries(entries)
}

const etag = { description: 'Identifies this response; for `If-None-Match`.', schema: text }

export const RESPONSE_HEADERS = {
  ETag: etag,
  'Content-Crs': { description: 'The CRS of the geometries, between angle brackets.', schema: text },
  Link: { description: 'The links, for encodings that have no place for them.', schema: text },
}

export const RESPONSES = {
  NotModified: {
    description: 'The response has not changed since the one that `If-None-Match` names.',
    headers: { ETag: etag },
  },
  Problem: {
    description: 'What is wrong, and how to fix it.',
    content: { 'application/problem+json': { schema: schema('Problem') } },
  },
}
