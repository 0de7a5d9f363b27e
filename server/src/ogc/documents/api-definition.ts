import type { ListedDataset } from '../../data/catalog/dataset.ts'
import { type About, aboutInfo } from '../../http/about.ts'
import type { CrsList } from '../request/crs-list.ts'
import {
  AGGREGATE_ENCODINGS,
  API_ENCODINGS,
  DOCUMENT_ENCODINGS,
  type Encoding,
  EXTRACT_ENCODINGS,
  FEATURE_SCHEMA_ENCODINGS,
  ITEM_ENCODINGS,
  ITEMS_ENCODINGS,
  json,
  SCHEMA_ENCODINGS,
  SEARCH_ENCODINGS,
  TILE_DOCUMENT_ENCODINGS,
  TILE_ENCODINGS,
} from '../request/encodings.ts'
import { CONDITION_PARAMETERS, ITEMS_PARAMETERS, SELECTING_PARAMETERS } from '../request/items-query.ts'
import { ROOT } from '../write/links.ts'
import { aggregateOperations } from './aggregate-operations.ts'
import { apiParameters, collectionParameters, OF_COLLECTION, PATH_PARAMETERS } from './api-parameters.ts'
import {
  RESPONSE_HEADERS,
  RESPONSE_SCHEMAS,
  RESPONSES,
  type ResponseSchema,
  responseContent,
} from './api-responses.ts'
import type { Operation } from './operation.ts'

export interface DefinitionDeps {
  datasets: readonly ListedDataset[]
  crsList: CrsList
  version: string
  about: About
}

/**
 * The API as OpenAPI 3.0. The items of every collection also have a path of their own, with the collection's
 * properties as parameters.
 */
export function apiDefinition(base: string, { datasets, crsList, version, about }: DefinitionDeps) {
  const items = ITEMS_PARAMETERS.filter((name) => name !== 'f').map(ref)
  const paths: Record<string, { get: Operation } | { post: Operation }> = {
    ...collectionPaths(items),
    ...tilePaths(),
  }
  for (const dataset of datasets) {
    const { table, title } = dataset
    paths[`/collections/${table}/items`] = get(
      `items.${table}`,
      `Features of ${title}`,
      [...items.filter((item) => !OF_COLLECTION.has(refOf(item))), ...collectionParameters(dataset, crsList)],
      ITEMS_ENCODINGS,
      'Features',
    )
  }
  return {
    openapi: '3.0.3',
    info: { title: about.title, description: about.description, version, ...aboutInfo(about) },
    servers: [{ url: base + ROOT }],
    tags: [{ name: 'Capabilities' }, { name: 'Features' }, { name: 'Tiles' }],
    paths,
    components: {
      parameters: apiParameters(crsList),
      securitySchemes: {
        key: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        basic: { type: 'http', scheme: 'basic', description: 'The key as user name or as password.' },
        keyInUrl: {
          type: 'apiKey',
          in: 'query',
          name: 'api_key',
          description: 'For keys with allowed origins; for others only if the operator has enabled it.',
        },
      },
      schemas: RESPONSE_SCHEMAS,
      responses: RESPONSES,
    },
  }
}

