import { version } from '../../base/version.ts'
import { CATALOG_ID, RECORDS_ROOT, type RecordsPlace } from './record-documents.ts'

const list = { type: 'array', items: { type: 'string' } }
const commaList = (name: string, description: string) => ({
  name,
  in: 'query',
  required: false,
  description,
  schema: list,
  style: 'form',
  explode: false,
})

const PARAMETERS = {
  f: {
    name: 'f',
    in: 'query',
    description: 'The encoding; without it, what `Accept` prefers.',
    schema: { type: 'string', enum: ['json', 'html'] },
  },
  limit: {
    name: 'limit',
    in: 'query',
    description: 'Records a page.',
    schema: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
  },
  bbox: {
    name: 'bbox',
    in: 'query',
    description: 'Records whose extent meets the box: west, south, east, north.',
    schema: { type: 'array', items: { type: 'number' }, minItems: 4, maxItems: 6 },
    style: 'form',
    explode: false,
  },
  datetime: {
    name: 'datetime',
    in: 'query',
    description: 'Records whose time meets a moment or an interval.',
    schema: { type: 'string' },
  },
  q: commaList('q', 'Texts, one of which occurs, in any case; the words of a text follow each other.'),
  type: commaList('type', 'Records of one of these types. All are of the type `dataset`.'),
  ids: commaList('ids', 'Records with one of these ids.'),
  externalIds: commaList('externalIds', 'Records with one of these external ids: addresses of datasets.'),
  cursor: {
    name: 'cursor',
    in: 'query',
    description: 'From the link `next` of the page before.',
    schema: { type: 'string' },
  },
}

const reference = (name: keyof typeof PARAMETERS) => ({ $ref: `#/components/parameters/${name}` })
const problem = {
  description: 'A problem.',
  content: { 'application/problem+json': { schema: { type: 'object' } } },
}

function operation(
  summary: string,
  mediaType: string,
  parameters: (keyof typeof PARAMETERS)[] = ['f'],
  more: object[] = [],
) {
  const content = { [mediaType]: { schema: { type: 'object' } }, 'text/html': { schema: { type: 'string' } } }
  return {
    get: {
      summary,
      tags: ['Records'],
      parameters: [...more, ...parameters.map(reference)],
      responses: { 200: { description: summary, content }, 400: problem, 404: problem },
    },
  }
}

/** The API definition of the catalogue. */
export function recordsApi({ base, about }: RecordsPlace) {
  const items = `/collections/${CATALOG_ID}/items`
  const recordId = { name: 'recordId', in: 'path', required: true, schema: { type: 'string' } }
  return {
    openapi: '3.0.3',
    info: {
      title: `${about.title}: the catalogue`,
      description: 'The datasets as records, by OGC API - Records. No key is needed.',
      version,
    },
    servers: [{ url: base + RECORDS_ROOT }],
    tags: [{ name: 'Records' }],
    paths: {
      '/': operation('The landing page', 'application/json'),
      '/conformance': operation('The conformance classes', 'application/json'),
      '/api': operation('This definition', 'application/vnd.oai.openapi+json;version=3.0'),
      '/collections': operation('The catalogues', 'application/json'),
      [`/collections/${CATALOG_ID}`]: operation('The catalogue of datasets', 'application/ogc-catalog+json'),
      [items]: operation(
        'The records that match',
        'application/geo+json',
        Object.keys(PARAMETERS) as (keyof typeof PARAMETERS)[],
      ),
      [`${items}/{recordId}`]: operation('One record', 'application/geo+json', ['f'], [recordId]),
    },
    components: { parameters: PARAMETERS },
  }
}
