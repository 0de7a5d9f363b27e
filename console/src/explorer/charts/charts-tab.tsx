import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { ProblemNote } from '../../components/page/problem-note.tsx'
import { Skeleton } from '../../components/page/skeleton.tsx'
import type { Exploration } from '../access.ts'
import { facetOfStatistics, isCountable } from '../filter/facet.ts'
import { facetsQuery } from '../filter/use-facets.ts'
import { ChartCard } from './chart-card.tsx'

const SHOWN_AT_FIRST = 4

/** Charts of columns over the rows that match the filter; without a key, over all rows by the statistics. */
export function ChartsTab({
  exploration,
  chosen,
  onChoose,
}: {
  exploration: Exploration
  /** Null if the user has not chosen. */
  chosen: string[] | null
  onChoose: (columns: string[]) => void
}) {
  const { dataset, access, filter } = exploration
  const id = useId()
  const possible = dataset.columns.filter((column) => isCountable(column, dataset))
  const names = (chosen ?? atFirst(exploration)).filter((name) => possible.some((one) => one.name === name))
  const isOpen = access === 'all'
  const facets = useQuery({
    ...facetsQuery(dataset, names, filter, { limit: 12, bins: 40 }),
    enabled: isOpen && names.length > 0,
  })
  const facetOf = (name: string) => {
    if (isOpen) return facets.data?.facets[name]
    const column = dataset.columns.find((one) => one.name === name)!
    return facetOfStatistics(column, dataset) ?? undefined
  }
  const unused = possible.filter(({ name }) => !names.includes(name))
  return (
    <div className="stack-small">
      <div className="inline-select">
        <label htmlFor={id} className="small soft">
          Add a chart of
        </label>
        <select id={id} value="" onChange={(event) => onChoose([...names, event.target.value])}>
          <option value="" disabled>
            a column
          </option>
          {unused.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </div>
      {facets.error && <ProblemNote error={facets.error} />}
      {isOpen && names.length > 0 && !facets.data && !facets.error && <Skeleton lines={6} />}
      {names.length === 0 && <p className="empty">Choose a column to see a chart of it.</p>}
      <div className="charts">
        {names.map((name) => (
          <ChartCard
            key={name}
            column={dataset.columns.find((column) => column.name === name)!}
            facet={facetOf(name)}
            onRemove={() => onChoose(names.filter((one) => one !== name))}
          />
        ))}
      </div>
    </div>
  )
}

/** Times first, then numbers and texts in their order; columns with one value tell nothing. */
function atFirst({ dataset }: Exploration): string[] {
  const telling = dataset.columns.filter((column) => {
    const statistics = dataset.statistics?.[column.name]
    return isCountable(column, dataset) && (statistics === undefined || statistics.distinct > 1)
  })
  const isTime = (type: string) => type === 'date' || type === 'timestamp'
  const sorted = [
    ...telling.filter(({ type }) => isTime(type)).slice(0, 1),
    ...telling.filter(({ type }) => !isTime(type)),
  ]
  return sorted.slice(0, SHOWN_AT_FIRST).map(({ name }) => name)
}
