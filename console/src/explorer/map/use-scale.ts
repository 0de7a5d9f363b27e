import { useQuery } from '@tanstack/react-query'
import type { Classing, Scale } from '@wayleave/contract/map-style'
import type { DatasetDetails } from '@wayleave/contract/records'
import type { Exploration } from '../access.ts'
import { categoryScale, isNumeric, readScale } from './read-scale.ts'

/** The rows whose values make the classes: those that match the filter, or all of the dataset. */
export type ClassRows = 'filtered' | 'all'

/** The service does not hold the columns of larger datasets in memory, nor texts with more different values. */
export const MAX_SUMMED_ROWS = 20_000_000
const MAX_TEXTS = 100_000

/** The columns by which the map can be colored: numbers, and texts and booleans whose values repeat. */
export function colorColumns({ columns, statistics, rows }: DatasetDetails): string[] {
  return columns
    .filter(({ name, type }) => {
      if (isNumeric(type)) return rows <= MAX_SUMMED_ROWS && (statistics?.[name]?.distinct ?? 0) > 1
      return (type === 'text' || type === 'boolean') && (statistics?.[name]?.frequent?.length ?? 0) > 1
    })
    .map(({ name }) => name)
}

/** The columns by which points can be sized. */
export function sizeColumns(dataset: DatasetDetails): string[] {
  const isNumber = (name: string) =>
    dataset.columns.some((column) => column.name === name && isNumeric(column.type))
  return colorColumns(dataset).filter(isNumber)
}

/** Whether tiles can sum up a column where a point stands for several features. */
export function canBeSummed({ rows, statistics, columns }: DatasetDetails, name: string): boolean {
  const column = columns.find((one) => one.name === name)
  if (!column || column.type === 'json' || rows > MAX_SUMMED_ROWS) return false
  return column.type !== 'text' || (statistics?.[name]?.distinct ?? 0) <= MAX_TEXTS
}

/**
 * The scale of a column. With a filter its classes are those of the matching rows, so that they differ from each other
 * on the map, unless `rows` keeps the classes of the whole dataset to compare filters.
 */
export function useScale(
  { dataset, access, filter }: Exploration,
  name: string,
  classing: Classing,
  rows: ClassRows,
): Scale | null {
  const column = dataset.columns.find((column) => column.name === name)
  const statistics = dataset.statistics?.[name]
  const selecting = rows === 'all' ? '' : filter
  const scale = useQuery({
    queryKey: ['scale', dataset.table, dataset.version, name, selecting, classing],
    queryFn: ({ signal }) => readScale(dataset, column!, classing, selecting, signal),
    enabled: access === 'all' && column !== undefined && statistics !== undefined,
    // Until the next classes are known, the last ones of the same column stay, and the legend describes them.
    placeholderData: (previous, query) => (query?.queryKey[3] === name ? previous : undefined),
    staleTime: 3_600_000,
  })
  if (scale.data) return scale.data
  // The most frequent texts are public.
  return column && statistics && !isNumeric(column.type) && selecting === ''
    ? categoryScale(dataset, name)
    : null
}
