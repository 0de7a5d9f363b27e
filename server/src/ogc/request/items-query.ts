import { parseJson } from '@wayleave/geodata/features'
import type { Value } from '@wayleave/geodata/geometry'
import { queryColumn } from '@wayleave/geodata/snapshot'
import { type Conditions, DEFAULT_LIMITS, type FeatureQuery, type Limits } from '@wayleave/query'
import { invalidInput } from '../../base/problem.ts'
import type { Dataset } from '../../data/catalog/dataset.ts'
import { readBox } from './box-query.ts'
import { type Crs, type CrsList, storageCrs } from './crs-list.ts'
import { ITEMS_ENCODINGS, type ItemsEncoding, negotiate } from './encodings.ts'
import { readNameList } from './name-list.ts'
import { type QueryPair, unknownParameter } from './query-string.ts'
import { readSort } from './sort-keys.ts'

export const DEFAULT_LIMIT = 1000
export const MAX_LIMIT = 10_000
/** The max number of ids in one request. */
export const MAX_IDS = 1000

const COUNTS = ['exact', 'auto', 'none'] as const
type Count = (typeof COUNTS)[number]

/** The query of a request for features, validated against its dataset. */
export interface ItemsQuery extends FeatureQuery {
  pairs: readonly QueryPair[]
  encoding: ItemsEncoding
  limit: number
  cursor: string | null
  crs: Crs
  /** Whether only the number of matching features is wanted (`resulttype=hits`). */
  hitsOnly: boolean
  /** Whether the matches on all pages are counted: always, if that is cheap, or never. */
  count: Count
  /** The indexes of the columns to return; null for all. */
  shown: readonly number[] | null
  /** The conditions on the dataset's rows: `filter`, `datetime` and filters by property. */
  conditions: Conditions | null
  /** Everything that determines which features are returned in which order; a cursor is bound to it. */
  selection: string
}

/** The parameters of every items request, in addition to those named like the dataset's columns. */
export const ITEMS_PARAMETERS = [
  'f',
  'limit',
  'offset',
  'cursor',
  'bbox',
  'bbox-crs',
  'crs',
  'ids',
  'datetime',
  'filter',
  'filter-lang',
  'filter-crs',
  'sortby',
  'properties',
  'resulttype',
  // GDAL's spelling of the same parameter.
  'resultType',
  'count',
] as const

type Parameter = (typeof ITEMS_PARAMETERS)[number]
type Given = { [name in Parameter]: string | undefined }

/** All names are set, so that the code that reads them is compiled for objects of a single shape. */
function noTexts(): Given {
  return {
    f: undefined,
    limit: undefined,
    offset: undefined,
    cursor: undefined,
    bbox: undefined,
    'bbox-crs': undefined,
    crs: undefined,
    ids: undefined,
    datetime: undefined,
    filter: undefined,
    'filter-lang': undefined,
    'filter-crs': undefined,
    sortby: undefined,
    properties: undefined,
    resulttype: undefined,
    resultType: undefined,
    count: undefined,
  }
}

export interface ReadingRules {
  crsList: CrsList
  /** The possible encodings; all if it is absent. */
  encodings?: readonly ItemsEncoding[]
  /** The limits of a filter; those of a URL if it is absent. */
  limits?: Limits
}

/** A filter in a body may be as long as the body. */
export const SEARCH_LIMITS: Limits = { ...DEFAULT_LIMITS, length: 262_144 }

export function readItemsQuery(
  all: readonly QueryPair[],
  accept: string | undefined,
  dataset: Dataset,
  { crsList, encodings = ITEMS_ENCODINGS, limits = DEFAULT_LIMITS }: ReadingRules,
): ItemsQuery {
  const { manifest } = dataset
  const pairs = fromForm(all)
  const texts = noTexts()
  let properties: Conditions['properties'] | null = null
  let filterJson: Value | undefined
  for (const { name, value, json } of pairs) {
    const parameter = ITEMS_PARAMETERS[(ITEMS_PARAMETERS as readonly string[]).indexOf(name)]
    if (name === 'filter') filterJson = json
    if (parameter && !isColumnNamedCount(name, value, manifest)) texts[parameter] = value
    else if (queryColumn(manifest, name)) {
      properties ??= []
      properties.push({ column: name, value })
    } else throw unknownParameter(name)
  }
  const crsOf = (parameter: 'crs' | 'bbox-crs' | 'filter-crs'): Crs => {
    const text = texts[parameter]
    return text === undefined ? storageCrs(manifest) : crsList.named(parameter, text, manifest)
  }
  const encoding = negotiate(encodings, texts.f, accept)
  const limit = texts.limit === undefined ? DEFAULT_LIMIT : readLimit(texts.limit)
  const offset = texts.offset === undefined ? 0 : readOffset(texts.offset)
  if (texts.cursor !== undefined && texts.offset !== undefined) {
    throw invalidInput('offset', 'cannot be given together with cursor')
  }
  const boxCrs = crsOf('bbox-crs')
  const filter = readFilter(texts, filterJson, crsOf('filter-crs'), limits)
  const isConditional = filter !== null || texts.datetime !== undefined || properties !== null
  return {
    pairs,
    encoding,
    limit,
    offset,
    cursor: texts.cursor ?? null,
    box: texts.bbox === undefined ? null : readBox(texts.bbox, boxCrs),
    crs: crsOf('crs'),
    ids: texts.ids === undefined ? null : readIds(texts.ids),
    hitsOnly: readResultType(texts),
    count: readCount(texts.count),
    sort: texts.sortby === undefined ? [] : readSort(texts.sortby, manifest),
    shown: texts.properties === undefined ? null : readShown(texts.properties, dataset),
    conditions: isConditional
      ? { filter, datetime: texts.datetime ?? null, properties: properties ?? [] }
      : null,
    selection: selectionOf(texts, properties),
  }
}

