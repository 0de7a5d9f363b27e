import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { Icon } from '../../components/icon.tsx'
import { ProblemNote } from '../../components/page/problem-note.tsx'
import { Skeleton } from '../../components/page/skeleton.tsx'
import { saveFile } from '../../datasets/downloads/save-file.ts'
import { useTheme } from '../../theme.ts'
import { plural } from '../../words.ts'
import type { Exploration } from '../access.ts'
import { type Clause, columnOf as clauseColumn, filterText } from '../filter/clause.ts'
import { askAggregates } from './ask-aggregates.ts'
import { type Chart, drawnText } from './chart.ts'
import { partColors } from './chart-colors.ts'
import { type ChartData, isInside, type Mark } from './chart-data.ts'
import { ChartForm } from './chart-form.tsx'
import { ChartLegend, ChartPicture } from './chart-picture.tsx'
import { ChartTable } from './chart-table.tsx'
import { axisLabels, chartTitle, drawnTitle } from './chart-words.ts'
import { loadChart } from './load-chart.ts'
import { numberWithoutPlace } from './log-axis.ts'
import { savePng, saveSvg } from './save-chart.ts'
import { statisticsChart } from './statistics-chart.ts'
import { csvOf } from './table-of.ts'

interface Props {
  exploration: Exploration
  chart: Chart
  clauses: Clause[]
  onChange: (chart: Chart) => void
  onRemove: () => void
  /** Filters by a group; null if the rows cannot be filtered. */
  onPick: ((mark: Mark, isAdded: boolean) => void) | null
}

/** One chart with its controls, its table and its files. */
export function ChartCard({ exploration, chart, clauses, onChange, onRemove, onPick }: Props) {
  const { dataset, access } = exploration
  const title = chartTitle(chart)
  const loaded = useChart(exploration, chart, clauses)
  const data = access === 'all' ? loaded.data : statisticsChart(chart, dataset)
  const notes = data ? notesOf(chart, data) : []
  const [isTable, setIsTable] = useState(false)
  const [isOpen, setIsOpen] = useState(false)
  const drawing = useRef<SVGSVGElement | null>(null)
  const own = clauses.find((clause) => clauseColumn(clause) === chart.column)
  const inside = (mark: Mark) => isInside(mark, own)
  return (
    <figure className="card chart-card" aria-label={title} aria-busy={loaded.isFetching || undefined}>
      <figcaption className="chart-head">
        <span className="chart-title">
          <strong dir="auto">{title}</strong>
          {chart.title && <small className="soft">{drawnTitle(chart)}</small>}
        </span>
        <span className="chart-buttons">
          {access === 'all' && (
            <button
              type="button"
              className="button quiet small"
              aria-expanded={isOpen}
              onClick={() => setIsOpen(!isOpen)}
              aria-label={`Change the chart: ${title}`}
            >
              Change
            </button>
          )}
          <button
            type="button"
            className="button quiet small"
            aria-pressed={isTable}
            onClick={() => setIsTable(!isTable)}
            aria-label={`Table: ${title}`}
          >
            Table
          </button>
          {data && (
            <SaveMenu
              chart={chart}
              data={data}
              exploration={exploration}
              drawing={drawing}
              isTable={isTable}
            />
          )}
          <button
            type="button"
            className="button quiet small"
            onClick={onRemove}
            aria-label={`Remove the chart: ${title}`}
          >
            <Icon name="close" />
          </button>
        </span>
      </figcaption>
      {isOpen && access === 'all' && (
        <ChartForm chart={chart} dataset={dataset} step={data?.step ?? ''} onChange={onChange} />
      )}
      {loaded.error && <ProblemNote error={loaded.error} retry={loaded.refetch} />}
      {!data && !loaded.error && access === 'all' && <Skeleton lines={5} />}
      {data === null && <p className="soft small">No values.</p>}
      {data && data.marks.length === 0 && <p className="soft small">No values.</p>}
      {data && data.marks.length > 0 && (
        <>
          <ChartLegend chart={chart} data={data} clauses={clauses} onPick={onPick} />
          {isTable ? (
            <ChartTable chart={chart} data={data} onPick={onPick} />
          ) : (
            <ChartPicture
              chart={chart}
              data={data}
              labels={axisLabels(chart, dataset)}
              isInside={inside}
              onPick={onPick}
              onDrawn={(svg) => {
                drawing.current = svg
              }}
            />
          )}
        </>
      )}
      {chart.note && <p dir="auto">{chart.note}</p>}
      {notes.length > 0 && <p className="small soft">{notes.join(' · ')}</p>}
    </figure>
  )
}

