import type { DatasetDetails } from '@wayleave/contract/records'
import { type Chart, isCounted, type Measure, PERIODS } from './chart.ts'
import { type ChartData, numberWords } from './chart-data.ts'

export const MEASURE_WORDS: Record<Measure, string> = {
  count: 'Number of rows',
  share: 'Share of rows',
  sum: 'Sum',
  mean: 'Mean',
  median: 'Median',
  min: 'Smallest',
  max: 'Largest',
  distinct: 'Different values',
}

/** The name of a chart: its author's, or else what it draws. */
export function chartTitle(chart: Chart): string {
  return chart.title || drawnTitle(chart)
}

/** What is measured, by which column. */
export function drawnTitle({ kind, column: name, measure, of, by, step }: Chart): string {
  if (kind === 'points') return `${of} against ${name}`
  const column = PERIODS.some((period) => period === step) ? `${step} of ${name}` : name
  const split = by && ` and ${by}`
  if (kind === 'box') return `Spread of ${of} by ${column}`
  if (measure === 'count') return `Rows by ${column}${split}`
  if (measure === 'share') return `Share of rows by ${column}${split}`
  return `${MEASURE_WORDS[measure]} of ${of} by ${column}${split}`
}

/** The head of the column of values. */
export function valueTitle({ kind, measure, of }: Chart): string {
  if (kind === 'box') return `Median of ${of}`
  if (kind === 'points') return of
  if (measure === 'count') return 'Rows'
  return measure === 'share' ? 'Share of rows' : `${MEASURE_WORDS[measure]} of ${of}`
}

/** What the axes of a chart measure; empty if the title says it. */
export interface AxisLabels {
  /** The axis of numbers, from left to right. */
  column: string
  /** The axis of what is measured. */
  measured: string
}

export function axisLabels(chart: Chart, { columns }: DatasetDetails): AxisLabels {
  const { kind, measure, column, of } = chart
  const labelOf = (name: string) => {
    const { title, unit } = columns.find((one) => one.name === name) ?? {}
    return `${title || name}${unit ? ` (${unit})` : ''}`
  }
  const isValue = kind === 'box' || kind === 'points'
  const words = isCounted(measure) ? valueTitle(chart) : `${MEASURE_WORDS[measure]} of ${labelOf(of)}`
  return { column: labelOf(column), measured: isValue ? labelOf(of) : words }
}

const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 })

export function measuredWords(value: number | null, { measure }: Pick<Chart, 'measure'>): string {
  if (value === null) return '–'
  return measure === 'share' ? percent.format(value) : numberWords(value)
}

/** The chart in a sentence, for screen readers; the table has all of it. */
export function chartSummary(chart: Chart, { marks, groups }: ChartData): string {
  const title = chart.title ? `${chart.title}. ${drawnTitle(chart)}` : drawnTitle(chart)
  const measured = marks.filter((mark) => mark.value !== null)
  if (measured.length === 0) return `${title}: no values`
  if (chart.kind === 'points') return `${title}: ${measured.length} points`
  const highest = measured.reduce((best, mark) => (mark.value! > best.value! ? mark : best))
  const where = highest.part ? `${highest.group}, ${highest.part}` : highest.group
  const what = isCounted(chart.measure) && chart.kind !== 'box' ? 'most rows' : 'highest'
  return `${title}: ${groups.length} groups; ${what}, ${measuredWords(highest.value, chart)}, for ${where}`
}