/** The paths of the documents, of collections and of features. */
function collectionPaths(items: object[]): Record<string, { get: Operation } | { post: Operation }> {
  const collection = [ref('collectionId')]
  return {
    '/': get('landingPage', 'The landing page', [], DOCUMENT_ENCODINGS, 'LandingPage'),
    '/api': get('apiDefinition', 'This definition', [], API_ENCODINGS, 'Document'),
    '/conformance': get('conformance', 'What is supported', [], DOCUMENT_ENCODINGS, 'Conformance'),
    '/collections': get('collections', 'The collections', [], DOCUMENT_ENCODINGS, 'Collections'),
    '/collections/{collectionId}': get(
      'collection',
      'One collection',
      collection,
      DOCUMENT_ENCODINGS,
      'Collection',
    ),
    '/collections/{collectionId}/schema': get(
      'schema',
      'The schema of a feature',
      collection,
      SCHEMA_ENCODINGS,
      'Document',
    ),
    '/collections/{collectionId}/feature-schema': get(
      'featureSchema',
      'The schema of a feature in GeoJSON',
      collection,
      FEATURE_SCHEMA_ENCODINGS,
      'Document',
    ),
    '/collections/{collectionId}/queryables': get(
      'queryables',
      'What features can be filtered by',
      collection,
      SCHEMA_ENCODINGS,
      'Document',
    ),
    '/collections/{collectionId}/sortables': get(
      'sortables',
      'What features can be sorted by',
      collection,
      SCHEMA_ENCODINGS,
      'Document',
    ),
    '/collections/{collectionId}/items': get(
      'items',
      'Features, a page at a time',
      [...collection, ...items],
      ITEMS_ENCODINGS,
      'Features',
    ),
    '/collections/{collectionId}/facets': get(
      'facets',
      'The most frequent values, or histograms, of properties',
      [...collection, ...FACET_PARAMETERS.map(ref)],
      [json],
      'Facets',
    ),
    '/collections/{collectionId}/items/{featureId}': get(
      'item',
      'One feature',
      [...collection, ref('featureId'), ref('crs')],
      ITEM_ENCODINGS,
      'Feature',
    ),
    '/collections/{collectionId}/aggregate': aggregatePath(collection),
    '/collections/{collectionId}/extract': extractOperation(collection),
    '/collections/{collectionId}/search': searchOperation(collection),
  }
}

/** The paths of OGC API - Tiles. */
function tilePaths(): Record<string, { get: Operation }> {
  const collection = ref('collectionId')
  const matrixSet = ref('tileMatrixSetId')
  const tileset = '/collections/{collectionId}/tiles/{tileMatrixSetId}'
  const address = ['tileMatrix', 'tileRow', 'tileCol'].map(ref)
  const selection = ['version', 'build', 'filter', 'filter-lang', 'filter-crs', 'datetime', 'by'].map(ref)
  return {
    '/tileMatrixSets': get('tileMatrixSets', 'The tile matrix sets', [], PUBLIC_JSON, 'Document'),
    '/tileMatrixSets/{tileMatrixSetId}': get(
      'tileMatrixSet',
      'One tile matrix set',
      [matrixSet],
      PUBLIC_JSON,
      'Document',
    ),
    '/collections/{collectionId}/tiles': get(
      '.collection.vector.getTileSetsList',
      'The tilesets of a collection',
      [collection],
      JSON_ONLY,
      'Document',
    ),
    [tileset]: get(
      '.collection.vector.getTileSet',
      'A tileset; `f=tilejson` gives TileJSON',
      [collection, matrixSet, ref('version')],
      TILE_DOCUMENT_ENCODINGS,
      'Document',
    ),
    [`${tileset}/{tileMatrix}/{tileRow}/{tileCol}`]: get(
      '.collection.vector.getTile',
      'A vector tile; 204 if it has no features',
      [collection, matrixSet, ...address, ...selection],
      TILE_ENCODINGS,
      'Tile',
    ),
    '/collections/{collectionId}/style': get(
      'style',
      'A MapLibre style for the tiles',
      [collection, ...['version', ...STYLE_REFERENCES].map(ref)],
      JSON_ONLY,
      'Document',
    ),
  }
}

const STYLE_REFERENCES = [
  ...['color', 'size', 'label', 'draw', 'classing', 'sizing', 'ramp', 'opacity', 'colors'],
  ...['theme', 'background', 'filter', 'filter-lang', 'filter-crs', 'datetime'],
]

const JSON_ONLY = [json]
const PUBLIC_JSON = [json]

/** The parameters of facets; among the components their own ones have names that begin with `facet`. */
const FACET_PARAMETERS = ['facetColumns', 'facetLimit', 'facetBins', 'facetExtent', ...CONDITION_PARAMETERS]

function aggregatePath(collection: object[]): { get: Operation; post: Operation } {
  const summary = 'Groups of the features that match, with measures of each group'
  return aggregateOperations(get('aggregate', summary, collection, AGGREGATE_ENCODINGS, 'Aggregate').get)
}