/** The form on the HTML page also sends its empty fields, which are ignored. */
function fromForm(pairs: readonly QueryPair[]): readonly QueryPair[] {
  const isForm = pairs.some(({ name, value }) => name === 'f' && value === 'html')
  return isForm ? pairs.filter(({ value }) => value !== '') : pairs
}

function readFilter(
  { filter, 'filter-lang': named }: Given,
  json: Value | undefined,
  crs: Crs,
  limits: Limits,
): Conditions['filter'] {
  if (named !== undefined && named !== 'cql2-text' && named !== 'cql2-json') {
    throw invalidInput('filter-lang', 'must be one of cql2-text, cql2-json')
  }
  if (filter === undefined) return null
  // CQL2 text never begins with a brace, so JSON is detected without `filter-lang`.
  const language = named ?? (/^\s*\{/.test(filter) ? 'cql2-json' : 'cql2-text')
  return { text: filter, json, language, crs, limits }
}

function readLimit(text: string): number {
  if (!/^\d+$/.test(text)) throw invalidInput('limit', `must be a whole number from 1 to ${MAX_LIMIT}`)
  const limit = Number(text)
  if (limit < 1) throw invalidInput('limit', 'must be at least 1')
  return Math.min(limit, MAX_LIMIT)
}

/** Ids are separated by commas. A JSON array is for ids that contain commas. */
function readIds(text: string): string[] {
  const ids = [...new Set(idList(text))]
  if (ids.length > MAX_IDS) throw invalidInput('ids', `must be at most ${MAX_IDS} ids`)
  if (ids.some((id) => id === '')) throw invalidInput('ids', 'must be ids separated by commas')
  return ids
}

function idList(text: string): string[] {
  if (!/^\s*\[.*\]\s*$/s.test(text)) return text.split(',')
  try {
    const list = parseJson(text) as unknown[]
    if (list.every((id) => typeof id === 'string' || typeof id === 'bigint' || Number.isSafeInteger(id)))
      return list.map(String)
  } catch {
    // An id may begin with a bracket; the list is then separated by commas like any other.
    return text.split(',')
  }
  throw invalidInput('ids', 'must be an array of strings and integers')
}

function readResultType({ resulttype, resultType }: Given): boolean {
  const kind = resulttype ?? resultType ?? 'results'
  if (kind !== 'hits' && kind !== 'results') throw invalidInput('resulttype', 'must be one of results, hits')
  return kind === 'hits'
}

/**
 * Datasets had columns named `count` before there was a parameter of this name: a value that the parameter does not
 * have filters by the column.
 */
function isColumnNamedCount(name: string, value: string, manifest: Dataset['manifest']): boolean {
  return name === 'count' && !isCount(value) && queryColumn(manifest, name) !== undefined
}

function isCount(text: string): text is Count {
  return (COUNTS as readonly string[]).includes(text)
}

/** Whether this is the parameter `count`, for requests that do not accept it. */
export function isCountParameter({ name, value }: QueryPair): boolean {
  return name === 'count' && isCount(value)
}

function readCount(text = 'auto'): Count {
  if (!isCount(text)) throw invalidInput('count', `must be one of ${COUNTS.join(', ')}`)
  return text
}

function readOffset(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw invalidInput('offset', 'must be a whole number, 0 or more')
  return Number(text)
}

function readShown(text: string, { manifest: { columns } }: Dataset): number[] {
  const names = text === '' ? [] : readNameList(text)
  const shown = names.map((name) => {
    const column = columns.findIndex((other) => other.name === name || other.name === name.trim())
    if (column === -1)
      throw invalidInput('properties', `names "${name.slice(0, 80)}", which is not a property`)
    return column
  })
  // In the dataset's order, regardless of the request's, so that all responses have the same shape.
  return [...new Set(shown)].sort((a, b) => a - b)
}

/** The parameters that select features. Facets take them too. */
export const CONDITION_PARAMETERS = [
  'bbox',
  'bbox-crs',
  'datetime',
  'filter',
  'filter-lang',
  'filter-crs',
] as const

/**
 * The parameters that select and order features. A cursor is bound to them; `limit`, `crs`, `f` and `properties`
 * may change from page to page.
 */
export const SELECTING_PARAMETERS = [...CONDITION_PARAMETERS, 'ids', 'sortby'] as const

function selectionOf(texts: Given, properties: Conditions['properties'] | null): string {
  let text = ''
  for (const name of SELECTING_PARAMETERS) {
    const value = texts[name]
    if (value !== undefined) text += `${name}=${value}\n`
  }
  if (properties) {
    const sorted = properties.map(({ column, value }) => `${column}\0${value}\n`).sort()
    text += sorted.join('')
  }
  return text
}
