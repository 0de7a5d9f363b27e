import * as Plot from '@observablehq/plot'
import type { Theme } from '../../theme.ts'
import type { Chart } from './chart.ts'
import { dataColor, othersColor, partColors } from './chart-colors.ts'
import { type ChartData, type Mark, OTHERS } from './chart-data.ts'
import { chartSummary } from './chart-words.ts'

/** The class of the marks that have a group of rows behind them. */
export const MARKS = 'chart-marks'

const HEIGHT = 240
const BAR_HEIGHT = 24
const MAX_LABEL_CHARACTERS = 22
const CHARACTER_PX = 6.9
const FAINT = 0.28

export interface Look {
  theme: Theme
  width: number
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
    marginTop: 12,
    marginBottom: 26,
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
  const across = { label: null, grid: true, tickFormat: ticks(chart), ticks: Math.max(2, look.width / 110) }
  const base = {
    height: lines * BAR_HEIGHT + 40,
    marginLeft: Math.min(look.width * 0.42, widest * CHARACTER_PX + 12),
    x: across,
  }
  const names = { domain: groups, label: null, tickFormat: label, tickSize: 0 }
  if (chart.kind === 'box') return { ...base, y: names, marks: boxesAcross(marks, look) }
  const fill = fillOf(chart, look)
  if (isGrouped) {
    const bars = Plot.barX(marks, {
      ...fill,
      x: 'value',
      y: 'part',
      fy: 'group',
      insetTop: 0.5,
      insetBottom: 0.5,
    })
    return {
      ...base,
      fy: { ...names, padding: 0.2 },
      y: { domain: parts, axis: null, padding: 0 },
      marks: [bars, zero()],
    }
  }
  const offset = chart.layout === 'filled' && chart.by ? ('normalize' as const) : null
  const order = chart.by ? { order: parts, z: 'part' } : {}
  const bars = Plot.barX(
    marks,
    Plot.stackX({ offset, ...order }, { ...fill, x: 'value', y: 'group', insetTop: 2, insetBottom: 2 }),
  )
  const text = chart.by === '' && [
    Plot.text(marks, {
      x: (mark: Mark) => Math.max(0, mark.value ?? 0),
      y: 'group',
      text: (mark: Mark) => (mark.value === null ? '–' : ticks(chart)(mark.value)),
      textAnchor: 'start',
      dx: 5,
      fillOpacity: 0.75,
    }),
  ]
  return { ...base, marginRight: chart.by ? 14 : 48, y: names, marks: [bars, zero(), ...(text || [])] }
}

const zero = () => Plot.ruleX([0], { strokeOpacity: 0.4 })

function boxesAcross(marks: Mark[], look: Look): Plot.Markish[] {
  const boxes = marks.filter(({ box }) => box)
  const at = (index: number) => (mark: Mark) => mark.box![index]
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
      stroke: 'currentColor',
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
  const base: Plot.PlotOptions = {
    marginLeft: 48,
    x: {
      label: null,
      type: isTime ? 'utc' : 'linear',
      ticks: Math.max(2, look.width / 90),
      ...(isTime ? {} : { tickFormat: axisNumber(data) }),
    },
    y: { label: null, grid: true, ticks: 5, tickFormat: ticks(chart) },
  }
  const color = dataColor(look.theme)
  if (chart.kind === 'points')
    return { ...base, y: { ...base.y, nice: true }, ...points(data.marks, look, middle) }
  if (chart.kind === 'box')
    return {
      ...base,
      y: { ...base.y, nice: true, zero: false },
      marks: boxesUp(data.marks, look, place, middle),
    }
  const { parts } = data
  const order = chart.by ? { order: parts, z: 'part' } : {}
  const offset = chart.layout === 'filled' && chart.by ? ('normalize' as const) : null
  const rule = Plot.ruleY([0], { strokeOpacity: 0.4 })
  const isLine = chart.kind === 'line' || (chart.by !== '' && chart.layout === 'grouped')
  if (isLine && (chart.by === '' || chart.layout === 'grouped')) {
    const stroke = chart.by ? { stroke: 'part', z: 'part' } : { stroke: color }
    return {
      ...base,
      y: { ...base.y, nice: true },
      marks: [
        Plot.lineY(data.marks, { x: middle, y: 'value', ...stroke, strokeWidth: 1.75 }),
        Plot.dot(data.marks, {
          className: MARKS,
          x: middle,
          y: 'value',
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
  const bars = Plot.rectY(
    data.marks,
    Plot.stackY(
      { offset, ...order },
      { ...fill, x1: place('from'), x2: place('to'), y: 'value', insetLeft: 0.5, insetRight: 0.5 },
    ),
  )
  return { ...base, marks: [bars, rule] }
}

type Place = (mark: Mark) => Date | number | null

function boxesUp(
  marks: Mark[],
  { theme }: Look,
  place: (end: 'from' | 'to') => Place,
  middle: Place,
): Plot.Markish[] {
  const boxes = marks.filter(({ box }) => box)
  const at = (index: number) => (mark: Mark) => mark.box![index]
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
      stroke: 'currentColor',
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

function points(marks: Mark[], { theme, isInside }: Look, middle: Place): Plot.PlotOptions {
  const isCells = marks.some(({ value, valueTo }) => value !== valueTo)
  return {
    r: { range: isCells ? [0, 7] : [0, 6], domain: [0, Math.max(4, ...marks.map(({ rows }) => rows))] },
    marks: [
      Plot.dot(marks, {
        className: MARKS,
        x: middle,
        y: (mark: Mark) => (mark.value! + mark.valueTo!) / 2,
        r: isCells ? 'rows' : 3,
        fill: dataColor(theme),
        fillOpacity: (mark: Mark) => (isInside(mark) ? (isCells ? 0.75 : 0.5) : FAINT / 2),
      }),
    ],
  }
}
