import type { DatasetDetails } from '@wayleave/contract/records'
import { type Column, isCountable } from '../filter/facet.ts'

/** What a chart looks like. Bars of intervals are a histogram; a line is drawn over numbers or times. */
export const KINDS = ['bars', 'line', 'box', 'points'] as const
export type Kind = (typeof KINDS)[number]

export const MEASURES = ['count', 'share', 'sum', 'mean', 'median', 'min', 'max', 'distinct'] as const
export type Measure = (typeof MEASURES)[number]

export const PERIODS = ['year', 'quarter', 'month', 'week', 'day', 'hour', 'weekday'] as const
export type Period = (typeof PERIODS)[number]

/** How the parts of a group are drawn: on top of each other, beside each other, or as shares of the whole. */
export const LAYOUTS = ['stacked', 'grouped', 'filled'] as const
/** The axis of what is measured; of points, one of both axes or both. */
export const SCALES = ['linear', 'log', 'log-across', 'log-both'] as const
type AxisScale = (typeof SCALES)[number]
export const ORDERS = ['most', 'least', 'value'] as const

/** One chart: a measure of the rows in groups by a column. */
export interface Chart {
  column: string
  kind: Kind
  measure: Measure
  /** The column that is measured; of points, the one on the vertical axis. Empty for counts. */
  of: string
  /** A period, the width of an interval, `values` for each value; empty if the data decides. */
  step: string
  /** The column that splits each group; empty for none. */
  by: string
  layout: (typeof LAYOUTS)[number]
  scale: AxisScale
  order: (typeof ORDERS)[number]
  /** How many groups of values are shown; the rest are the others. */
  top: number
  /** The author's own title; empty for one that says what is drawn. */
  title: string
  /** What the author says about the chart; empty for nothing. */
  note: string
}

const TOP = 12
export const MAX_TOP = 50
export const MAX_TITLE = 120
export const MAX_NOTE = 400

export function plainChart(column: string): Chart {
  return {
    column,
    kind: 'bars',
    measure: 'count',
    of: '',
    step: '',
    by: '',
    layout: 'stacked',
    scale: 'linear',
    order: 'most',
    top: TOP,
    title: '',
    note: '',
  }
}

/** The text of what a chart draws, without what is written beside it. */
export const drawnText = (chart: Chart) => chartText({ ...chart, title: '', note: '' })

/** A chart as text, for the page's address: the column, and what differs from the plain chart of it. */
export function chartText(chart: Chart): string {
  const plain = plainChart(chart.column)
  const names = Object.keys(plain) as (keyof Chart)[]
  const parts = names.filter((name) => name !== 'column' && chart[name] !== plain[name])
  const escaped = (text: string) => text.replace(/[\\;]/g, '\\$&')
  return [chart.column, ...parts.map((name) => `${name}=${chart[name]}`)].map(escaped).join(';')
}

/** Reads a chart's text. Null if its column cannot be drawn; other parts that do not fit become the plain ones. */
export function readChart(text: string, dataset: DatasetDetails): Chart | null {
  const [column = '', ...parts] = (text.match(/(?:[^\\;]|\\.)+/gsu) ?? []).map((part) =>
    part.replace(/\\(.)/gsu, '$1'),
  )
  const values = new Map(
    parts.map((part) => [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)]),
  )
  const one = <T extends string>(name: string, choices: readonly T[], usual: T): T =>
    choices.find((choice) => choice === values.get(name)) ?? usual
  const plain = plainChart(column)
  const top = Number(values.get('top') ?? TOP)
  return fitted(
    {
      column,
      kind: one('kind', KINDS, plain.kind),
      measure: one('measure', MEASURES, plain.measure),
      of: values.get('of') ?? '',
      step: values.get('step') ?? '',
      by: values.get('by') ?? '',
      layout: one('layout', LAYOUTS, plain.layout),
      scale: one('scale', SCALES, plain.scale),
      order: one('order', ORDERS, plain.order),
      top: Number.isInteger(top) && top >= 1 && top <= MAX_TOP ? top : TOP,
      title: (values.get('title') ?? '').slice(0, MAX_TITLE),
      note: (values.get('note') ?? '').slice(0, MAX_NOTE),
    },
    dataset,
  )
}

