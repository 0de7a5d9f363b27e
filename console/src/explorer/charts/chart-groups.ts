import { count, plural } from '../../words.ts'
import { type Clause, clauseText } from '../filter/clause.ts'
import { nameText, type Value } from '../filter/cql2-text.ts'
import { type Ask, allOf, reference } from './aggregate.ts'
import { type Chart, isAdditive, PERIODS } from './chart.ts'
import { intervalWords, numberWords, OTHERS, valueWords } from './chart-data.ts'
import { fittingPeriod, nextPeriod, periodStart, periodWords, timeValue, WEEKDAYS } from './period.ts'

/** One group of rows with the measures of it, the count first. */
export interface Group {
  /** The group's value as the service returns it, as text; empty for the rest. */
  key: string
  words: string
  from: number | null
  to: number | null
  measured: (Value | null)[]
  clauses: Clause[] | null
  /** The condition of a group that collects the rest: the others, or what is beyond the axis. */
  restCondition: string | null
}

export interface Groups {
  groups: Group[]
  /** The part of the request that makes these groups, and the condition without which it makes more. */
  groupby: string
  condition: string
  step: string
  /** Whether every row with a value is in a group. */
  isComplete: boolean
  notes: string[]
}

export interface Context {
  chart: Chart
  type: string
  filter: string
  measures: string[]
  ask: Ask
}

/** More groups than this on an axis cannot be read. */
const MAX_GROUPS = 1000
const USUAL_INTERVALS = 30

/** The groups of the values of a column: the first by the chosen order, and the others as one. */
export async function valueGroups({ chart, type, filter, measures, ask }: Context): Promise<Groups> {
  const { column, step, order, top } = chart
  const isWeekday = step === 'weekday'
  const groupby = isWeekday ? `weekday(${reference(column)})` : reference(column)
  const condition = `${nameText(column)} IS NOT NULL`
  // Boxes are in the order of their medians.
  const sort = (chart.kind === 'box' ? measures[3] : measures[1]) ?? 'count'
  const sortby = isWeekday || order === 'value' ? groupby : order === 'least' ? sort : `-${sort}`
  const limit = isWeekday ? WEEKDAYS.length : top
  const result = await ask({
    groupby: [groupby],
    measures,
    filter: allOf(filter, condition),
    sortby: JSON.stringify([sortby]),
    limit,
  })
  const groups = result.rows.map(([value, ...measured]): Group => {
    const words = isWeekday ? WEEKDAYS[Number(value) - 1]! : valueWords(value!)
    return {
      key: String(value),
      words: words === OTHERS ? `“${OTHERS}”` : words,
      from: null,
      to: null,
      measured,
      clauses: isWeekday ? null : [{ kind: 'values', column, values: [value!], withNull: false }],
      restCondition: null,
    }
  })
  const hidden = result.numberGroups - groups.length
  if (hidden <= 0) return { groups, groupby, condition, step, isComplete: true, notes: [] }
  const values = result.rows.map(([value]) => value!)
  const isShown = clauseText({ kind: 'values', column, values, withNull: false }, new Map([[column, type]]))
  const restCondition = `${condition} AND NOT (${isShown})`
  const rest = await ask({ measures, filter: allOf(filter, restCondition) })
  groups.push({
    key: '',
    words: OTHERS,
    from: null,
    to: null,
    measured: rest.rows[0]!,
    clauses: null,
    restCondition,
  })
  const notes = [`${OTHERS}: ${plural(hidden, 'other value')}`]
  return { groups, groupby, condition: allOf(condition, isShown), step, isComplete: true, notes }
}

/** The groups of a time by periods. Periods without rows are groups too, unless they would have no measure. */
export async function periodGroups({ chart, type, filter, measures, ask }: Context): Promise<Groups> {
  const { column } = chart
  const name = reference(column)
  const range = await ask({ measures: [`min(${name})`, `max(${name})`], filter })
  const [first, last] = range.rows[0]!.map((value) =>
    value === null ? Number.NaN : Date.parse(String(value)),
  )
  const period = PERIODS.find((each) => each === chart.step) ?? fittingPeriod(first!, last!, type)
  const groupby = `${period}(${name})`
  const condition = `${nameText(column)} IS NOT NULL`
  const { rows, numberGroups } = await ask({
    groupby: [groupby],
    measures,
    filter: allOf(filter, condition),
    limit: MAX_GROUPS,
  })
  const groups: Group[] = []
  const add = (start: number, key: string, measured: (Value | null)[]) => {
    const to = nextPeriod(start, period)
    const [low, high] = [timeValue(start, type), timeValue(to, type)]
    groups.push({
      key,
      words: periodWords(start, period),
      from: start,
      to,
      measured,
      clauses: [{ kind: 'range', column, from: low, to: high, isBelow: true }],
      restCondition: null,
    })
  }
  for (const [value, ...measured] of rows) {
    const start = periodStart(value!)
    const empty = measures.map(() => 0)
    while (
      isAdditive(chart.measure) &&
      chart.kind !== 'box' &&
      groups.length > 0 &&
      groups.at(-1)!.to! < start
    ) {
      if (groups.length >= 2 * MAX_GROUPS) break
      add(groups.at(-1)!.to!, '', empty)
    }
    add(start, String(value), measured)
  }
  const isCut = numberGroups > rows.length
  return {
    groups,
    groupby,
    condition,
    step: period,
    isComplete: !isCut,
    notes: isCut ? [`The first ${count(rows.length)} of ${count(numberGroups)} periods are shown.`] : [],
  }
}

