import {
  CATEGORIES,
  type Classing,
  FIFTHS,
  keepColors,
  type NumberScale,
  numberScale,
  type Scale,
} from '@wayleave/contract/map-style'
import type { DatasetDetails } from '@wayleave/contract/records'
import { collectionUrl, nameList, readOgc } from '../../api/ogc.ts'
import { nameText } from '../filter/cql2-text.ts'
import type { Column, Facet } from '../filter/facet.ts'
import { countRows } from '../use-matched.ts'
import { isNumeric } from './color-columns.ts'

/** As many as there are colors. */
const MAX_VALUES = CATEGORIES.light.length

/** The scale of a column over the rows that match a filter, exactly; null if no row has a value. */
export async function readScale(
  dataset: DatasetDetails,
  column: Column,
  classing: Classing,
  filter: string,
  signal: AbortSignal,
): Promise<Scale | null> {
  const rows = filter === '' ? 'all' : 'filtered'
  if (isNumeric(column.type)) return readNumberScale(dataset.table, column, classing, filter, rows, signal)
  const { name } = column
  const facetOf = async (selecting: string): Promise<Facet> => {
    const query = { columns: nameList([name]), filter: selecting, limit: MAX_VALUES, bins: 1 }
    const url = collectionUrl(dataset.table, '/facets', query)
    return (await readOgc<{ facets: Record<string, Facet> }>(url, signal)).facets[name]!
  }
  const [whole, matched] = await Promise.all([facetOf(''), filter === '' ? null : facetOf(filter)])
  const { nulls, values = [], others = 0 } = matched ?? whole
  const frequent = values.map(({ value }) => value)
  return {
    kind: 'categories',
    column: name,
    values: frequent,
    colors: keepColors(frequent, whole.values?.map(({ value }) => value) ?? []),
    counts: values.map(({ count }) => count),
    others,
    nulls,
    rows,
  }
}

/** The most frequent texts of the whole dataset, which its statistics have. */
export function categoryScale(dataset: DatasetDetails, name: string): Scale | null {
  const frequent = frequentValues(dataset, name)
  if (frequent.length === 0) return null
  const { nulls } = dataset.statistics![name]!
  const counts = frequent.map(({ count }) => count)
  return {
    kind: 'categories',
    column: name,
    values: frequent.map(({ value }) => value),
    colors: frequent.map((_, index) => index),
    counts,
    others: dataset.rows - nulls - counts.reduce((sum, count) => sum + count, 0),
    nulls,
    rows: 'all',
  }
}

function frequentValues({ statistics }: DatasetDetails, name: string) {
  return statistics?.[name]?.frequent?.slice(0, MAX_VALUES) ?? []
}

/** The extremes and the fifths are one row of aggregates; then the rows of each class are counted. */
async function readNumberScale(
  table: string,
  { name, type }: Column,
  classing: Classing,
  filter: string,
  rows: Scale['rows'],
  signal: AbortSignal,
): Promise<Scale | null> {
  const quoted = `"${name.replaceAll('"', '""')}"`
  const measures = ['min', 'max'].map((measure) => `${measure}(${quoted})`)
  measures.push(...FIFTHS.map((percent) => `percentile(${quoted},${percent})`))
  const url = collectionUrl(table, '/aggregate', { measures: JSON.stringify(measures), filter })
  const [row] = (await readOgc<{ rows: (number | null)[][] }>(url, signal)).rows
  const [min, max, ...fifths] = (row ?? []).map((value) => (value === null ? Number.NaN : Number(value)))
  if (!Number.isFinite(min) || !Number.isFinite(max)) return null
  const scale = numberScale({ min: min!, max: max!, fifths }, classing, type === 'integer')
  const within = (condition: string) => (filter === '' ? condition : `${condition} AND (${filter})`)
  const count = (condition: string) => countRows(table, within(condition), signal)
  const [nulls, ...counts] = await Promise.all(
    [`${nameText(name)} IS NULL`, ...classConditions(name, scale)].map(count),
  )
  const isKnown = counts.length > 0 && counts.every((one) => one !== null)
  return { ...scale, counts: isKnown ? (counts as number[]) : null, column: name, nulls: nulls ?? null, rows }
}

/** A condition for the rows of each class. */
function classConditions(name: string, { breaks, isContinuous }: NumberScale): string[] {
  if (isContinuous) return []
  const column = nameText(name)
  if (breaks.length === 0) return [`${column} IS NOT NULL`]
  return [...breaks, null].map((to, index) => {
    const ends = [
      ...(index > 0 ? [`${column} >= ${breaks[index - 1]}`] : []),
      ...(to === null ? [] : [`${column} < ${to}`]),
    ]
    return ends.join(' AND ')
  })
}
