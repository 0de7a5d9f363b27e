import { likePattern, literal, nameText, type Value } from './cql2-text.ts'

export type Box = [west: number, south: number, east: number, north: number]

export type Position = [longitude: number, latitude: number]

/** One condition of the filter. The filter is true if all its clauses are. */
export type Clause =
  | { kind: 'values'; column: string; values: Value[]; withNull: boolean }
  | { kind: 'range'; column: string; from: Value | null; to: Value | null; isBelow: boolean }
  | { kind: 'text'; columns: string[]; text: string }
  | { kind: 'box'; box: Box }
  /** An area that was drawn: its ring, whose last position is the first one. */
  | { kind: 'area'; ring: Position[] }
  /** A condition that was written by hand and that no control of the page can show. */
  | { kind: 'other'; text: string }

/** The type of each column; `Value`s of dates and timestamps are ISO 8601 texts. */
export type ColumnTypes = ReadonlyMap<string, string>

/** The CQL2 text of all clauses; empty if there are none. */
export function filterText(clauses: readonly Clause[], types: ColumnTypes): string {
  return clauses
    .map((clause) => clauseText(clause, types))
    .filter((text) => text !== '')
    .join(' AND ')
}

export function clauseText(clause: Clause, types: ColumnTypes): string {
  switch (clause.kind) {
    case 'values':
      return valuesText(clause.column, clause.values, clause.withNull, types)
    case 'range': {
      const { column, from, to, isBelow } = clause
      const name = nameText(column)
      const type = types.get(column)
      const parts: string[] = []
      if (from !== null) parts.push(`${name} >= ${literal(from, type)}`)
      if (to !== null) parts.push(`${name} ${isBelow ? '<' : '<='} ${literal(to, type)}`)
      return parts.join(' AND ')
    }
    case 'text': {
      const pattern = `CASEI(ACCENTI('${likePattern(clause.text)}'))`
      const parts = clause.columns.map((column) => `CASEI(ACCENTI(${nameText(column)})) LIKE ${pattern}`)
      return parts.length === 1 ? parts[0]! : `(${parts.join(' OR ')})`
    }
    case 'box':
      return `S_INTERSECTS(geometry, BBOX(${clause.box.join(', ')}))`
    case 'area':
      return `S_INTERSECTS(geometry, POLYGON((${clause.ring.map((place) => place.join(' ')).join(', ')})))`
    case 'other':
      return clause.text
  }
}

function valuesText(column: string, values: Value[], withNull: boolean, types: ColumnTypes): string {
  const name = nameText(column)
  const type = types.get(column)
  const parts: string[] = []
  // A text literal cannot end with a backslash; a pattern can contain it, escaped.
  const isPlain = (value: Value) => typeof value !== 'string' || !value.includes('\\')
  const plain = values.filter(isPlain).map((value) => literal(value, type))
  if (plain.length === 1) parts.push(`${name} = ${plain[0]}`)
  if (plain.length > 1) parts.push(`${name} IN (${plain.join(', ')})`)
  for (const value of values) {
    if (!isPlain(value)) parts.push(`${name} LIKE '${likePattern(String(value), '')}'`)
  }
  if (withNull) parts.push(`${name} IS NULL`)
  return parts.length > 1 ? `(${parts.join(' OR ')})` : (parts[0] ?? '')
}

/** The column that a clause restricts; null if it is not about one column. */
export function columnOf(clause: Clause): string | null {
  return clause.kind === 'values' || clause.kind === 'range' ? clause.column : null
}
