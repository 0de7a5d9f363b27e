import type { DatasetDetails } from '@wayleave/contract/records'
import { plural } from '../../words.ts'
import { clauseText } from '../filter/clause.ts'
import { nameText, type Value } from '../filter/cql2-text.ts'
import { type AggregateQuery, type Ask, allOf, reference } from './aggregate.ts'
import { axisOf, type Chart, columnOf, isAdditive, isCounted } from './chart.ts'
import { type BoxValues, type ChartData, type Mark, OTHERS, valueWords } from './chart-data.ts'
import { type Group, type Groups, intervalGroups, periodGroups, valueGroups } from './chart-groups.ts'
import { loadPoints } from './load-points.ts'

const MAX_PARTS = 7

/** Loads what a chart shows of all rows that match a filter. */
export async function loadChart(
  chart: Chart,
  dataset: DatasetDetails,
  filter: string,
  ask: Ask,
): Promise<ChartData> {
  if (chart.kind === 'points') return loadPoints(chart, dataset, filter, ask)
  const type = columnOf(chart.column, dataset)!.type
  const measures = measuresOf(chart)
  const context = { chart, type, filter, measures, ask }
  const axis = axisOf(chart, dataset)
  const [groups, total] = await Promise.all([
    axis === 'numbers'
      ? intervalGroups(context)
      : axis === 'times'
        ? periodGroups(context)
        : valueGroups(context),
    ask({ measures: ['count'], filter }),
  ])
  const rows = Number(total.rows[0]![0])
  const { marks, parts, colors, notes } = chart.by
    ? await splitMarks(chart, dataset, filter, groups, rows, ask)
    : {
        marks: groups.groups.map((group) => markOf(chart, group, group.measured, rows)),
        parts: [],
        colors: [],
        notes: [],
      }
  const withValue = groups.groups.reduce((sum, group) => sum + Number(group.measured[0]), 0)
  const missing = groups.isComplete ? rows - withValue : 0
  return {
    axis,
    step: groups.step,
    marks,
    parts,
    colors,
    groups: groups.groups.map(({ words }) => words),
    rows,
    notes: [
      ...groups.notes,
      ...notes,
      ...(missing > 0 ? [`${plural(missing, 'row')} without a value`] : []),
      ...(chart.kind === 'box'
        ? [
            'The box holds the middle half of the values, the line in it is the median, the whiskers reach from the 5th to the 95th percentile.',
          ]
        : []),
    ],
  }
}

/** The count, then what the chart shows. */
function measuresOf({ kind, measure, of }: Chart): string[] {
  const column = reference(of)
  if (kind === 'box')
    return ['count', ...[5, 25, 50, 75, 95].map((percent) => `percentile(${column},${percent})`)]
  return isCounted(measure) ? ['count'] : ['count', `${measure}(${column})`]
}

function markOf(chart: Chart, group: Group, measured: (Value | null)[], rows: number): Mark {
  const numbers = measured.map((value) => (value === null ? null : Number(value)))
  const count = numbers[0] ?? 0
  const mark = {
    group: group.words,
    part: null,
    from: group.from,
    to: group.to,
    rows: count,
    clauses: group.clauses,
  }
  if (chart.kind === 'box') {
    const box = numbers.slice(1, 6)
    const isWhole = box.every((value) => value !== null)
    return { ...mark, value: numbers[3] ?? null, ...(isWhole ? { box: box as BoxValues } : {}) }
  }
  if (chart.measure === 'share') return { ...mark, value: rows === 0 ? null : count / rows }
  return { ...mark, value: chart.measure === 'count' ? count : (numbers[1] ?? null) }
}

