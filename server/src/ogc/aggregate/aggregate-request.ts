import type { Measure, Named } from '@wayleave/query'
import { invalidInput } from '../../base/problem.ts'
import type { Dataset } from '../../data/catalog/dataset.ts'
import {
  AGGREGATE_ENCODINGS,
  type AggregateEncoding,
  arrow,
  csv,
  geojsonAreas,
  negotiate,
  parquet,
} from '../request/encodings.ts'
import {
  type ItemsQuery,
  isCountParameter,
  type ReadingRules,
  readItemsQuery,
} from '../request/items-query.ts'
import { type QueryPair, unknownParameter } from '../request/query-string.ts'
import { type RequestedDimension, readDimensions, readMeasures } from './aggregate-parts.ts'
import { readCallList } from './call-list.ts'

export const DEFAULT_GROUPS = 1000
export const MAX_PAGE_GROUPS = 10_000
export const MAX_OFFSET = 999_999_999

/** The parameters that a request for items does not have, or has in another meaning. */
const OWN_PARAMETERS = ['f', 'groupby', 'measures', 'having', 'sortby', 'limit', 'offset', 'others'] as const
const REFUSED = ['cursor', 'crs', 'properties', 'ids', 'resulttype', 'resultType']
const MAX_HAVING = 2000

/** A request for aggregates, validated against its dataset. */
export interface AggregateRequest {
  pairs: readonly QueryPair[]
  encoding: AggregateEncoding
  groupby: RequestedDimension[]
  measures: Named<Measure>[]
  having: string | null
  sort: { name: string; isDescending: boolean }[]
  offset: number
  limit: number
  /** Whether the groups after the page are one more row. */
  others: boolean
  /** Which features are counted. */
  items: ItemsQuery
}

export function readAggregateRequest(
  pairs: readonly QueryPair[],
  accept: string | undefined,
  dataset: Dataset,
  rules: ReadingRules,
): AggregateRequest {
  const own: { [name in (typeof OWN_PARAMETERS)[number]]?: string } = {}
  const selecting: QueryPair[] = []
  for (const pair of pairs) {
    if (REFUSED.includes(pair.name) || isCountParameter(pair)) throw unknownParameter(pair.name)
    const name = OWN_PARAMETERS.find((each) => each === pair.name)
    if (name) own[name] = pair.value
    else selecting.push(pair)
  }
  const encoding = negotiate(AGGREGATE_ENCODINGS, own.f, accept)
  const groupby = readDimensions(own.groupby, dataset.manifest)
  const measures = readMeasures(own.measures, dataset.manifest)
  if (encoding === geojsonAreas && areasOf(groupby).length !== 1)
    throw invalidInput('f', 'must not be geojson unless groupby has exactly one of tile, h3 and within')
  return {
    pairs,
    encoding,
    groupby,
    measures,
    having: readHaving(own.having),
    sort: own.sortby === undefined ? [] : readSort(own.sortby, [...groupby, ...measures]),
    offset: readOffset(own.offset),
    limit: readLimit(own.limit),
    others: readOthers(own.others, encoding),
    items: readItemsQuery(selecting, undefined, dataset, rules),
  }
}

/** The dimensions whose groups are areas. */
export function areasOf(groupby: readonly RequestedDimension[]): RequestedDimension[] {
  return groupby.filter(({ kind }) => kind === 'tile' || kind === 'h3' || kind === 'within')
}

function readHaving(text: string | undefined): string | null {
  if (text === undefined || text.trim() === '') return null
  if (text.length > MAX_HAVING) throw invalidInput('having', `must have at most ${MAX_HAVING} characters`)
  return text
}

/** A list of `name`, `+name` or `-name`. A plus in a URL is decoded as a space. */
export function readSort(text: string, parts: readonly { name: string }[]): AggregateRequest['sort'] {
  const sort = new Map<string, { name: string; isDescending: boolean }>()
  for (const call of readCallList('sortby', text)) {
    const sign = /^[+-]/.exec(call.text)?.[0]
    const name = sign === undefined ? call.text : call.text.slice(1)
    if (!parts.some((part) => part.name === name))
      throw invalidInput('sortby', `names "${name.slice(0, 80)}", which is not one of groupby and measures`)
    // What groups are sorted by already makes no difference, and each name takes memory for every group.
    if (!sort.has(name)) sort.set(name, { name, isDescending: sign === '-' })
  }
  return [...sort.values()]
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return DEFAULT_GROUPS
  if (!/^\d{1,15}$/.test(text) || Number(text) < 1)
    throw invalidInput('limit', `must be a whole number from 1 to ${MAX_PAGE_GROUPS}`)
  return Math.min(MAX_PAGE_GROUPS, Number(text))
}

/** Encodings without members beside the rows, which have links in a header. */
export function isTable(encoding: AggregateEncoding): boolean {
  return encoding === csv || encoding === parquet || encoding === arrow
}

/** A table has no place for a row that is not a group: its empty values would be those of features without a value. */
function readOthers(text: string | undefined, encoding: AggregateEncoding): boolean {
  if (text === undefined || text === 'false') return false
  if (text !== 'true') throw invalidInput('others', 'must be true or false')
  if (isTable(encoding)) throw invalidInput('others', `must not be true for f=${encoding.name}`)
  return true
}

function readOffset(text: string | undefined): number {
  if (text === undefined) return 0
  if (!/^\d{1,9}$/.test(text)) throw invalidInput('offset', `must be a whole number from 0 to ${MAX_OFFSET}`)
  return Number(text)
}
