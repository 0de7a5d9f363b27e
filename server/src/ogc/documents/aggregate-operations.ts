import { MAX_DIMENSIONS, MAX_MEASURES } from '@wayleave/query'
import { MEASURES } from '../aggregate/aggregate-parts.ts'
import { DEFAULT_GROUPS, MAX_OFFSET, MAX_PAGE_GROUPS } from '../aggregate/aggregate-request.ts'
import { AGGREGATE_ENCODINGS, geojsonAreas } from '../request/encodings.ts'
import { CONDITION_PARAMETERS } from '../request/items-query.ts'
import { BOX, DATETIME } from './api-parameters.ts'
import type { Operation } from './operation.ts'

const text = { type: 'string' } as const
const listOf = (maxItems: number) => ({ type: 'array', maxItems, items: { type: 'string', minLength: 1 } })

/** The parameters that only aggregates have, by name: what they mean, and their schemas. */
const OWN: Record<string, [description: string, schema: object]> = {
  groupby: [
    'What divides the features into groups: columns, `interval(column,width)`, `quantile(column,n)`, `year(column)`, `quarter`, `month`, `week`, `day`, `hour`, `weekday`, `tile(zoom)`, `h3(resolution)`, `within(collection)`. Without it, all features are one group.',
    listOf(MAX_DIMENSIONS),
  ],
  measures: [
    `What is computed for each group: ${MEASURES.join(', ')}; all but count, area and length with a column, such as \`sum(population)\`, \`percentile(population,95)\` or \`first(name,time)\`.`,
    { ...listOf(MAX_MEASURES), default: ['count'] },
  ],
  having: [
    'Only groups for which this CQL2 expression is true. Its names are those of `groupby` and `measures`, such as `sum(population) > 1000`.',
    text,
  ],
  sortby: [
    'Parts of `groupby` and `measures` to sort by, each with `-` before it for descending. Without it, groups are in the order of their values. Nulls come last.',
    { type: 'array', items: { type: 'string', minLength: 1 } },
  ],
  limit: [
    'How many groups a page has at most. A larger number means the maximum.',
    { type: 'integer', minimum: 1, maximum: MAX_PAGE_GROUPS, default: DEFAULT_GROUPS },
  ],
  others: [
    'Whether the groups after the page are one more row, `others`, for top lists and shares of the total. Only in JSON and GeoJSON.',
    { type: 'boolean', default: false },
  ],
  offset: ['How many groups to pass over.', { type: 'integer', minimum: 0, maximum: MAX_OFFSET, default: 0 }],
}

/** Both operations, from the description of a GET operation that has the parameters of the collection only. */
export function aggregateOperations(described: Operation): { get: Operation; post: Operation } {
  const own = Object.entries(OWN).map(([name, [description, schema]]) => {
    return { name, in: 'query', description, required: false, schema, style: 'form', explode: false }
  })
  const conditions = CONDITION_PARAMETERS.map((name) => ({ $ref: `#/components/parameters/${name}` }))
  const { 304: _unchanged, ...responses } = described.responses
  const ok = responses['200'] as { headers: object; content: Record<string, object> }
  const areas = { schema: { $ref: '#/components/schemas/Document' } }
  const content = { ...ok.content, [geojsonAreas.mediaType]: areas }
  const { headers: _tag, ...untagged } = ok
  const problem = { $ref: '#/components/responses/Problem' }
  const collection = described.parameters.filter((parameter) => '$ref' in parameter)
  return {
    get: {
      ...described,
      tags: ['Features'],
      parameters: [...described.parameters, ...own, ...conditions],
      responses: { ...described.responses, 200: { ...ok, content } },
    },
    post: {
      ...described,
      operationId: `${described.operationId}ByBody`,
      tags: ['Features'],
      parameters: collection,
      requestBody: {
        required: true,
        description: 'The parameters of the GET request as members of an object, at most 256 KB.',
        content: { 'application/json': { schema: BODY } },
      },
      responses: { ...responses, 200: { ...untagged, content }, 413: problem, 415: problem },
    },
  }
}

const BODY = {
  type: 'object',
  properties: {
    f: { type: 'string', enum: AGGREGATE_ENCODINGS.map(({ name }) => name) },
    groupby: OWN['groupby']![1],
    measures: listOf(MAX_MEASURES),
    having: text,
    sortby: OWN['sortby']![1],
    limit: { type: 'integer', minimum: 1 },
    offset: { type: 'integer', minimum: 0, maximum: MAX_OFFSET },
    others: { type: 'boolean' },
    bbox: BOX,
    'bbox-crs': text,
    datetime: { type: 'string', pattern: DATETIME },
    filter: { oneOf: [text, { type: 'object' }] },
    'filter-lang': { type: 'string', enum: ['cql2-text', 'cql2-json'] },
    'filter-crs': text,
  },
  additionalProperties: true,
}