function notesOf(chart: Chart, data: ChartData): string[] {
  const hidden = numberWithoutPlace(chart, data)
  if (hidden === 0) return data.notes
  const noun = chart.kind === 'points' ? 'point' : 'group'
  return [...data.notes, `${plural(hidden, noun)} not above zero, which a logarithmic axis has no place for`]
}

/**
 * The groups among the rows that match the filter. What the filter says about the chart's own column does not apply,
 * so that other groups can be chosen; they are drawn faintly.
 */
function useChart({ dataset, access, filter }: Exploration, chart: Chart, clauses: Clause[]) {
  const types = new Map(dataset.columns.map(({ name, type }) => [name, type as string]))
  const others = clauses.filter((clause) => clauseColumn(clause) !== chart.column)
  const applied = others.length === clauses.length ? filter : filterText(others, types)
  return useQuery({
    queryKey: ['chart', dataset.table, dataset.version, applied, drawnText(chart)],
    queryFn: async ({ signal }): Promise<ChartData> =>
      loadChart(chart, dataset, applied, askAggregates(dataset.table, signal)),
    enabled: access === 'all',
    // Another filter keeps the picture until its own is there; another chart cannot be drawn with these numbers.
    placeholderData: (data, before) =>
      before?.queryKey[4] === drawnText(chart) ? keepPreviousData(data) : undefined,
    staleTime: 300_000,
  })
}

/** The chart as PNG, SVG or CSV. Pictures are those of the drawing, which a table hides. */
function SaveMenu({
  chart,
  data,
  exploration: { dataset },
  drawing,
  isTable,
}: {
  chart: Chart
  data: ChartData
  exploration: Exploration
  drawing: { current: SVGSVGElement | null }
  isTable: boolean
}) {
  const theme = useTheme()
  const title = chartTitle(chart)
  const name = `${dataset.table}-${title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-')}`.slice(0, 80)
  const picture = () => {
    const colors = partColors(data, theme)
    return {
      svg: drawing.current!,
      title: chart.title || `${dataset.title}: ${title}`,
      subtitle: chart.title && `${dataset.title}: ${drawnTitle(chart)}`,
      note: chart.note,
      legend: data.parts.map((text, index) => ({ text, color: colors[index]! })),
      credit: [dataset.attribution, dataset.license].filter(Boolean).join(' · '),
    }
  }
  const close = (button: HTMLElement) => button.closest('details')?.removeAttribute('open')
  return (
    <details className="menu">
      <summary className="button quiet small" aria-label={`Save the chart: ${title}`}>
        <Icon name="download" />
      </summary>
      <div className="menu-body">
        {(['PNG', 'SVG', 'CSV'] as const).map((format) => (
          <button
            key={format}
            type="button"
            className="button small"
            disabled={isTable && format !== 'CSV'}
            onClick={(event) => {
              close(event.currentTarget)
              if (format === 'PNG') void savePng(picture(), name)
              else if (format === 'SVG') saveSvg(picture(), name)
              else saveFile(new Blob([csvOf(chart, data)], { type: 'text/csv' }), `${name}.csv`)
            }}
          >
            {format}
          </button>
        ))}
      </div>
    </details>
  )
}