/** A file of the rows that match; it is made for each request, so it has no tag. */
function extractOperation(collection: object[]): { get: Operation } {
  const described = get(
    'extract',
    'A file with all rows that match, up to a limit of the service',
    [...collection, ...SELECTING_PARAMETERS.map(ref)],
    EXTRACT_ENCODINGS,
    'Document',
  ).get
  const { 200: file, 304: _, ...responses } = described.responses
  const { headers: __, ...content } = file as { headers: object }
  return { get: { ...described, tags: ['Features'], responses: { 200: content, ...responses } } }
}

/** The features of a query in a body: it takes the parameters of a GET request as members of an object. */
function searchOperation(collection: object[]): { post: Operation } {
  const described = get('search', 'Features by a query in the body', [], SEARCH_ENCODINGS, 'Features').get
  const { 206: _part, 304: _unchanged, 416: _beyond, ...responses } = described.responses
  return {
    post: {
      ...described,
      parameters: collection,
      requestBody: {
        required: true,
        description:
          'The parameters of `items`, at most 256 KB. The `next` link has a `body` to be added to this one.',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Search' } } },
      },
      responses: {
        ...responses,
        413: { $ref: '#/components/responses/Problem' },
        415: { $ref: '#/components/responses/Problem' },
      },
    },
  }
}

/** The name of a parameter that is a reference; empty for others. */
function refOf(parameter: object): string {
  return '$ref' in parameter ? String(parameter.$ref).split('/').at(-1)! : ''
}

function ref(name: string) {
  return { $ref: `#/components/parameters/${name}` }
}

const PUBLIC: readonly ResponseSchema[] = ['LandingPage', 'Conformance']

const SECURITY = [{ key: [] }, { basic: [] }, { keyInUrl: [] }]

/** Describes one GET operation. An invalid key is rejected everywhere, even if none is required. */
function get(
  operationId: string,
  summary: string,
  parameters: readonly object[],
  encodings: readonly Encoding[],
  schema: ResponseSchema,
): { get: Operation } {
  const format = {
    name: 'f',
    in: 'query',
    description: 'The encoding of the response; without it, `Accept` decides.',
    schema: { type: 'string', enum: encodings.map(({ name }) => name), default: encodings[0]!.name },
    style: 'form',
    explode: false,
  }
  const isPublic = PUBLIC.includes(schema) || encodings === API_ENCODINGS || encodings === PUBLIC_JSON
  const hasFeatures = schema === 'Features' || schema === 'Feature'
  const { ETag, Link, 'Content-Crs': contentCrs } = RESPONSE_HEADERS
  const headers = {
    ETag,
    ...(hasFeatures ? { 'Content-Crs': contentCrs } : {}),
    ...(schema === 'Features' ? { Link } : {}),
  }
  const hasPath = parameters.some((parameter) => PATH_PARAMETERS.has(refOf(parameter)))
  const problems = PROBLEMS.filter((status) => status !== '404' || hasPath || !isPublic)
  return {
    get: {
      operationId,
      summary,
      tags: [hasFeatures ? 'Features' : schema === 'Tile' ? 'Tiles' : 'Capabilities'],
      parameters: [...parameters, format],
      responses: {
        200: { description: summary, headers, content: responseContent(encodings, schema) },
        ...(schema === 'Tile' ? { 204: { description: 'The tile has no features.' } } : {}),
        ...(schema === 'Features' ? PART_RESPONSES : {}),
        304: { $ref: '#/components/responses/NotModified' },
        ...Object.fromEntries(problems.map((status) => [status, { $ref: '#/components/responses/Problem' }])),
      },
      ...(isPublic ? {} : { security: SECURITY }),
    },
  }
}

/** Responses to a request with a `Range` header. */
const PART_RESPONSES = {
  206: { description: 'The part of the page that `Range` asks for.' },
  416: { $ref: '#/components/responses/Problem' },
}

const PROBLEMS = ['400', '401', '403', '404', '406', '408', '429', '431', '500', '503']
