import * as Plot from '@observablehq/plot'
import type { Theme } from '../../theme.ts'
import type { Chart } from './chart.ts'
import { dataColor, medianColor, othersColor, partColors } from './chart-colors.ts'
import { type ChartData, type Mark, OTHERS } from './chart-data.ts'
import { type AxisLabels, chartSummary } from './chart-words.ts'
import { isLog, logAxis, measuredNumbers } from './log-axis.ts'

/** The class of the marks that have a group of rows behind them. */
export const MARKS = 'chart-marks'

const HEIGHT = 284
const BAR_HEIGHT = 20
const MAX_LABEL_CHARACTERS = 22
const CHARACTER_PX = 6.9
const FAINT = 0.28

export interface Look {
  theme: Theme
  width: number
  labels: AxisLabels
  /** Whether a mark is inside the filter. */
  isInside: (mark: Mark) => boolean
}

/** Draws a chart as an SVG element. The index of each mark is the datum of its element. */
export function drawChart(chart: Chart, data: ChartData, look: Look): SVGSVGElement {
  const { theme, width } = look
  const drawn = data.axis === 'values' ? onValues(chart, data, look) : onNumbers(chart, data, look)
  const svg = Plot.plot({
    width,
    height: HEIGHT,
    marginTop: 28,
    marginBottom: 40,
    marginRight: 14,
    ...drawn,
    style: { fontSize: '12px', fontFamily: 'inherit', background: 'none', overflow: 'visible' },
    color: { domain: data.parts, range: partColors(data, theme) },
    ariaLabel: chartSummary(chart, data),
  }) as SVGSVGElement
  // The page's policy allows no styles inside of it; what they say is in the style sheet.
  for (const style of svg.querySelectorAll('style')) style.remove()
  svg.setAttribute('role', 'img')
  // A picture has one name; the parts of it have none.
  for (const part of svg.querySelectorAll('[aria-label]')) part.removeAttribute('aria-label')
  return svg
}

const short = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 })
const exact = new Intl.NumberFormat('en', { maximumSignificantDigits: 5 })
const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 })

function ticks(chart: Chart): (value: number) => string {
  const isShare = chart.kind !== 'box' && (chart.measure === 'share' || chart.layout === 'filled')
  return (value) =>
    isShare ? percent.format(value) : (Math.abs(value) < 100_000 ? exact : short).format(value)
}

function fillOf(chart: Chart, { theme, isInside }: Look) {
  return {
    className: MARKS,
    fill: chart.by ? 'part' : (mark: Mark) => (mark.group === OTHERS ? othersColor(theme) : dataColor(theme)),
    fillOpacity: (mark: Mark) => (isInside(mark) ? 1 : FAINT),
  }
}

/** Horizontal bars or boxes: one for each value, whose name has room on the left. */
function onValues(chart: Chart, data: ChartData, look: Look): Plot.PlotOptions {
  const { marks, groups, parts } = data
  const isGrouped = chart.by !== '' && chart.layout === 'grouped'
  const lines = isGrouped ? groups.length * Math.max(1, parts.length * 0.4) : groups.length
  const widest = Math.min(MAX_LABEL_CHARACTERS, Math.max(3, ...groups.map((group) => group.length)))
  const label = (group: string) =>
    group.length > MAX_LABEL_CHARACTERS ? `${group.slice(0, MAX_LABEL_CHARACTERS - 1)}…` : group
  const log = logScale(chart, data, chart.kind !== 'box')
  // The numbers at the ends of the bars say what is counted.
  const isTold = chart.by === '' && chart.kind !== 'box'
  const across = {
    label: isTold ? null : look.labels.measured,
    grid: true,
    tickFormat: ticks(chart),
    ticks: Math.max(2, look.width / 110),
    tickSize: 0,
    ...log,
  }
  const start = log ? log.domain[0] : 0
  const base = {
    height: lines * BAR_HEIGHT + (isTold ? 34 : 48),
    marginTop: 6,
    marginBottom: isTold ? 28 : 40,
    marginLeft: Math.min(look.width * 0.42, widest * CHARACTER_PX + 12),
    x: across,
  }
  const names = { domain: groups, label: null, tickFormat: label, tickSize: 0 }
  if (chart.kind === 'box') return { ...base, y: names, marks: boxesAcross(marks, look, start) }
  const fill = fillOf(chart, look)
  if (isGrouped) {
    const bars = Plot.barX(marks, {
      ...fill,
      x1: start,
      x2: lengthOf(start),
      y: 'part',
      fy: 'group',
      insetTop: 0.5,
      insetBottom: 0.5,
    })
    return {
      ...base,
      fy: { ...names, padding: 0.2 },
      y: { domain: parts, axis: null, padding: 0 },
      marks: [bars, ruleAt(start)],
    }
  }
  const offset = chart.layout === 'filled' && chart.by ? ('normalize' as const) : null
  const order = chart.by ? { order: parts, z: 'part' } : {}
  const inset = { y: 'group', insetTop: 2, insetBottom: 2 }
  const bars = log
    ? Plot.barX(marks, { ...fill, ...inset, x1: start, x2: lengthOf(start) })
    : Plot.barX(marks, Plot.stackX({ offset, ...order }, { ...fill, ...inset, x: 'value' }))
  const text = chart.by === '' && [
    Plot.text(marks, {
      x: (mark: Mark) => Math.max(start, mark.value ?? start),
      y: 'group',
      text: (mark: Mark) => (mark.value === null ? '–' : ticks(chart)(mark.value)),
      textAnchor: 'start',
      dx: 5,
    }),
  ]
  return { ...base, marginRight: chart.by ? 14 : 48, y: names, marks: [bars, ruleAt(start), ...(text || [])] }
}

