import { useQuery } from '@tanstack/react-query'
import type { Feature } from '@wayleave/client'
import type { DatasetDetails } from '@wayleave/contract/records'
import { collectionUrl, nameList, readOgc } from '../../api/ogc.ts'
import type { Access } from '../access.ts'
import type { Scale } from './coloring.ts'

const CLASSES = 5
const CATEGORIES = 8

/** The columns by which the map can be colored: numbers, and texts and booleans whose values repeat. */
export function colorColumns({ columns, statistics }: DatasetDetails): string[] {
  return columns
    .filter(({ name, type }) => {
      if (type === 'number' || type === 'integer') return (statistics?.[name]?.distinct ?? 0) > 1
      return (type === 'text' || type === 'boolean') && (statistics?.[name]?.frequent?.length ?? 0) > 1
    })
    .map(({ name }) => name)
}

/** The columns by which points can be sized. */
export function sizeColumns(dataset: DatasetDetails): string[] {
  const isNumber = (name: string) =>
    dataset.columns.some((column) => column.name === name && ['number', 'integer'].includes(column.type))
  return colorColumns(dataset).filter(isNumber)
}

/** The scale of a column over the whole dataset, so that a color means the same whatever the filter is. */
export function useScale(dataset: DatasetDetails, access: Access, column: string): Scale | null {
  const type = dataset.columns.find(({ name }) => name === column)?.type
  const statistics = dataset.statistics?.[column]
  const isNumber = type === 'number' || type === 'integer'
  const breaks = useQuery({
    queryKey: ['breaks', dataset.table, dataset.version, column],
    queryFn: ({ signal }) => quantiles(dataset, column, signal),
    enabled: access === 'all' && isNumber && statistics !== undefined,
    staleTime: 3_600_000,
  })
  if (!statistics) return null
  if (isNumber) {
    if (!breaks.data || statistics.min === undefined || statistics.max === undefined) return null
    const [min, max] = [Number(statistics.min), Number(statistics.max)]
    const isInteger = type === 'integer'
    return { kind: 'quantiles', column, breaks: breaks.data.filter((at) => at > min), min, max, isInteger }
  }
  const values = statistics.frequent?.slice(0, CATEGORIES).map(({ value }) => value)
  return values ? { kind: 'categories', column, values } : null
}

/** The values at equal shares of the sorted rows, exactly: one row is read at each. */
async function quantiles(
  { table, rows, statistics }: DatasetDetails,
  column: string,
  signal: AbortSignal,
): Promise<number[]> {
  const values = rows - (statistics?.[column]?.nulls ?? 0)
  const reads = Array.from({ length: CLASSES - 1 }, async (_, index) => {
    const offset = Math.floor((values * (index + 1)) / CLASSES)
    const query = { sortby: nameList([column]), offset, limit: 1, properties: nameList([column]) }
    const page = await readOgc<{ features: Feature[] }>(collectionUrl(table, '/items', query), signal)
    return Number(page.features[0]?.properties[column])
  })
  return [...new Set(await Promise.all(reads))].filter(Number.isFinite)
}
