import { DRAWINGS, RAMP_NAMES } from '@wayleave/contract/map-style'
import { idQueryable, queryColumns } from '@wayleave/geodata/snapshot'
import { MAX_ZOOM } from '@wayleave/geodata/tiles'
import type { ListedDataset } from '../../data/catalog/dataset.ts'
import { DEFAULT_BINS, DEFAULT_VALUES, MAX_BINS, MAX_COLUMNS, MAX_VALUES } from '../facets/facet-query.ts'
import type { CrsList } from '../request/crs-list.ts'
import { DEFAULT_LIMIT, ITEMS_PARAMETERS, MAX_IDS, MAX_LIMIT } from '../request/items-query.ts'
import { isSortable } from '../request/sort-keys.ts'
import { WEB_MERCATOR_QUAD } from '../tiles/tile-matrix-set.ts'

const text = { type: 'string' } as const
const RESULT_TYPE = { type: 'string', enum: ['results', 'hits'], default: 'results' } as const

/** Four numbers, or six with heights. */
const OWN_BREAKS =
  '`continuous`, `quantiles` (classes of equal counts), `equal` (equal steps), or ascending numbers at which classes begin.'

export const BOX = {
  type: 'array',
  minItems: 4,
  maxItems: 6,
  items: { type: 'number' },
  oneOf: [
    { minItems: 4, maxItems: 4 },
    { minItems: 6, maxItems: 6 },
  ],
} as const

const DAY = '\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])'
const MOMENT = `${DAY}([Tt]([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d+)?([Zz]|[+-]\\d{2}:\\d{2}))?`
/** A moment, or an interval whose start or end may be open. */
export const DATETIME = `^(${MOMENT}|${MOMENT}/(\\.\\.|${MOMENT})?|(\\.\\.)?/${MOMENT})$`

/** The names of the path parameters among the components. */
export const PATH_PARAMETERS: ReadonlySet<string> = new Set([
  'collectionId',
  'featureId',
  'tileMatrixSetId',
  'tileMatrix',
  'tileRow',
  'tileCol',
])

/** Parameters whose values depend on the collection: a collection's own path lists them. */
export const OF_COLLECTION: ReadonlySet<string> = new Set([
  'crs',
  'bbox-crs',
  'filter-crs',
  'sortby',
  'properties',
])

function query(name: string, description: string, schema: object) {
  return { name, in: 'query', description, required: false, schema, style: 'form', explode: false }
}

function path(name: string, description: string, schema: object) {
  return { name, in: 'path', description, required: true, schema }
}

const pathParameters = {
  collectionId: path('collectionId', 'The table name of a dataset.', {
    type: 'string',
    pattern: '^[a-z][a-z0-9_]{0,62}$',
  }),
  tileMatrixSetId: path('tileMatrixSetId', 'The grid of the tiles.', {
    type: 'string',
    enum: [WEB_MERCATOR_QUAD],
  }),
  tileMatrix: path('tileMatrix', 'The zoom level.', { type: 'integer', minimum: 0, maximum: MAX_ZOOM }),
  tileRow: path('tileRow', 'The row of the tile; 0 is the northernmost.', { type: 'integer', minimum: 0 }),
  tileCol: path('tileCol', 'The column of the tile; 0 is the westernmost.', {
    type: 'integer',
    minimum: 0,
  }),
  featureId: path('featureId', 'The id of a feature.', { type: 'string', minLength: 1 }),
}

export function apiParameters(crsList: CrsList) {
  const uris = crsList.common.map(({ uri }) => uri)
  const crs = { type: 'string', format: 'uri', default: uris[0] }
  return {
    ...pathParameters,
    version: query('version', 'The number of a version; without it, the current one.', {
      type: 'integer',
      minimum: 1,
    }),
    build: query(
      'build',
      'Which build of the tiles a URL is for, as in TileJSON. It selects nothing: if it is the current one, clients may keep the tile.',
      text,
    ),
    by: query(
      'by',
      'Columns, at most three, whose values are summed up where a point stands for several features: the most frequent value and its share, and of numbers the mean, the smallest and the largest.',
      { type: 'array', minItems: 1, maxItems: 3, items: text },
    ),
    ...styleParameters(),
    limit: query('limit', 'How many features a page has at most. A larger number means the maximum.', {
      type: 'integer',
      minimum: 1,
      maximum: MAX_LIMIT,
      default: DEFAULT_LIMIT,
    }),
    facetColumns: query('columns', 'The properties whose values are counted; without it, all.', {
      type: 'array',
      minItems: 1,
      maxItems: MAX_COLUMNS,
      items: text,
    }),
    facetLimit: query(
      'limit',
      `How many values a property has at most; more than ${MAX_VALUES} means that.`,
      {
        type: 'integer',
        minimum: 1,
        maximum: 999_999_999,
        default: DEFAULT_VALUES,
      },
    ),
    facetBins: query('bins', `How many intervals a histogram has; more than ${MAX_BINS} means that.`, {
      type: 'integer',
      minimum: 1,
      maximum: 999_999_999,
      default: DEFAULT_BINS,
    }),
    facetExtent: query('extent', 'Whether the response has the extent of the features that match.', {
      type: 'boolean',
      default: false,
    }),
    bbox: query(
      'bbox',
      'Only features whose geometry meets this box: west, south, east, north, or with heights after south and north. West greater than east crosses the antimeridian.',
      BOX,
    ),
    'bbox-crs': query('bbox-crs', 'The CRS of `bbox`, in its own order of axes.', crs),
    crs: query('crs', 'The CRS of the geometries in the response, in its own order of axes.', crs),
    datetime: query(
      'datetime',
      'Only features at this time: a date, a time in UTC, or an interval with a slash, one end of which may be open (`..`).',
      { type: 'string', pattern: DATETIME },
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
        items: { type: 'string', pattern: '^[ +-]?[^,]+$' },
      },
    ),
    properties: query('properties', 'The properties in the response; without it, all.', {
      type: 'array',
      items: { type: 'string', pattern: '^[^,]*$' },
    }),
    ids: query(
      'ids',
      `Only features with these ids, at most ${MAX_IDS}. Ids that no feature has are ignored.`,
      {
        type: 'array',
        minItems: 1,
        maxItems: MAX_IDS,
        items: { type: 'string', pattern: '^[^,]+$' },
      },
    ),
    resulttype: query(
      'resulttype',
      '`hits` returns the number of features that the request selects, in `numberMatched`, and no features.',
      RESULT_TYPE,
    ),
    resultType: query('resultType', 'The same as `resulttype`, in the spelling of GDAL.', RESULT_TYPE),
    count: query(
      'count',
      'Whether the page has `numberMatched`: `exact` always counts, `auto` counts if that takes less than a millisecond or the number is cached, `none` never counts. `resulttype=hits` always counts.',
      { type: 'string', enum: ['exact', 'auto', 'none'], default: 'auto' },
    ),
    cursor: query('cursor', 'Where a page begins; taken from the `next` link of the page before.', {
      type: 'string',
      pattern: '^[0-9A-Za-z_-]+$',
    }),
    offset: query('offset', 'How many features to pass over. Following `next` is quicker.', {
      type: 'integer',
      minimum: 0,
      default: 0,
    }),
  }
}

