import { checkBbox, checkOptions, checkTable } from './check-arguments.ts'
import type { Column } from './contract.ts'
import { filterParameters, type ItemsOptions, nameList } from './items.ts'
import { withNameHints } from './name-hints.ts'
import type { Receipt } from './response-info.ts'
import { CALL_OPTIONS, type CallOptions, getJson, type Transport } from './transport.ts'

/** The largest page of the service. */
const MAX_PAGE = 10_000

export interface AggregateOptions
  extends CallOptions,
    Pick<ItemsOptions, 'bbox' | 'filter' | 'datetime' | 'sortby'> {
  /** Up to three of: a column, `month(time)`, `interval(size,10)`, `quantile(size,4)`, `tile(6)`, `h3(4)`, `within(countries)`. */
  groupby?: string | readonly string[] | undefined
  /** Such as `count`, `sum(size)`, `mean(size)` or `percentile(size,95)`; `count` without it. */
  measures?: string | readonly string[] | undefined
  /** A condition on the groups, such as `count > 10`. */
  having?: string | undefined
  /** The max number of groups; all without it. */
  limit?: number | undefined
  /** Whether the groups beyond `limit` are one more row, `others`. */
  others?: boolean | undefined
}

export interface Aggregate {
  /** The columns of `groupby`, then the measures. */
  columns: (Pick<Column, 'name' | 'type'> & { unit?: string })[]
  /** A row for each group. */
  rows: (string | number | boolean | null)[][]
  /** How many groups there are, also if `limit` left some out. */
  numberGroups: number
  /**
   * The groups beyond `limit` as one row, if asked for: null for the columns of `groupby`, and for measures that cannot
   * be computed from those of groups (`distinct`, `median`, `percentile`). Null if there are none.
   */
  others?: Aggregate['rows'][number] | null
}

const AGGREGATE_OPTIONS = [
  'groupby',
  'measures',
  'bbox',
  'filter',
  'datetime',
  'having',
  'sortby',
  'limit',
  'others',
  ...CALL_OPTIONS,
]

/** All groups, or the first `limit` ones, page by page. */
export async function aggregate(
  transport: Transport,
  table: string,
  options: AggregateOptions,
  receipt: Receipt,
): Promise<Aggregate> {
  checkTable('aggregate()', table)
  checkOptions('aggregate()', options, AGGREGATE_OPTIONS)
  checkBbox(options.bbox)
  const { groupby, measures, having, sortby, limit = Number.POSITIVE_INFINITY } = options
  const path = `/v1/ogc/collections/${encodeURIComponent(table)}/aggregate`
  const columnText = JSON.stringify([groupby, measures, having, sortby, options.filter])
  const page = (query: string) =>
    withNameHints(transport, { table, columnText }, options, () =>
      getJson<Aggregate>(transport, path + query, options, receipt),
    )
  let whole: Aggregate | undefined
  for (;;) {
    const offset = whole?.rows.length ?? 0
    const { columns, rows, numberGroups, others } = await page(queryOf(options, offset, limit))
    whole = { columns, rows: whole ? [...whole.rows, ...rows] : rows, numberGroups }
    if (others !== undefined) whole.others = others
    const { length } = whole.rows
    if (length >= Math.min(limit, numberGroups) || rows.length === 0) return whole
  }
}

function queryOf(
  { groupby, measures, having, sortby, bbox, filter, datetime, others }: AggregateOptions,
  offset: number,
  limit: number,
): string {
  const query = filterParameters({ filter, datetime })
  const lists = { groupby: nameList(groupby), measures: nameList(measures), sortby: nameList(sortby) }
  const page = {
    bbox,
    having,
    limit: Math.min(MAX_PAGE, limit - offset),
    offset: offset || undefined,
    others,
  }
  for (const [name, value] of Object.entries({ ...lists, ...page })) {
    if (value !== undefined && value !== '') query.set(name, String(value))
  }
  return `?${query}`
}
