import type { LegendEntry, Scale } from '@wayleave/contract/map-style'
import type { Clause } from '../filter/clause.ts'

/** The condition that an entry of a legend stands for; null for other values, and for a class of all values. */
export function entryClause(scale: Scale, { index, isNull }: LegendEntry): Clause | null {
  const { column } = scale
  if (isNull) return { kind: 'values', column, values: [], withNull: true }
  if (index === undefined) return null
  if (scale.kind === 'categories')
    return { kind: 'values', column, values: [scale.values[index]!], withNull: false }
  const { breaks } = scale
  if (breaks.length === 0) return null
  const [from = null, to = null] = [breaks[index - 1], breaks[index]]
  return { kind: 'range', column, from, to, isBelow: to !== null }
}

/** Whether a clause selects entries of the legend and nothing else, so that the legend can show which. */
export function selectsEntries(scale: Scale, clause: Clause): boolean {
  if (clause.kind === 'values')
    return scale.kind === 'categories'
      ? clause.values.every((value) => scale.values.includes(value))
      : clause.values.length === 0
  if (clause.kind !== 'range' || scale.kind !== 'numbers' || scale.isContinuous) return false
  const ends = [null, ...scale.breaks, null]
  return ends.slice(1).some((to, index) => isRange(clause, ends[index]!, to))
}

/** Whether an entry is among what a clause selects. */
export function isEntrySelected(scale: Scale, entry: LegendEntry, clause: Clause): boolean {
  const own = entryClause(scale, entry)
  if (own?.kind === 'values' && clause.kind === 'values')
    return own.withNull ? clause.withNull : clause.values.includes(own.values[0]!)
  return own?.kind === 'range' && isRange(clause, own.from, own.to)
}

type Ends = Extract<Clause, { kind: 'range' }>['from']

function isRange(clause: Clause, from: Ends, to: Ends): boolean {
  return (
    clause.kind === 'range' &&
    clause.from === from &&
    clause.to === to &&
    // A class ends before the next one begins.
    (to === null || clause.isBelow)
  )
}
