import type { Chart } from './chart.ts'
import type { ChartData, Mark } from './chart-data.ts'

/** The ends of an axis, and where it has numbers. */
interface LogAxis {
  domain: [number, number]
  ticks: number[]
}

/** Whether an axis of a chart is logarithmic. Cells of many rows have equal widths, which such an axis would distort. */
export function isLog(chart: Chart, data: ChartData, axis: 'across' | 'up'): boolean {
  const { scale, kind } = chart
  if (kind === 'points' && data.step !== 'values') return false
  return axis === 'up' ? scale === 'log' || scale === 'log-both' : scale !== 'linear' && scale !== 'log'
}

/**
 * A logarithmic axis for values; null if none is above zero. With `hasLengths` it begins at half of the smallest value,
 * so that the bar of that one can be seen.
 */
export function logAxis(values: Iterable<number>, hasLengths: boolean): LogAxis | null {
  let [low, high] = [Infinity, 0]
  for (const value of values) {
    if (value > 0 && value < low) low = value
    if (value > high) high = value
  }
  if (high <= 0) return null
  const domain: [number, number] = [
    hasLengths || low === high ? low / 2 : low,
    low === high ? high * 2 : high,
  ]
  const decades = Math.log10(domain[1] / domain[0])
  const steps = decades > 5 ? [1] : decades > 1.5 ? [1, 3] : [1, 2, 3, 5, 7]
  const first = Math.floor(Math.log10(domain[0]))
  const powers = Array.from({ length: Math.ceil(decades) + 2 }, (_, index) => first + index)
  const ticks = powers
    .flatMap((power) => steps.map((step) => Number((step * 10 ** power).toPrecision(3))))
    .filter((tick) => tick >= domain[0] && tick <= domain[1])
  return { domain, ticks }
}

/** The numbers of a mark on the axis of what is measured. */
export function measuredNumbers({ box, value }: Mark): number[] {
  return box ? [...box] : value === null ? [] : [value]
}

/** How many marks have no place on a logarithmic axis, because they are not above zero. */
export function numberWithoutPlace(chart: Chart, data: ChartData): number {
  const isUp = isLog(chart, data, 'up')
  const isAcross = isLog(chart, data, 'across')
  if (!isUp && !isAcross) return 0
  // No rows are no bar on any axis.
  const isBelow = (mark: Mark) =>
    mark.rows > 0 &&
    ((isUp && measuredNumbers(mark).some((value) => value <= 0)) || (isAcross && mark.from! <= 0))
  return data.marks.filter(isBelow).length
}
