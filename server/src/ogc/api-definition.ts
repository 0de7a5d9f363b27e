import type { Dataset } from '../catalog/dataset.ts'
import type { CrsList } from './crs-list.ts'
import {
  API_ENCODINGS,
  DOCUMENT_ENCODINGS,
  type Encoding,
  ITEM_ENCODINGS,
  ITEMS_ENCODINGS,
  SCHEMA_ENCODINGS,
} from './encodings.ts'
import { DEFAULT_LIMIT, ITEMS_PARAMETERS, MOST_LIMIT } from './items-query.ts'
import { DESCRIPTION, TITLE } from './landing.ts'
import { ROOT } from './links.ts'

const text = { type: 'string' } as const

/** The API as OpenAPI 3.0. Every collection's items have a path of their own too, with its properties. */
export function apiDefinition(base: string, datasets: readonly Dataset[], crsList: CrsList, version: string) {
  const collection = [ref('collectionId')]
  const items = ITEMS_PARAMETERS.filter((name) => name !== 'f').map(ref)
  const paths: Record<string, object> = {
    '/': get('landingPage', 'The landing page', [], DOCUMENT_ENCODINGS, false),
    '/api': get('apiDefinition', 'This definition', [], API_ENCODINGS, false),
    '/conformance': get('conformance', 'What is supported', [], DOCUMENT_ENCODINGS, false),
    '/collections': get('collections', 'The collections', [], DOCUMENT_ENCODINGS),
    '/collections/{collectionId}': get('collection', 'One collection', collection, DOCUMENT_ENCODINGS),
    '/collections/{collectionId}/schema': get(
      'schema',
      'The schema of a feature',
      collection,
      SCHEMA_ENCODINGS,
    ),
    '/collections/{collectionId}/queryables': get(
      'queryables',
      'What features can be filtered by',
      collection,
      SCHEMA_ENCODINGS,
    ),
    '/collections/{collectionId}/sortables': get(
      'sortables',
      'What features can be sorted by',
      collection,
      SCHEMA_ENCODINGS,
    ),
    '/collections/{collectionId}/items': get('items', 'Features', [...collection, ...items], ITEMS_ENCODINGS),
    '/collections/{collectionId}/items/{featureId}': get(
      'item',
      'One feature',
      [...collection, ref('featureId'), ref('crs')],
      ITEM_ENCODINGS,
    ),
  }
  for (const dataset of datasets) {
    const { table, title } = dataset
    paths[`/collections/${table}/items`] = get(
      `items.${table}`,
      `Features of ${title}`,
      [...items, ...propertyParameters(dataset)],
      ITEMS_ENCODINGS,
    )
  }
  return {
    openapi: '3.0.3',
    info: { title: TITLE, description: DESCRIPTION, version, license: { name: 'Apache-2.0' } },
    servers: [{ url: base + ROOT }],
    tags: [{ name: 'Capabilities' }, { name: 'Features' }],
    paths,
    components: {
      parameters: parameters(crsList),
      securitySchemes: {
        key: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        basic: { type: 'http', scheme: 'basic', description: 'The key as user name or as password.' },
      },
      schemas: {
        Problem: {
          type: 'object',
          required: ['type', 'title', 'status', 'code'],
          properties: { type: text, title: text, status: { type: 'integer' }, detail: text, code: text },
        },
      },
      responses: {
        Problem: {
          description: 'What is wrong, and how to mend it.',
          content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
        },
      },
    },
  }
}

function ref(name: string) {
  return { $ref: `#/components/parameters/${name}` }
}