/** The parameters of a style. */
function styleParameters() {
  const text = { type: 'string' }
  return {
    color: query('color', 'The column that gives the colors.', text),
    size: query('size', 'The column of numbers that gives the sizes of points.', text),
    label: query('label', 'The column whose values are written beside features.', text),
    draw: query('draw', 'How features are drawn; `features` without it.', {
      type: 'string',
      enum: [...DRAWINGS],
    }),
    classing: query('classing', `How colors divide numbers; \`quantiles\` without it. ${OWN_BREAKS}`, text),
    sizing: query('sizing', `How sizes divide numbers; \`continuous\` without it. ${OWN_BREAKS}`, text),
    ramp: query('ramp', 'The colors of numbers from low to high, with `-` before it for the reverse order.', {
      type: 'string',
      enum: RAMP_NAMES.flatMap((name) => [name, `-${name}`]),
    }),
    opacity: query('opacity', 'How opaque features are.', { type: 'number', minimum: 0.1, maximum: 1 }),
    colors: query('colors', 'Colors of values, as `value:rrggbb`, separated by commas.', text),
    theme: query('theme', 'The colors of the background; `light` without it.', {
      type: 'string',
      enum: ['light', 'dark'],
    }),
    background: query('background', 'Whether the style has land, borders and names below the data.', {
      type: 'string',
      enum: ['world', 'none'],
      default: 'world',
    }),
  }
}

const PROPERTY_SCHEMAS: Record<string, object> = {
  boolean: { type: 'boolean' },
  // Any number may be asked for, although only whole ones occur.
  integer: { type: 'number' },
  number: { type: 'number' },
  text,
  date: { type: 'string', format: 'date' },
  timestamp: { type: 'string', format: 'date-time' },
}

/** The parameters of the items of one collection that `OF_COLLECTION` lists, and those named like its columns. */
export function collectionParameters(dataset: ListedDataset, crsList: CrsList) {
  const { manifest } = dataset
  const uris = crsList.of(manifest).map(({ uri }) => uri)
  const crs = { type: 'string', enum: uris, default: uris[0] }
  const sortable = queryColumns(manifest).filter(({ type }) => isSortable(type))
  const signed = sortable.flatMap(({ name }) => [name, `+${name}`, `-${name}`])
  const names = manifest.columns.map(({ name }) => name)
  const list = (values: string[]) => ({
    type: 'array',
    uniqueItems: true,
    items: values.length > 0 ? { type: 'string', enum: values } : { type: 'string' },
  })
  return [
    query('crs', 'The CRS of the geometries in the response, in its own order of axes.', crs),
    query('bbox-crs', 'The CRS of `bbox`, in its own order of axes.', crs),
    query('filter-crs', 'The CRS of geometries in `filter`.', crs),
    query('sortby', 'Properties to sort by, each with `-` before it for descending.', {
      ...list(signed),
      minItems: 1,
    }),
    query('properties', 'The properties in the response; without it, all.', list(names)),
    ...propertyParameters(dataset),
  ]
}

function propertyParameters({ manifest }: ListedDataset) {
  const id = idQueryable(manifest)
  const isOwn = id === null || manifest.columns.some(({ name }) => name === id.name)
  const columns = isOwn ? manifest.columns : [...manifest.columns, { ...id.column, name: id.name }]
  return columns
    .filter(({ name, type }) => type !== 'json' && !(ITEMS_PARAMETERS as readonly string[]).includes(name))
    .map(({ name, type }) => query(name, `Only features with this ${name}.`, PROPERTY_SCHEMAS[type]!))
}
