import { CATEGORIES } from '@wayleave/contract/map-style'
import type { DatasetDetails } from '@wayleave/contract/records'
import type { Access } from './access.ts'
import { type Column, isCountable } from './filter/facet.ts'
import { colorColumns, hasPoints, isNumeric } from './map/color-columns.ts'

/** Numbers with up to this many different values are codes or steps: each value is a bar. */
export const FEW_VALUES = 16
/** As many values as the first charts and legends show. */
const SHOWN_VALUES = 12
/** Of columns that tell as much, the one that the publisher describes is meant to be looked at. */
const DESCRIBED = 0.1
const MIN_COLOR_WORTH = 0.6
/** The tiles of so many points take milliseconds to be made with the values of a column. */
const MAX_SUMMED_ROWS = 50_000

const SHOWN_AT_FIRST = 4
/** A further column that tells less than this is not shown unasked. */
const MIN_WORTH = 0.2

const isTime = (type: string) => type === 'date' || type === 'timestamp'

function sortOf(type: string): string {
  return isTime(type) ? 'time' : isNumeric(type) ? 'number' : 'category'
}

/**
 * The columns whose charts and filters are shown first. A time tells when; few categories tell what of; numbers tell how
 * much. Constant columns, ids and nearly empty columns tell nothing.
 */
export function tellingColumns(dataset: DatasetDetails): Column[] {
  const candidates = dataset.columns.map((column) => ({ column, worth: worthOf(column, dataset) }))
  const chosen: Column[] = []
  while (chosen.length < SHOWN_AT_FIRST) {
    // Every further column of a sort tells less: a second time mostly says when the row was changed.
    const worth = (one: (typeof candidates)[number]) => {
      const alike = chosen.filter(({ type }) => sortOf(type) === sortOf(one.column.type)).length
      return one.worth * (isTime(one.column.type) ? 0.2 : 0.8) ** alike
    }
    const best = candidates.reduce((best, one) => (worth(one) > worth(best) ? one : best), candidates[0]!)
    if (!best || worth(best) <= (chosen.length === 0 ? 0 : MIN_WORTH)) break
    chosen.push(best.column)
    candidates.splice(candidates.indexOf(best), 1)
  }
  return chosen
}

/**
 * The column that colors a map that nobody has styled: empty if none tells much, or if the tiles of many points would
 * have to be made for it. Readers of the sample have the colors of the most frequent texts.
 */
export function usualColor(dataset: DatasetDetails, access: Access): string {
  if (hasPoints(dataset) && dataset.rows > MAX_SUMMED_ROWS) return ''
  const names = new Set(colorColumns(dataset))
  const candidates = dataset.columns
    .filter(({ name, type }) => names.has(name) && (access === 'all' || !isNumeric(type)))
    .filter(({ name, type }) => isNumeric(type) || fitsColors(name, dataset))
    .map((column) => ({ name: column.name, worth: worthOf(column, dataset) }))
    .sort((a, b) => b.worth - a.worth)
  const [best] = candidates
  return best && best.worth >= MIN_COLOR_WORTH ? best.name : ''
}

/** Whether most rows have a color of their own. */
function fitsColors(name: string, { statistics, rows }: DatasetDetails): boolean {
  const frequent = statistics?.[name]?.frequent?.slice(0, CATEGORIES.light.length) ?? []
  return frequent.reduce((sum, { count }) => sum + count, 0) > 0.8 * rows
}

/**
 * How much the values of a column tell a reader who has seen nothing yet, from 0 to about 1, by what the statistics
 * say: which charts, filters and colors come first.
 */
function worthOf(column: Column, dataset: DatasetDetails): number {
  const worth = worthOfValues(column, dataset)
  const { title, description, unit } = column
  return worth > 0 && (title || description || unit) ? worth + DESCRIBED : worth
}

function worthOfValues(column: Column, dataset: DatasetDetails): number {
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
  const frequent = statistics.frequent?.slice(0, SHOWN_VALUES).map(({ count }) => count) ?? []
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

/** Whether no part of the range has nearly all rows, so that colors of equal steps tell them apart. */
export function isSpread(name: string, { statistics }: DatasetDetails): boolean {
  return evenness(statistics?.[name]?.histogram) > 0.6
}

/** How far the rows are from being in one interval: 0 if all are, near 1 if they spread. */
function evenness(histogram: readonly number[] | undefined): number {
  if (!histogram || histogram.length < 2) return 0
  const total = histogram.reduce((sum, rows) => sum + rows, 0)
  return total === 0 ? 0 : 1 - Math.max(...histogram) / total
}