/** The chart with the parts that its columns' types allow. Null if nothing can be drawn of its column. */
export function fitted(chart: Chart, dataset: DatasetDetails): Chart | null {
  const column = columnOf(chart.column, dataset)
  if (!column || column.type === 'json') return null
  const step = isStep(chart.step, column.type) ? chart.step : ''
  const kind = kindsOf({ ...chart, step }, dataset).includes(chart.kind) ? chart.kind : 'bars'
  const measurable = ofColumns({ ...chart, kind }, dataset)
  const of = measurable.some(({ name }) => name === chart.of) ? chart.of : (measurable[0]?.name ?? '')
  const needsOf = kind === 'box' || kind === 'points' || !isCounted(chart.measure)
  const measure = kind === 'box' || kind === 'points' || (needsOf && of === '') ? 'count' : chart.measure
  const canSplit = kind === 'bars' || kind === 'line'
  const isPart = canSplit && splitColumns(chart, dataset).some(({ name }) => name === chart.by)
  // Means of parts do not add up.
  const layout = isAdditive(measure) ? chart.layout : 'grouped'
  const by = isPart ? chart.by : ''
  const made = { ...chart, step, kind, measure, of: needsOf ? of : '', by }
  const whole: Chart = { ...made, layout: by ? layout : 'stacked' }
  return { ...whole, scale: scalesOf(whole, dataset).includes(chart.scale) ? chart.scale : 'linear' }
}

/** The axes that a chart may have. On a logarithmic one, lengths on top of each other would mean nothing. */
export function scalesOf(chart: Chart, dataset: DatasetDetails): AxisScale[] {
  const { kind, by, layout, measure } = chart
  if (kind === 'points') return axisOf(chart, dataset) === 'numbers' ? [...SCALES] : ['linear', 'log']
  const isOnTop = by !== '' && layout !== 'grouped'
  return isOnTop || (kind !== 'box' && measure === 'share') ? ['linear'] : ['linear', 'log']
}

/** Counts need no column. */
export const isCounted = (measure: Measure) => measure === 'count' || measure === 'share'

/** Whether the values of parts add up to the value of the whole. */
export const isAdditive = (measure: Measure) => isCounted(measure) || measure === 'sum'

export const isNumeric = (type: string | undefined) => type === 'number' || type === 'integer'
export const isTime = (type: string | undefined) => type === 'date' || type === 'timestamp'

export function columnOf(name: string, { columns }: DatasetDetails): Column | undefined {
  return columns.find((column) => column.name === name)
}

/** What a chart's groups are: values, or intervals on an axis of numbers or times. */
export function axisOf({ column, step }: Chart, dataset: DatasetDetails): 'values' | 'numbers' | 'times' {
  const type = columnOf(column, dataset)?.type
  if (step === 'values' || step === 'weekday') return 'values'
  return isNumeric(type) ? 'numbers' : isTime(type) ? 'times' : 'values'
}

export function kindsOf(chart: Chart, dataset: DatasetDetails): Kind[] {
  const axis = axisOf(chart, dataset)
  const hasOther = ofColumns({ ...chart, kind: 'points' }, dataset).length > 0
  const hasNumber = ofColumns({ ...chart, kind: 'box' }, dataset).length > 0
  return KINDS.filter((kind) => {
    if (kind === 'box') return hasNumber
    if (kind === 'line') return axis !== 'values'
    return kind === 'bars' || (axis !== 'values' && hasOther)
  })
}

/** The columns that can be measured for a chart. */
export function ofColumns({ column, kind, measure }: Chart, dataset: DatasetDetails): Column[] {
  return dataset.columns.filter(({ name, type }) => {
    if (name === column) return false
    if (kind === 'bars' && measure === 'distinct') return type !== 'json'
    return isNumeric(type)
  })
}

/** The columns with few enough values to split a chart by. */
export function splitColumns({ column }: Pick<Chart, 'column'>, dataset: DatasetDetails): Column[] {
  return dataset.columns.filter((one) => {
    if (one.name === column || !isCountable(one, dataset) || isTime(one.type)) return false
    const distinct = dataset.statistics?.[one.name]?.distinct
    return distinct === undefined || (distinct > 1 && (one.type === 'text' || distinct <= 50))
  })
}

function isStep(step: string, type: string): boolean {
  if (step === '') return true
  if (isTime(type))
    return PERIODS.some((period) => period === step) && (step !== 'hour' || type === 'timestamp')
  return isNumeric(type) && (step === 'values' || (Number(step) > 0 && Number.isFinite(Number(step))))
}
