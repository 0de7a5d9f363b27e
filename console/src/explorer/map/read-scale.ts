import type { Feature } from '@wayleave/client'
import type { DatasetDetails } from '@wayleave/contract/records'
import { collectionUrl, nameList, readOgc } from '../../api/ogc.ts'
import type { Column, Facet } from '../filter/facet.ts'
import { keepColors, type Scale } from './coloring.ts'
import { CATEGORIES } from './map-palette.ts'

const CLASSES = 5
/** As many as there are colors. */
const MAX_VALUES = CATEGORIES.light.length

interface FacetResponse {
  numberMatched: number
  facets: Record<string, Facet>
}

export function isNumeric(type: string): boolean {
  return type === 'number' || type === 'integer'
}

/** The scale of a column over all rows of a dataset that has statistics of the column. */
export async function readWholeScale(
  dataset: DatasetDetails,
  column: Column,
  signal: AbortSignal,
): Promise<Scale | null> {
  if (!isNumeric(column.type)) return categoryScale(dataset, column.name)
  const { nulls, min, max } = dataset.statistics![column.name]!
  if (min === undefined || max === undefined) return null
  const breaks = await quantiles(dataset.table, column.name, '', dataset.rows - nulls, signal)
  return numberScale(column, breaks, Number(min), Number(max), { rows: 'all', hasNulls: nulls > 0 })
}

/** The scale of a column over the rows that match a filter, exactly. */
export async function readFilteredScale(
  dataset: DatasetDetails,
  column: Column,
  filter: string,
  signal: AbortSignal,
): Promise<Scale> {
  const { table } = dataset
  const { name } = column
  const query = { columns: nameList([name]), filter, limit: MAX_VALUES, bins: 1 }
  const response = await readOgc<FacetResponse>(collectionUrl(table, '/facets', query), signal)
  const { nulls, values = [], others = 0 } = response.facets[name]!
  const about = { rows: 'filtered', hasNulls: nulls > 0 } as const
  if (!isNumeric(column.type)) {
    const frequent = values.map(({ value }) => value)
    const colors = keepColors(frequent, frequentValues(dataset, name))
    return { kind: 'categories', column: name, values: frequent, colors, hasOthers: others > 0, ...about }
  }
  const count = response.numberMatched - nulls
  if (count === 0)
    return { kind: 'categories', column: name, values: [], colors: [], hasOthers: false, ...about }
  const ends = [0, count - 1].map((offset) => valueAt(table, name, filter, offset, signal))
  const [breaks, min, max] = await Promise.all([quantiles(table, name, filter, count, signal), ...ends])
  return numberScale(column, breaks as number[], min as number, max as number, about)
}

/** The most frequent texts of the whole dataset, which its statistics have. */
export function categoryScale(dataset: DatasetDetails, name: string): Scale | null {
  const values = frequentValues(dataset, name)
  if (values.length === 0) return null
  const { nulls, distinct } = dataset.statistics![name]!
  return {
    kind: 'categories',
    column: name,
    values,
    colors: values.map((_, index) => index),
    hasOthers: distinct > values.length,
    hasNulls: nulls > 0,
    rows: 'all',
  }
}

function frequentValues({ statistics }: DatasetDetails, name: string) {
  return statistics?.[name]?.frequent?.slice(0, MAX_VALUES).map(({ value }) => value) ?? []
}

function numberScale(
  { name, type }: Column,
  breaks: readonly number[],
  min: number,
  max: number,
  about: Pick<Scale, 'rows' | 'hasNulls'>,
): Scale {
  // Equal breaks are merged: a value that fills several classes is in one.
  const distinct = [...new Set(breaks)].filter((at) => at > min)
  return {
    kind: 'quantiles',
    column: name,
    breaks: distinct,
    min,
    max,
    isInteger: type === 'integer',
    ...about,
  }
}

/** The values at equal shares of the sorted rows, exactly: one row is read at each. */
async function quantiles(
  table: string,
  column: string,
  filter: string,
  count: number,
  signal: AbortSignal,
): Promise<number[]> {
  const reads = Array.from({ length: CLASSES - 1 }, (_, index) =>
    valueAt(table, column, filter, Math.floor((count * (index + 1)) / CLASSES), signal),
  )
  return (await Promise.all(reads)).filter(Number.isFinite)
}

/** The value of the row at an offset of the sorted rows; rows without a value are last. */
async function valueAt(
  table: string,
  column: string,
  filter: string,
  offset: number,
  signal: AbortSignal,
): Promise<number> {
  const sorted = { sortby: nameList([column]), offset, limit: 1, properties: nameList([column]) }
  const query = { ...sorted, count: 'none', filter }
  const page = await readOgc<{ features: Feature[] }>(collectionUrl(table, '/items', query), signal)
  return Number(page.features[0]?.properties[column])
}
