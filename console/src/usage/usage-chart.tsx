import 'uplot/dist/uPlot.min.css'
import { CATEGORIES, PALETTES } from '@wayleave/contract/map-style'
import { useEffect, useRef } from 'react'
import UPlot from 'uplot'
import { type Theme, useTheme } from '../theme.ts'
import { count, day } from '../words.ts'
import { type Layer, layersOf, type UsagePart } from './usage-parts.ts'
import { sumOf, type UsageDay, type UsageMeasure } from './usage-period.ts'

const HEIGHT = 230
const REST = 'Others'

const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 2 })

interface Shown {
  days: readonly UsageDay[]
  /** As many days before, drawn as a line; undefined while they are loaded. */
  before: readonly UsageDay[] | undefined
  /** The same by key; the bars are split by them. */
  parts: readonly UsagePart[] | undefined
  measure: UsageMeasure
  label: string
}

/** A bar for each day, and the period before as a line. The texts around the chart say the same. */
export function UsageChart({ days, before, parts, measure, label }: Shown) {
  const place = useRef<HTMLDivElement>(null)
  const theme = useTheme()
  useEffect(() => {
    const element = place.current!
    const shown = { days, before, parts, measure, label }
    const layers = parts ? layersOf(days, parts, measure, REST) : []
    const chart = new UPlot(options(element, shown, layers, theme), seriesOf(shown, layers), element)
    const watch = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }))
    watch.observe(element)
    return () => {
      watch.disconnect()
      chart.destroy()
    }
  }, [days, before, parts, measure, label, theme])
  return <div ref={place} className="chart" role="img" aria-label={`${label} by day`} />
}

/** Whether there is a line to draw: one of zeros along the axis, or over bars that are split, would look like a mistake. */
function hasBefore({ before = [], parts, measure }: Shown): boolean {
  return parts === undefined && sumOf(before, measure) > 0
}

function seriesOf(shown: Shown, layers: readonly Layer[]): UPlot.AlignedData {
  const { days, before = [], measure } = shown
  return [
    days.map(({ date }) => Date.parse(date) / 1000),
    // A day without any has no bar: one of no height would be a dash on the axis.
    days.map((one) => one[measure] || null),
    // Each bar covers the lower part of the one before it.
    ...layers.toReversed().map(({ own, top }) => top.map((height, i) => (own[i] === 0 ? null : height))),
    ...(hasBefore(shown) ? [days.map((_, i) => before[i]?.[measure] ?? null)] : []),
  ]
}

function options(element: HTMLElement, shown: Shown, layers: readonly Layer[], theme: Theme): UPlot.Options {
  const { days, label } = shown
  const style = getComputedStyle(element)
  const color = (name: string, share = 1) =>
    resolved(element, `color-mix(in srgb, var(${name}) ${share * 100}%, transparent)`)
  const soft = color('--soft')
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize)
  const font = `${0.75 * rem}px ${style.fontFamily}`
  const axis = { stroke: soft, font, grid: { stroke: color('--line'), width: 1 }, ticks: { show: false } }
  const whole = (_chart: UPlot, values: number[]) =>
    values.map((value) => (Number.isInteger(value) ? short.format(value) : ''))
  const numberText = (_chart: UPlot, value: number | null) => (value === null ? '–' : count(value))
  const earlier: UPlot.Series = {
    label: days.length === 1 ? 'The day before' : `${days.length} days earlier`,
    value: numberText,
    stroke: color('--soft'),
    width: 1.5,
    dash: [3, 4],
    points: { show: days.length === 1 },
  }
  return {
    width: element.clientWidth,
    height: HEIGHT,
    tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    cursor: { y: false, drag: { x: false, y: false } },
    legend: { live: true },
    // The legend has the last day until another one is pointed at.
    hooks: { ready: [showLastDay], setCursor: [showLastDay] },
    // Half a day of padding on both sides, so that the first and the last bar are not cut off.
    scales: {
      x: { range: (_chart, low, high) => [low - 43_200, high + 43_200] },
      y: { range: fromZero },
    },
    axes: [
      { ...axis, grid: { show: false }, values: dayNames },
      { ...axis, size: 3 * rem, values: whole },
    ],
    series: [
      {
        label: 'Day',
        value: (_chart, seconds) => (seconds ? day(new Date(seconds * 1000).toISOString()) : '–'),
      },
      {
        label,
        value: (_chart, value, _series, index) => (index === null ? '–' : count(value ?? 0)),
        // Paler than the line that is drawn over them. Bars that are split cover it.
        ...(layers.length === 0 && { stroke: color('--accent'), fill: color('--accent', 0.55) }),
        paths: UPlot.paths.bars!({ size: [0.7, 28] }),
        points: { show: false },
      },
      ...layers.toReversed().map(
        ({ name, own }, i): UPlot.Series => ({
          label: name,
          value: (_chart, _value, _series, index) => (index === null ? '–' : count(own[index] ?? 0)),
          fill: name === REST ? PALETTES[theme].none : CATEGORIES[theme][layers.length - 1 - i]!,
          paths: UPlot.paths.bars!({ size: [0.7, 28] }),
          points: { show: false },
        }),
      ),
      ...(hasBefore(shown) ? [earlier] : []),
    ],
  }
}

function showLastDay(chart: UPlot): void {
  if (typeof chart.cursor.idx !== 'number') chart.setLegend({ idx: chart.data[0].length - 1 })
}

function fromZero(_chart: UPlot, _low: number, high: number): [number, number] {
  return [0, Math.max(4, high * 1.1)]
}

function dayNames(_chart: UPlot, seconds: number[]): string[] {
  return seconds.map((at) =>
    new Date(at * 1000).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' }),
  )
}

/** A canvas does not support light-dark(), so let the browser compute the color here. */
function resolved(element: HTMLElement, value: string): string {
  const probe = document.createElement('span')
  probe.style.color = value
  element.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}
