import { useQuery } from '@tanstack/react-query'
import type { Classing, Scale } from '@wayleave/contract/map-style'
import type { DatasetDetails } from '@wayleave/contract/records'
import { useMemo } from 'react'
import type { Exploration } from '../access.ts'
import { type Clause, columnOf, filterText } from '../filter/clause.ts'
import { parseClauses } from '../filter/parse-clauses.ts'
import { isNumeric } from './color-columns.ts'
import { selectsEntries } from './legend-picks.ts'
import { categoryScale, readScale } from './read-scale.ts'

/** The rows whose values make the classes: those that match the filter, or all of the dataset. */
export type ClassRows = 'filtered' | 'all'

/**
 * The scale of a column for a legend that only tells what the map shows: its counts are those of the rows that match.
 * Without access to all rows there are no counts, because the map shows a sample.
 */
export function useFixedScale(exploration: Exploration, name: string, classing: Classing, rows: ClassRows) {
  const { access, filter } = exploration
  const scale = useScaleOf(exploration, name, classing, rows === 'all' ? '' : filter)
  return useMemo(
    () => (scale && (access !== 'all' || (rows === 'all' && filter !== '')) ? withoutCounts(scale) : scale),
    [scale, access, rows, filter],
  )
}

function withoutCounts(scale: Scale): Scale {
  const unknown = { counts: null, nulls: scale.nulls === 0 ? 0 : null }
  if (scale.kind === 'numbers') return { ...scale, ...unknown }
  return { ...scale, ...unknown, others: scale.others === 0 ? 0 : null }
}

/**
 * The scale of a column. With a filter its classes are those of the matching rows, so that they differ from each other
 * on the map, unless `rows` keeps the classes of the whole dataset to compare filters. If the filter selects entries of
 * the legend, the legend keeps the others, so that they can be selected next.
 */
export function useScale(
  exploration: Exploration,
  name: string,
  classing: Classing,
  rows: ClassRows,
): Scale | null {
  const { dataset, filter } = exploration
  const [own, others] = useMemo(() => withoutColumn(dataset, filter, name), [dataset, filter, name])
  const base = useScaleOf(exploration, name, classing, rows === 'all' ? '' : others)
  const isWithin = rows === 'filtered' && own !== undefined && base !== null && !selectsEntries(base, own)
  const narrow = useScaleOf(exploration, isWithin ? name : '', classing, filter)
  return isWithin ? (narrow ?? base) : base
}

/** What a filter says about a column, and the filter without it. */
function withoutColumn(
  { columns }: DatasetDetails,
  filter: string,
  name: string,
): [own: Clause | undefined, others: string] {
  const types = new Map(columns.map(({ name, type }) => [name, type as string]))
  const clauses = parseClauses(filter, types)
  const own = clauses.find((clause) => columnOf(clause) === name)
  if (own === undefined) return [undefined, filter]
  const others = clauses.filter((clause) => clause !== own)
  return [own, filterText(others, types)]
}

/** The scale of the rows that `selecting` selects. */
function useScaleOf(
  { dataset, access }: Exploration,
  name: string,
  classing: Classing,
  selecting: string,
): Scale | null {
  const column = dataset.columns.find((column) => column.name === name)
  const statistics = dataset.statistics?.[name]
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
