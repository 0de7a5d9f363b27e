import type { FacetQuery } from '@wayleave/query'
import { invalidInput } from '../../base/problem.ts'
import type { Dataset } from '../../data/catalog/dataset.ts'
import { json, negotiate } from '../request/encodings.ts'
import {
  type ItemsQuery,
  isCountParameter,
  type ReadingRules,
  readItemsQuery,
} from '../request/items-query.ts'
import { readNameList } from '../request/name-list.ts'
import { type QueryPair, unknownParameter } from '../request/query-string.ts'

export const DEFAULT_VALUES = 20
export const MAX_VALUES = 100
export const DEFAULT_BINS = 20
export const MAX_BINS = 100
/** The max number of columns in one request. */
export const MAX_COLUMNS = 50

/** The parameters of a request for facets that a request for items does not have, or has in another meaning. */
const OWN_PARAMETERS = ['columns', 'limit', 'bins', 'extent'] as const
const REFUSED = ['offset', 'cursor', 'crs', 'sortby', 'properties', 'ids', 'resulttype', 'resultType']

/** A request for facets, validated against its dataset. */
export interface FacetRequest extends FacetQuery {
  pairs: readonly QueryPair[]
  /** Columns that are counted only if the request names them. */
  omitted: readonly string[]
  /** Which features are counted. */
  items: ItemsQuery
}

export function readFacetQuery(
  pairs: readonly QueryPair[],
  accept: string | undefined,
  dataset: Dataset,
  rules: ReadingRules,
): FacetRequest {
  const own: { [name in (typeof OWN_PARAMETERS)[number] | 'f']?: string } = {}
  const selecting: QueryPair[] = []
  for (const pair of pairs) {
    if (REFUSED.includes(pair.name) || isCountParameter(pair)) throw unknownParameter(pair.name)
    if (pair.name === 'f' || (OWN_PARAMETERS as readonly string[]).includes(pair.name)) {
      own[pair.name as keyof typeof own] = pair.value
    } else selecting.push(pair)
  }
  negotiate([json], own.f, accept)
  const items = readItemsQuery(selecting, undefined, dataset, rules)
  return {
    pairs,
    ...readColumns(own.columns, dataset),
    limit: readNumber('limit', own.limit, DEFAULT_VALUES, MAX_VALUES),
    bins: readNumber('bins', own.bins, DEFAULT_BINS, MAX_BINS),
    extent: readBoolean('extent', own.extent),
    box: items.box,
    selection: items.selection,
    items,
  }
}

type Columns = Pick<FacetRequest, 'columns' | 'omitted'>

function readColumns(text: string | undefined, { manifest }: Dataset): Columns {
  if (text === undefined) return presetColumns(manifest)
  const { columns } = manifest
  const indexes = readNameList(text).map((name) => {
    const index = columns.findIndex((column) => column.name === name)
    if (index === -1) throw invalidInput('columns', `names "${name.slice(0, 80)}", which is not a property`)
    if (columns[index]!.type === 'json') {
      throw invalidInput('columns', `names "${name}", which holds nested values`)
    }
    return index
  })
  const distinct = [...new Set(indexes)]
  if (distinct.length > MAX_COLUMNS) throw invalidInput('columns', `must name at most ${MAX_COLUMNS}`)
  return { columns: distinct, omitted: [] }
}

/**
 * All columns that can be counted, as far as one request may have them, without texts of so many different values
 * that they are not compiled: the database would count them, in more than half a second for a million features, and
 * few values of such a column repeat.
 */
function presetColumns({ columns, statistics }: Dataset['manifest']): Columns {
  const countable = [...columns.keys()].filter((index) => columns[index]!.type !== 'json')
  // Snapshots without statistics were published before columns were compiled: the database counts all of them.
  const isOmitted = (index: number) =>
    statistics !== undefined && statistics[columns[index]!.name]?.isExact !== true
  return {
    columns: countable.filter((index) => !isOmitted(index)).slice(0, MAX_COLUMNS),
    omitted: countable.filter(isOmitted).map((index) => columns[index]!.name),
  }
}

function readNumber(name: string, text: string | undefined, preset: number, max: number): number {
  if (text === undefined) return preset
  if (!/^\d{1,9}$/.test(text) || Number(text) < 1) {
    throw invalidInput(name, `must be a whole number from 1 to ${max}`)
  }
  return Math.min(max, Number(text))
}

function readBoolean(name: string, text: string | undefined): boolean {
  if (text === undefined || text === 'false') return false
  if (text !== 'true') throw invalidInput(name, 'must be true or false')
  return true
}