/** Divides each group by the most frequent values of a second column; what is left is a part of its own. */
async function splitMarks(
  chart: Chart,
  dataset: DatasetDetails,
  filter: string,
  { groups, groupby, condition }: Groups,
  rows: number,
  ask: Ask,
) {
  const by = reference(chart.by)
  const types = new Map(dataset.columns.map(({ name, type }) => [name, type as string]))
  const frequent = await ask({
    groupby: [by],
    measures: ['count'],
    filter: allOf(filter, `${nameText(chart.column)} IS NOT NULL`),
    sortby: '-count',
    limit: MAX_PARTS,
  })
  const values = frequent.rows.map(([value]) => value ?? null)
  const known = values.filter((value) => value !== null)
  const isShown = clauseText(
    { kind: 'values', column: chart.by, values: known, withNull: values.includes(null) },
    types,
  )
  const measures = measuresOf(chart)
  const cells = new Map<string, (Value | null)[]>()
  const key = (group: Group, value: Value | null) => JSON.stringify([group.key, value])
  const add = (group: Group, value: Value | null, measured: (Value | null)[]) =>
    cells.set(key(group, value), measured)
  const byKey = new Map(groups.map((group) => [group.key, group]))
  const query: AggregateQuery = {
    groupby: [groupby, by],
    measures,
    filter: allOf(filter, condition, isShown),
    limit: 10_000,
  }
  const rest = groups.filter(({ restCondition }) => restCondition !== null)
  const [table, ...rests] = await Promise.all([
    ask(query),
    ...rest.map((group) =>
      ask({
        groupby: [by],
        measures,
        filter: allOf(filter, group.restCondition!, isShown),
        limit: MAX_PARTS,
      }),
    ),
  ])
  for (const [group, value, ...measured] of table.rows) {
    const whole = byKey.get(String(group))
    if (whole) add(whole, value ?? null, measured)
  }
  for (const [index, group] of rest.entries())
    for (const [value, ...measured] of rests[index]!.rows) add(group, value ?? null, measured)

  const isAll = frequent.numberGroups <= values.length
  const parts = values.map((value) => ({ value, words: partWords(value) }))
  const marks: Mark[] = []
  let hasOthers = false
  for (const group of groups) {
    const shown = parts.flatMap(({ value, words }) => {
      // A line goes down to zero where a part has no rows.
      const isZero = chart.kind === 'line' && isAdditive(chart.measure)
      const measured = cells.get(key(group, value)) ?? (isZero ? measures.map(() => 0) : null)
      if (!measured) return []
      const clauses = group.clauses && [...group.clauses, partClause(chart.by, value)]
      return [{ ...markOf(chart, { ...group, clauses }, measured, rows), part: words }]
    })
    marks.push(...shown)
    const others = isAdditive(chart.measure) && !isAll ? [othersOf(chart, group, shown, rows)] : []
    marks.push(...others)
    hasOthers ||= others.some(({ rows }) => rows > 0)
  }
  return {
    marks,
    parts: [...parts.map(({ words }) => words), ...(hasOthers ? [OTHERS] : [])],
    colors: colorsOf(values, dataset.statistics?.[chart.by]?.frequent ?? []),
    notes: isAll || hasOthers ? [] : [`The ${values.length} most frequent values of ${chart.by} are shown.`],
  }
}

/** The values that are frequent among all rows have the first colors, in their order; the others have the next. */
function colorsOf(values: (Value | null)[], frequent: { value: Value }[]): number[] {
  const places = values.map((value) => frequent.findIndex((one) => one.value === value))
  const taken = new Set(places.filter((place) => place >= 0 && place <= MAX_PARTS))
  let next = 0
  return places.map((place) => {
    if (taken.has(place)) return place
    while (taken.has(next)) next++
    return next++
  })
}

/** What the shown parts leave of a group. */
function othersOf(chart: Chart, group: Group, shown: Mark[], rows: number): Mark {
  const whole = markOf(chart, group, group.measured, rows)
  const left = whole.rows - shown.reduce((sum, mark) => sum + mark.rows, 0)
  const value = (whole.value ?? 0) - shown.reduce((sum, mark) => sum + (mark.value ?? 0), 0)
  return { ...whole, part: OTHERS, rows: left, value, clauses: null }
}

const partWords = (value: Value | null) => (value === OTHERS ? `“${OTHERS}”` : valueWords(value))

function partClause(column: string, value: Value | null) {
  return { kind: 'values' as const, column, values: value === null ? [] : [value], withNull: value === null }
}