function get(
  operationId: string,
  summary: string,
  parameters: readonly object[],
  encodings: readonly Encoding[],
  needsKey = true,
) {
  const format = {
    name: 'f',
    in: 'query',
    description: 'The encoding of the answer; without it, `Accept` decides.',
    schema: { type: 'string', enum: encodings.map(({ name }) => name), default: encodings[0]!.name },
    style: 'form',
    explode: false,
  }
  const content = Object.fromEntries(
    encodings.map(({ mediaType }) => [mediaType, { schema: schemaOf(mediaType) }]),
  )
  const problems = needsKey ? ['400', '401', '403', '404', '406', '429', '500'] : ['400', '406', '429', '500']
  return {
    get: {
      operationId,
      summary,
      tags: [operationId.startsWith('item') ? 'Features' : 'Capabilities'],
      parameters: [...parameters, format],
      responses: {
        200: { description: summary, content },
        ...Object.fromEntries(problems.map((status) => [status, { $ref: '#/components/responses/Problem' }])),
      },
      ...(needsKey ? { security: [{ key: [] }, { basic: [] }] } : {}),
    },
  }
}

function schemaOf(mediaType: string): object {
  if (/json(;|$)/.test(mediaType) && !mediaType.includes('nd')) return { type: 'object' }
  return mediaType.includes('flatgeobuf') ? { type: 'string', format: 'binary' } : text
}

function query(name: string, description: string, schema: object) {
  return { name, in: 'query', description, required: false, schema, style: 'form', explode: false }
}

function parameters(crsList: CrsList) {
  const uris = crsList.common.map(({ uri }) => uri)
  const crs = { type: 'string', format: 'uri', default: uris[0] }
  return {
    collectionId: { name: 'collectionId', in: 'path', required: true, schema: text },
    featureId: { name: 'featureId', in: 'path', required: true, schema: text },
    limit: query('limit', 'How many features a page has at most. A larger number means the maximum.', {
      type: 'integer',
      minimum: 1,
      maximum: MOST_LIMIT,
      default: DEFAULT_LIMIT,
    }),
    bbox: query(
      'bbox',
      'Only features whose geometry meets this box: west, south, east, north, or with heights after south and north. West greater than east crosses the antimeridian.',
      { type: 'array', minItems: 4, maxItems: 6, items: { type: 'number' } },
    ),
    'bbox-crs': query('bbox-crs', 'The CRS of `bbox`, in its own order of axes.', crs),
    crs: query('crs', 'The CRS of the geometries in the answer, in its own order of axes.', crs),
    datetime: query(
      'datetime',
      'Only features at this time: a date, a time in UTC, or an interval with a slash, one end of which may be open (`..`).',
      text,
    ),
    filter: query('filter', 'Only features for which this CQL2 expression is true.', text),
    'filter-lang': query('filter-lang', 'How `filter` is written.', {
      type: 'string',
      enum: ['cql2-text', 'cql2-json'],
      default: 'cql2-text',
    }),
    'filter-crs': query('filter-crs', 'The CRS of geometries in `filter`.', crs),
    sortby: query(
      'sortby',
      'Properties to sort by, each with `-` before it for descending. Nulls come last.',
      {
        type: 'array',
        minItems: 1,
        items: { type: 'string', pattern: '[+|-]?.+' },
      },
    ),
    properties: query('properties', 'The properties that the answer has; without it, all.', {
      type: 'array',
      items: text,
    }),
    cursor: query('cursor', 'Where a page begins; taken from the `next` link of the page before.', text),
    offset: query('offset', 'How many features to pass over. Following `next` is quicker.', {
      type: 'integer',
      minimum: 0,
      default: 0,
    }),
  }
}

const PROPERTY_SCHEMAS: Record<string, object> = {
  boolean: { type: 'boolean' },
  integer: { type: 'integer' },
  number: { type: 'number' },
  text,
  date: { type: 'string', format: 'date' },
  timestamp: { type: 'string', format: 'date-time' },
}

function propertyParameters({ manifest }: Dataset) {
  return manifest.columns
    .filter(({ name, type }) => type !== 'json' && !(ITEMS_PARAMETERS as readonly string[]).includes(name))
    .map(({ name, type }) => query(name, `Only features with this ${name}.`, PROPERTY_SCHEMAS[type]!))
}
