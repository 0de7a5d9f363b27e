import type { Clause } from './clause.ts'
import type { Value } from './cql2-text.ts'

/** A clause in a few words. */
export function clauseWords(clause: Clause): string {
  switch (clause.kind) {
    case 'values': {
      const names = [...clause.values.map((value) => (value === '' ? '(empty)' : String(value)))]
      if (clause.withNull) names.push('(no value)')
      const shown = names.slice(0, 3).join(', ')
      return `${clause.column}: ${shown}${names.length > 3 ? ` and ${names.length - 3} more` : ''}`
    }
    case 'range': {
      const { column, from, to, isBelow } = clause
      if (from !== null && from === to) return `${column}: ${short(from)}`
      if (from !== null && to !== null) return `${column}: ${short(from)} to ${short(to)}`
      return from !== null
        ? `${column}: from ${short(from)}`
        : `${column}: ${isBelow ? 'below' : 'up to'} ${short(to!)}`
    }
    case 'text':
      return `${clause.columns.length === 1 ? clause.columns[0] : 'Text'} contains “${clause.text}”`
    case 'box':
      return 'Within a map view'
    case 'area':
      return clause.ring.length > 40 ? 'Within a circle' : 'Within an area'
    case 'other':
      return clause.text.length > 60 ? `${clause.text.slice(0, 59)}…` : clause.text
  }
}

function short(value: Value): string {
  if (typeof value === 'number') return String(Number(value.toPrecision(6)))
  const time = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(String(value))
  return time ? `${time[1]} ${time[2]}` : String(value)
}
