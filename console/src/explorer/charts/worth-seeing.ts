import type { DatasetDetails } from '@wayleave/contract/records'
import { type Column, isCountable } from '../filter/facet.ts'
import { type Chart, isNumeric, isTime, plainChart, TOP } from './chart.ts'

const SHOWN_AT_FIRST = 4
/** A further chart that tells less than this is not shown unasked. */
const MIN_WORTH = 0.2
/** Numbers with up to this many different values are codes or steps: each value is a bar. */
const FEW_VALUES = 16

/**
 * The charts that a reader sees first: by what the statistics say, and not by the order of the columns. A time tells
 * when; few categories tell what of; numbers tell how much. Constant columns, ids and nearly empty columns tell nothing.
 */
export function chartsWorthSeeing(dataset: DatasetDetails): Chart[] {
  const candidates = dataset.columns.map((column) => ({ column, worth: worthOf(column, dataset) }))
  const chosen: Column[] = []
  while (chosen.length < SHOWN_AT_FIRST) {
    // Every further chart of a sort tells less: a second time mostly says when the row was changed.
    const worth = (one: (typeof candidates)[number]) => {
      const alike = chosen.filter(({ type }) => sortOf(type) === sortOf(one.column.type)).length
      return one.worth * (isTime(one.column.type) ? 0.2 : 0.8) ** alike
    }
    const best = candidates.reduce((best, one) => (worth(one) > worth(best) ? one : best), candidates[0]!)
    if (!best || worth(best) <= (chosen.length === 0 ? 0 : MIN_WORTH)) break
    chosen.push(best.column)
    candidates.splice(candidates.indexOf(best), 1)
  }
  return chosen.map((column) => usualChart(column, dataset))
}

function sortOf(type: string): string {
  return isTime(type) ? 'time' : isNumeric(type) ? 'number' : 'category'
}

/** The chart of a column that most readers would draw. */
export function usualChart({ name, type }: Column, dataset: DatasetDetails): Chart {
  const distinct = dataset.statistics?.[name]?.distinct ?? Number.POSITIVE_INFINITY
  const isFew = isNumeric(type) && distinct <= FEW_VALUES
  return { ...plainChart(name), ...(isFew ? { step: 'values', order: 'value' as const } : {}) }
}

/** How much a chart of a column tells, from 0 to 1. */
function worthOf(column: Column, dataset: DatasetDetails): number {
  if (!isCountable(column, dataset)) return 0
  const { name, type } = column
  const statistics = dataset.statistics?.[name]
  if (!statistics) return isTime(type) ? 0.5 : 0.3
  const { nulls, distinct } = statistics
  const filled = dataset.rows === 0 ? 0 : (dataset.rows - nulls) / dataset.rows
  if (distinct < 2 || filled === 0) return 0
  if (isTime(type)) return 0.95 * filled
  if (type === 'integer' && isId(column, dataset)) return 0
  if (isNumeric(type))
    return (distinct <= FEW_VALUES ? 0.6 : 0.8 + 0.1 * evenness(statistics.histogram)) * filled
  // Bars of a few values tell all; of hundreds, the first tell only as much as they cover.
  const frequent = statistics.frequent?.slice(0, TOP).map(({ count }) => count) ?? []
  const values = Math.max(1, dataset.rows - nulls)
  const covered = Math.min(1, frequent.reduce((sum, rows) => sum + rows, 0) / values)
  if ((frequent[0] ?? 0) > 0.98 * values) return 0.15 * filled
  return (distinct === 2 ? 0.7 : distinct <= 20 ? 0.9 : 0.8 * covered) * filled
}

/** Whole numbers that are nearly all different, or that are named so, identify rows. */
function isId({ name }: Column, { rows, statistics }: DatasetDetails): boolean {
  const { distinct, nulls } = statistics![name]!
  return (
    distinct > 0.95 * (rows - nulls) || /^(?:fid|gid|oid|objectid|.*[_ -]?id|code|zip|postal)$/i.test(name)
  )
}

/** How far the rows are from being in one interval: 0 if all are, near 1 if they spread. */
function evenness(histogram: readonly number[] | undefined): number {
  if (!histogram || histogram.length < 2) return 0
  const total = histogram.reduce((sum, rows) => sum + rows, 0)
  return total === 0 ? 0 : 1 - Math.max(...histogram) / total
}