/** The ends of an axis of numbers: extreme values are collected beyond them, so that the others can be read. */
export async function numberRange(
  column: string,
  filter: string,
  step: string,
  ask: Ask,
  intervals = USUAL_INTERVALS,
) {
  const name = reference(column)
  const percentile = (percent: number) => `percentile(${name},${percent})`
  const measures = [`min(${name})`, `max(${name})`, percentile(1), percentile(99)]
  const [min, max, low, high] = (await ask({ measures, filter })).rows[0]!.map((value) =>
    value === null ? Number.NaN : Number(value),
  ) as [number, number, number, number]
  // A few extreme values may make the range many times as wide.
  const isSkewed = max - min > 3 * (high - low) && high > low
  const [start, end] = isSkewed
    ? [min < low - (high - low) ? low : min, max > high + (high - low) ? high : max]
    : [min, max]
  const width = Number(step) > 0 ? Number(step) : niceWidth((end - start) / intervals)
  const floor = (value: number) => Math.floor(value / width + 1e-9)
  const last = Math.min(floor(end), floor(start) + MAX_GROUPS - 1)
  return { width, low: floor(start) * width, high: rounded((last + 1) * width, width), min, max }
}

/** The groups of numbers by intervals of equal width, and one at each end for what is beyond. */
export async function intervalGroups({ chart, type, filter, measures, ask }: Context): Promise<Groups> {
  const { column } = chart
  const range = await numberRange(
    column,
    filter,
    type === 'integer' && chart.step === '' ? '' : chart.step,
    ask,
  )
  const width = type === 'integer' && chart.step === '' ? Math.max(1, range.width) : range.width
  const groupby = `interval(${reference(column)},${width})`
  if (Number.isNaN(range.min))
    return { groups: [], groupby, condition: '', step: String(width), isComplete: true, notes: [] }
  const low = rounded(Math.floor(range.low / width + 1e-9) * width, width)
  const high = rounded(Math.ceil(range.high / width - 1e-9) * width, width)
  const types = new Map([[column, type]])
  const clause = (from: number | null, to: number | null): Clause => ({
    kind: 'range',
    column,
    from,
    to,
    isBelow: true,
  })
  const condition = clauseText(clause(low, high), types)
  const ends = [
    ...(range.min < low
      ? [{ clause: clause(null, low), words: `Below ${numberWords(low)}`, from: rounded(low - width, width) }]
      : []),
    ...(range.max >= high
      ? [{ clause: clause(high, null), words: `${numberWords(high)} or more`, from: high }]
      : []),
  ]
  const [inside, ...beyond] = await Promise.all([
    ask({ groupby: [groupby], measures, filter: allOf(filter, condition), limit: MAX_GROUPS }),
    ...ends.map((end) => ask({ measures, filter: allOf(filter, clauseText(end.clause, types)) })),
  ])
  const groups = inside.rows.map(([value, ...measured]): Group => {
    const from = Number(value)
    const to = rounded(from + width, width)
    const words = type === 'integer' && width === 1 ? numberWords(from) : intervalWords(from, to)
    return { key: String(value), words, from, to, measured, clauses: [clause(from, to)], restCondition: null }
  })
  const rests = ends.map((end, index): Group => {
    const to = rounded(end.from + width, width)
    const restCondition = clauseText(end.clause, types)
    const measured = beyond[index]!.rows[0]!
    return { key: '', words: end.words, from: end.from, to, measured, clauses: [end.clause], restCondition }
  })
  const all = [...rests, ...groups].sort((a, b) => a.from! - b.from!)
  const notes =
    rests.length > 0
      ? [
          `The values reach from ${numberWords(range.min)} to ${numberWords(range.max)}; the bar at the ${rests.length > 1 ? 'ends collect' : rests[0]!.from === high ? 'right end collects' : 'left end collects'} what is beyond the axis.`,
        ]
      : []
  return { groups: all, groupby, condition, step: String(width), isComplete: true, notes }
}

/** The smallest of 1, 2, 2.5 and 5 times a power of ten that is at least `width`. */
export function niceWidth(width: number): number {
  if (!(width > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(width))
  const factor = [1, 2, 2.5, 5, 10].find((one) => one * power >= width * (1 - 1e-9))!
  return Number((factor * power).toPrecision(3))
}

/** Without the noise of binary fractions: 0.30000000000000004 is the end of no interval. */
export function rounded(value: number, width: number): number {
  return Number(value.toFixed(Math.max(0, Math.min(20, 3 - Math.floor(Math.log10(width))))))
}
