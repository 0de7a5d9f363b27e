import type { DatasetDetails } from '@wayleave/contract/records'
import { plural } from '../../words.ts'
import { facetOfStatistics } from '../filter/facet.ts'
import { type Chart, columnOf, isTime } from './chart.ts'
import { type ChartData, intervalWords, type Mark, OTHERS, valueWords } from './chart-data.ts'

/** What the public statistics tell about a column, for readers who may not see all rows. */
export function statisticsChart(chart: Chart, dataset: DatasetDetails): ChartData | null {
  const column = columnOf(chart.column, dataset)
  const facet = column && facetOfStatistics(column, dataset)
  if (!facet) return null
  const notes = facet.nulls > 0 ? [`${plural(facet.nulls, 'row')} without a value`] : []
  const base = { step: '', parts: [], colors: [], rows: dataset.rows, notes }
  const mark = (group: string, rows: number): Mark => ({
    group,
    part: null,
    from: null,
    to: null,
    value: rows,
    rows,
    clauses: null,
  })
  if (facet.histogram) {
    const time = isTime(facet.type)
    const at = (value: unknown) => (time ? Date.parse(String(value)) : Number(value))
    const marks = facet.histogram.map(({ from, to, count }): Mark => {
      const words = time ? `${day(at(from))} to ${day(at(to))}` : intervalWords(at(from), at(to))
      return { ...mark(words, count), from: at(from), to: at(to) }
    })
    return { ...base, axis: time ? 'times' : 'numbers', marks, groups: marks.map(({ group }) => group) }
  }
  const marks = (facet.values ?? [])
    .slice(0, chart.top)
    .map(({ value, count }) => mark(valueWords(value), count))
  const shown = marks.reduce((sum, { rows }) => sum + rows, 0)
  const others = dataset.rows - facet.nulls - shown
  if (others > 0) marks.push(mark(OTHERS, others))
  return { ...base, axis: 'values', marks, groups: marks.map(({ group }) => group) }
}

const day = (time: number) => new Date(time).toISOString().slice(0, 16).replace('T', ' ')
