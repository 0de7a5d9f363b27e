import type { DatasetDetails } from '@wayleave/contract/records'
import { plural } from '../../words.ts'
import type { Clause } from '../filter/clause.ts'
import { nameText, type Value } from '../filter/cql2-text.ts'
import { type Ask, allOf, reference } from './aggregate.ts'
import { type Chart, columnOf, isTime, PERIODS, type Period } from './chart.ts'
import { type ChartData, intervalWords, type Mark, numberWords } from './chart-data.ts'
import { numberRange, rounded } from './chart-groups.ts'
import { fittingPeriod, nextPeriod, periodStart, periodWords, timeValue } from './period.ts'

/** Up to this many rows, each pair of values is a point of its own. */
const MAX_POINTS = 2500
const MAX_CELLS = 10_000
const [ACROSS, DOWN] = [48, 24]

/**
 * Two columns as points. Many rows are drawn as cells, whose points have the area of their rows, so that the chart
 * shows all rows and not a sample of them.
 */
export async function loadPoints(
  chart: Chart,
  dataset: DatasetDetails,
  filter: string,
  ask: Ask,
): Promise<ChartData> {
  const { column, of } = chart
  const type = columnOf(column, dataset)!.type
  const both = allOf(filter, `${nameText(column)} IS NOT NULL AND ${nameText(of)} IS NOT NULL`)
  const [[all], [paired]] = (await Promise.all(
    [filter, both].map(async (filter) => (await ask({ measures: ['count'], filter })).rows[0]!.map(Number)),
  )) as [[number], [number]]
  const axis = isTime(type) ? 'times' : 'numbers'
  const missing = all - paired
  const notes = missing > 0 ? [`${plural(missing, 'row')} without both values`] : []
  const base: Pick<ChartData, 'axis' | 'parts' | 'colors' | 'groups' | 'rows'> = {
    axis,
    parts: [],
    colors: [],
    groups: [],
    rows: all,
  }
  if (paired === 0) return { ...base, step: '', marks: [], notes }
  if (paired <= MAX_POINTS) {
    const groupby = [reference(column), reference(of)]
    const { rows } = await ask({ groupby, measures: ['count'], filter: both, limit: MAX_POINTS })
    const marks = rows.map(([x, y, count]) => pointOf(chart, type, x!, Number(y), Number(count)))
    return { ...base, step: 'values', marks, notes }
  }
  const cells = await loadCells(chart, type, both, ask)
  return { ...base, step: cells.step, marks: cells.marks, notes: [...notes, ...cells.notes] }
}

function pointOf({ column, of }: Chart, type: string, x: Value, y: number, rows: number): Mark {
  const from = isTime(type) ? Date.parse(String(x)) : Number(x)
  const words = isTime(type) ? String(x).replace('T', ' ') : numberWords(from)
  const same = (name: string, value: Value): Clause => ({
    kind: 'values',
    column: name,
    values: [value],
    withNull: false,
  })
  return {
    group: words,
    part: null,
    from,
    to: from,
    value: y,
    valueTo: y,
    rows,
    clauses: [same(column, x), same(of, y)],
  }
}

async function loadCells({ column, of, step }: Chart, type: string, filter: string, ask: Ask) {
  const [across, down] = await Promise.all([
    isTime(type) ? periodOf(column, type, filter, step, ask) : numberRange(column, filter, step, ask, ACROSS),
    numberRange(of, filter, '', ask, DOWN),
  ])
  const first =
    'period' in across
      ? `${across.period}(${reference(column)})`
      : `interval(${reference(column)},${across.width})`
  // What is beyond the axes would press all other points into a corner.
  const within = allOf(
    filter,
    'period' in across ? '' : `${nameText(column)} >= ${across.low} AND ${nameText(column)} < ${across.high}`,
    `${nameText(of)} >= ${down.low} AND ${nameText(of)} < ${down.high}`,
  )
  const [{ rows, numberGroups }, shown] = await Promise.all([
    ask({
      groupby: [first, `interval(${reference(of)},${down.width})`],
      measures: ['count'],
      filter: within,
      sortby: '-count',
      limit: MAX_CELLS,
    }),
    ask({ measures: ['count'], filter: within }),
  ])
  const whole = Number((await ask({ measures: ['count'], filter })).rows[0]![0])
  const beyond = whole - Number(shown.rows[0]![0])
  const marks = rows.map(([x, y, count]): Mark => {
    const from = 'period' in across ? periodStart(x!) : Number(x)
    const to =
      'period' in across ? nextPeriod(from, across.period) : rounded(from + across.width, across.width)
    const value = Number(y)
    const valueTo = rounded(value + down.width, down.width)
    const ends = 'period' in across ? [timeValue(from, type), timeValue(to, type)] : [from, to]
    return {
      group: 'period' in across ? periodWords(from, across.period) : intervalWords(from, to),
      part: null,
      from,
      to,
      value,
      valueTo,
      rows: Number(count),
      clauses: [
        { kind: 'range', column, from: ends[0]!, to: ends[1]!, isBelow: true },
        { kind: 'range', column: of, from: value, to: valueTo, isBelow: true },
      ],
    }
  })
  const notes = ['A point stands for the rows of a cell: its area is their number.']
  if (beyond > 0) notes.push(`${plural(beyond, 'row')} beyond the axes`)
  if (numberGroups > rows.length) notes.push('Only the fullest cells are shown.')
  return { step: 'period' in across ? across.period : String(across.width), marks, notes }
}

async function periodOf(
  column: string,
  type: string,
  filter: string,
  step: string,
  ask: Ask,
): Promise<{ period: Period }> {
  const chosen = PERIODS.find((period) => period === step && period !== 'weekday')
  if (chosen) return { period: chosen }
  const name = reference(column)
  const { rows } = await ask({ measures: [`min(${name})`, `max(${name})`], filter })
  const [first, last] = rows[0]!.map((value) => Date.parse(String(value)))
  return { period: fittingPeriod(first!, last!, type) }
}