const ruleAt = (start: number) => Plot.ruleX([start], { strokeOpacity: 0.4 })

/** Where the bar of a mark ends; at its start if it has no length there. */
const lengthOf = (start: number) => (mark: Mark) =>
  start === 0 ? mark.value : Math.max(start, mark.value ?? start)

/** The logarithmic axis of what is measured; null for a linear one. */
function logScale(chart: Chart, data: ChartData, hasLengths: boolean) {
  const axis = isLog(chart, data, 'up') ? logAxis(data.marks.flatMap(measuredNumbers), hasLengths) : null
  return axis && { type: 'log' as const, ...axis }
}

/** A value of a box; on a logarithmic axis, which begins at `start`, not below it. */
const boxEnd = (start: number) => (index: number) => (mark: Mark) =>
  start === 0 ? mark.box![index]! : Math.max(start, mark.box![index]!)

function boxesAcross(marks: Mark[], look: Look, start: number): Plot.Markish[] {
  const boxes = marks.filter(({ box }) => box)
  const at = boxEnd(start)
  const color = dataColor(look.theme)
  return [
    Plot.ruleY(boxes, { y: 'group', x1: at(0), x2: at(4), stroke: color }),
    Plot.barX(boxes, {
      className: MARKS,
      y: 'group',
      x1: at(1),
      x2: at(3),
      fill: color,
      fillOpacity: 0.45,
      insetTop: 4,
      insetBottom: 4,
    }),
    Plot.tickX(boxes, {
      y: 'group',
      x: at(2),
      stroke: medianColor(look.theme),
      strokeWidth: 2,
      insetTop: 4,
      insetBottom: 4,
    }),
  ]
}

