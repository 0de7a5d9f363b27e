import {
  CATEGORIES,
  type Classing,
  countScale,
  FIFTHS,
  keepColors,
  type MapLook,
  numberScale,
  type Scale,
} from '@wayleave/contract/map-style'
import type { Snapshot } from '@wayleave/geodata/features'
import type { AggregateQuery, FilterPlan, QueryEngine, TimedWork } from '@wayleave/query'
import type { Version } from '../../data/catalog/dataset.ts'
import type { ItemsQuery } from '../request/items-query.ts'

/** The rows that a style is made for. */
export interface StyledRows {
  engine: QueryEngine
  snapshot: Snapshot
  version: Version
  /** Null for all rows. */
  query: ItemsQuery | null
  plan: FilterPlan | null
  work: TimedWork
}

/** Max cells of a style's hexagons. */
export const MAX_CELLS = 10_000

/** The scale of a column over the rows; null if none has a value. */
export async function styleScale(
  rows: StyledRows,
  column: string,
  classing: Classing,
): Promise<Scale | null> {
  const { manifest } = rows.version
  const index = manifest.columns.findIndex(({ name }) => name === column)
  const { type } = manifest.columns[index]!
  const about = { column, rows: rows.query ? 'filtered' : 'all', nulls: null } as const
  if (type === 'number' || type === 'integer') {
    const measures = [
      { kind: 'min', column, name: 'min' } as const,
      { kind: 'max', column, name: 'max' } as const,
      ...FIFTHS.map((percent) => ({ kind: 'percentile', column, percent, name: `p${percent}` }) as const),
    ]
    const [row] = await aggregate(rows, { groupby: [], measures, limit: 1 })
    const [min, max, ...fifths] = (row ?? []).map((value) => (value === null ? Number.NaN : Number(value)))
    if (min === undefined || max === undefined || Number.isNaN(min)) return null
    return { ...numberScale({ min, max, fifths }, classing, type === 'integer'), ...about }
  }
  const { values = [], others = 0 } = await frequentValues(rows, index)
  // A value has the same color with and without a filter, as in the explorer.
  const whole = rows.query ? await frequentValues({ ...rows, query: null, plan: null }, index) : { values }
  const valuesOf = (of: typeof values) => of.map(({ value }) => value)
  return {
    kind: 'categories',
    values: values.map(({ value }) => (typeof value === 'bigint' ? String(value) : value)),
    colors: keepColors(valuesOf(values), valuesOf(whole.values ?? [])),
    counts: values.map(({ count }) => count),
    others,
    ...about,
  }
}

/** The values of a column that most rows have, as many as there are colors. */
async function frequentValues({ engine, snapshot, query, plan, work }: StyledRows, index: number) {
  const { facets } = await engine.facets(
    snapshot,
    {
      columns: [index],
      limit: CATEGORIES.light.length,
      bins: 1,
      extent: false,
      box: null,
      selection: query?.selection ?? '',
    },
    plan,
    work,
  )
  return facets[0]![1]
}

/** The scale of the cells of hexagons, by their number of features or by the mean of a column. */
export async function hexagonScale(
  rows: StyledRows,
  resolution: number,
  measure: { name: string; column: string } | null,
  { classing }: MapLook,
): Promise<Scale | null> {
  const groups = await aggregate(rows, {
    groupby: [{ kind: 'h3', resolution, name: 'cell' }],
    measures: [measure ? { kind: 'mean', ...measure } : { kind: 'count', name: 'count' }],
    limit: MAX_CELLS,
  })
  const values = groups
    .map(([, value]) => value)
    .filter((value) => value !== null)
    .map(Number)
    .sort((a, b) => a - b)
  if (values.length === 0) return null
  const fifths = FIFTHS.map((percent) => values[Math.floor((percent / 100) * (values.length - 1))]!)
  const summary = { min: values[0]!, max: values.at(-1)!, fifths }
  const scale = measure ? numberScale(summary, classing, false) : countScale(summary, classing)
  return { ...scale, column: measure?.name ?? 'count', rows: rows.query ? 'filtered' : 'all', nulls: null }
}

async function aggregate(
  { engine, snapshot, plan, work }: StyledRows,
  query: Pick<AggregateQuery, 'groupby' | 'measures' | 'limit'>,
) {
  const whole = { ...query, having: null, sort: [], offset: 0, others: false, geometry: null, box: null }
  return (await engine.aggregate(snapshot, whole, plan, work)).rows
}
