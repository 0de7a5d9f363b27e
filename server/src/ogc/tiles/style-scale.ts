import {
  CATEGORIES,
  type Classing,
  FIFTHS,
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
  const { facets } = await rows.engine.facets(
    rows.snapshot,
    {
      columns: [index],
      limit: CATEGORIES.light.length,
      bins: 1,
      extent: false,
      box: null,
      selection: rows.query?.selection ?? '',
    },
    rows.plan,
    rows.work,
  )
  const { values = [], others = 0 } = facets[0]![1]
  return {
    kind: 'categories',
    values: values.map(({ value }) => (typeof value === 'bigint' ? String(value) : value)),
    colors: values.map((_, i) => i),
    counts: values.map(({ count }) => count),
    others,
    ...about,
  }
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
  const scale = numberScale({ min: values[0]!, max: values.at(-1)!, fifths }, classing, measure === null)
  return { ...scale, column: measure?.name ?? 'count', rows: rows.query ? 'filtered' : 'all', nulls: null }
}

async function aggregate(
  { engine, snapshot, plan, work }: StyledRows,
  query: Pick<AggregateQuery, 'groupby' | 'measures' | 'limit'>,
) {
  const whole = { ...query, having: null, sort: [], offset: 0, others: false, geometry: false, box: null }
  return (await engine.aggregate(snapshot, whole, plan, work)).rows
}
