import '../../styles/charts.css'
import { useId } from 'react'
import type { Exploration } from '../access.ts'
import type { Clause } from '../filter/clause.ts'
import { type Chart, chartText, readChart } from './chart.ts'
import { ChartCard } from './chart-card.tsx'
import type { Mark } from './chart-data.ts'
import { picked } from './picked.ts'
import { chartsWorthSeeing, usualChart } from './worth-seeing.ts'

/** Charts over all rows that match the filter; for readers who may not see them, over the public statistics. */
export function ChartsTab({
  exploration,
  clauses,
  chosen,
  onChoose,
  onClauses,
}: {
  exploration: Exploration
  clauses: Clause[]
  /** The texts of the charts; null if the user has not chosen. */
  chosen: string[] | null
  onChoose: (charts: string[]) => void
  onClauses: (clauses: Clause[]) => void
}) {
  const { dataset, access } = exploration
  const id = useId()
  const charts = chosen
    ? chosen.map((text) => readChart(text, dataset)).filter((chart) => chart !== null)
    : chartsWorthSeeing(dataset)
  const possible = dataset.columns.filter(({ type }) => type !== 'json')
  const choose = (changed: Chart[]) => onChoose(changed.map(chartText))
  const pick = (mark: Mark, isAdded: boolean) =>
    onClauses(picked(clauses, mark.clauses ?? [], isAdded, dataset))
  return (
    <div className="stack-small">
      <div className="inline-select">
        <label htmlFor={id} className="small soft">
          Add a chart of
        </label>
        <select
          id={id}
          value=""
          onChange={(event) => {
            const column = possible.find(({ name }) => name === event.target.value)!
            choose([...charts, usualChart(column, dataset)])
          }}
        >
          <option value="" disabled>
            a column
          </option>
          {possible.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </div>
      {charts.length === 0 && <p className="empty">Choose a column to see a chart of it.</p>}
      <div className="charts">
        {charts.map((chart, index) => (
          <ChartCard
            // A chart that is changed keeps its place and its open controls.
            key={index}
            exploration={exploration}
            chart={chart}
            clauses={clauses}
            onChange={(changed) => choose(charts.map((one, at) => (at === index ? changed : one)))}
            onRemove={() => choose(charts.filter((_, at) => at !== index))}
            onPick={access === 'all' ? pick : null}
          />
        ))}
      </div>
    </div>
  )
}