/** Bars, boxes, a line or points over an axis of numbers or times. */
function onNumbers(chart: Chart, data: ChartData, look: Look): Plot.PlotOptions {
  const isTime = data.axis === 'times'
  const place = (end: 'from' | 'to') => (mark: Mark) => (isTime ? new Date(mark[end]!) : mark[end])
  const middle = (mark: Mark) =>
    isTime ? new Date((mark.from! + mark.to!) / 2) : (mark.from! + mark.to!) / 2
  const isBars = chart.kind === 'bars'
  const log = logScale(chart, data, isBars)
  const across =
    !isTime && isLog(chart, data, 'across')
      ? logAxis(
          data.marks.map(({ from }) => from!),
          false,
        )
      : null
  const base: Plot.PlotOptions = {
    marginLeft: 48,
    marginBottom: isTime ? 32 : 40,
    x: {
      label: isTime ? null : look.labels.column,
      type: isTime ? 'utc' : 'linear',
      ticks: Math.max(2, look.width / 90),
      tickSize: 4,
      ...(isTime ? {} : { tickFormat: axisNumber(data) }),
      ...(across && { type: 'log', ...across, tickFormat: (value: number) => exact.format(value) }),
    },
    y: { label: look.labels.measured, grid: true, ticks: 5, tickSize: 0, tickFormat: ticks(chart), ...log },
  }
  const start = log ? log.domain[0] : 0
  const color = dataColor(look.theme)
  const nice = log ? {} : { nice: true }
  if (chart.kind === 'points') {
    const x: Place = (mark) => (across && mark.from! <= 0 ? null : middle(mark))
    const y: Place = (mark) => (log && mark.value! <= 0 ? null : (mark.value! + mark.valueTo!) / 2)
    return { ...base, y: { ...base.y, ...nice }, ...points(data.marks, look, x, y) }
  }
  if (chart.kind === 'box')
    return {
      ...base,
      y: { ...base.y, ...nice, zero: false },
      marks: boxesUp(data.marks, look, place, middle, start),
    }
  const { parts } = data
  const order = chart.by ? { order: parts, z: 'part' } : {}
  const offset = chart.layout === 'filled' && chart.by ? ('normalize' as const) : null
  const rule = Plot.ruleY([start], { strokeOpacity: 0.4 })
  const isLine = chart.kind === 'line' || (chart.by !== '' && chart.layout === 'grouped')
  if (isLine && (chart.by === '' || chart.layout === 'grouped')) {
    const stroke = chart.by ? { stroke: 'part', z: 'part' } : { stroke: color }
    return {
      ...base,
      y: { ...base.y, ...nice },
      marks: [
        Plot.lineY(data.marks, { x: middle, y: valueOn(log), ...stroke, strokeWidth: 1.75 }),
        Plot.dot(data.marks, {
          className: MARKS,
          x: middle,
          y: valueOn(log),
          r: data.marks.length > 80 ? 2 : 3,
          fill: chart.by ? 'part' : color,
        }),
      ],
    }
  }
  const fill = fillOf(chart, look)
  if (isLine) {
    // Areas between lines, with invisible bars that are clicked.
    const area = Plot.areaY(
      data.marks,
      Plot.stackY({ offset, ...order }, { x: middle, y: 'value', fill: 'part', fillOpacity: 0.85 }),
    )
    const reach = Plot.rectY(
      data.marks,
      Plot.stackY(
        { offset, ...order },
        { ...fill, fillOpacity: 0, x1: place('from'), x2: place('to'), y: 'value' },
      ),
    )
    return { ...base, marks: [area, reach, rule] }
  }
  const at = { ...fill, x1: place('from'), x2: place('to'), insetLeft: 0.5, insetRight: 0.5 }
  const bars = log
    ? Plot.rectY(data.marks, { ...at, y1: start, y2: lengthOf(start) })
    : Plot.rectY(data.marks, Plot.stackY({ offset, ...order }, { ...at, y: 'value' }))
  return { ...base, marks: [bars, rule] }
}

/** A line has a gap where a value has no place on the axis. */
const valueOn = (log: object | null) => (mark: Mark) => (log && (mark.value ?? 0) <= 0 ? null : mark.value)

type Place = (mark: Mark) => Date | number | null

function boxesUp(
  marks: Mark[],
  { theme }: Look,
  place: (end: 'from' | 'to') => Place,
  middle: Place,
  start: number,
): Plot.Markish[] {
  const boxes = marks.filter(({ box }) => box)
  const at = boxEnd(start)
  const color = dataColor(theme)
  return [
    Plot.ruleX(boxes, { x: middle, y1: at(0), y2: at(4), stroke: color }),
    Plot.rectY(boxes, {
      className: MARKS,
      x1: place('from'),
      x2: place('to'),
      y1: at(1),
      y2: at(3),
      fill: color,
      fillOpacity: 0.45,
      inset: 0.5,
    }),
    Plot.ruleY(boxes, {
      x1: place('from'),
      x2: place('to'),
      y: at(2),
      stroke: medianColor(theme),
      strokeWidth: 2,
    }),
  ]
}

/** Years and codes are numbers without separators; large numbers are short. */
function axisNumber({ marks }: ChartData): (value: number) => string {
  const ends = marks.flatMap(({ from, to }) => [from!, to!])
  const [min, max] = [Math.min(...ends), Math.max(...ends)]
  if (min >= 1000 && max < 10_000) return (value) => String(value)
  const digits = max - min > 0 ? Math.max(0, Math.min(12, 2 - Math.floor(Math.log10(max - min)))) : 2
  const exact = new Intl.NumberFormat('en', { maximumFractionDigits: digits })
  return (value) => (Math.abs(value) >= 10_000 ? short.format(value) : exact.format(value))
}

function points(marks: Mark[], { theme, isInside }: Look, x: Place, y: Place): Plot.PlotOptions {
  const isCells = marks.some(({ value, valueTo }) => value !== valueTo)
  return {
    r: { range: isCells ? [0, 7] : [0, 6], domain: [0, Math.max(4, ...marks.map(({ rows }) => rows))] },
    marks: [
      Plot.dot(marks, {
        className: MARKS,
        x,
        y,
        r: isCells ? 'rows' : 3,
        fill: dataColor(theme),
        fillOpacity: (mark: Mark) => (isInside(mark) ? (isCells ? 0.75 : 0.5) : FAINT / 2),
      }),
    ],
  }
}
