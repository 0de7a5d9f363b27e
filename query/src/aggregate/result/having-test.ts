import { check } from '../../cql2/check/check.ts'
import { Cql2Error } from '../../cql2/cql2-error.ts'
import { evaluator } from '../../cql2/evaluate/evaluate.ts'
import { parseText } from '../../cql2/parse/parse-text.ts'
import { invalidParameter } from '../../query-error.ts'
import type { ResultColumn, ResultValue } from '../aggregate-query.ts'

/**
 * A condition on the columns of a result. The columns are named as in the request, such as `sum(pop)`: they are quoted
 * here, because the filter language would take them for functions.
 */
export function havingTest(text: string, columns: readonly ResultColumn[]): (row: ResultValue[]) => boolean {
  try {
    const queryables = columns.map(({ name, type }) => ({ name, type, nullable: true }))
    const condition = check(parseText(quoted(text, columns)), queryables, false)
    const test = evaluator(condition)
    return (row) => {
      const properties = Object.fromEntries(columns.map(({ name }, i) => [name, row[i]!]))
      return test({ properties, geometry: null }) === true
    }
  } catch (error) {
    if (error instanceof Cql2Error) throw invalidParameter('having', error.message)
    throw error
  }
}

/** Texts, names that are quoted already, and the rest, in which names of columns are replaced. */
const PARTS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|[^'"]+|['"]/g

function quoted(text: string, columns: readonly ResultColumn[]): string {
  // Longer names first: `sum(a)` may be a part of another one.
  const names = columns
    .map(({ name }) => name)
    .filter((name) => /\W/.test(name))
    .toSorted((a, b) => b.length - a.length)
  if (names.length === 0) return text
  const pattern = new RegExp(names.map(spaced).join('|'), 'g')
  const nameOf = (match: string) => names.find((name) => tight(name) === tight(match))!
  return text.replaceAll(PARTS, (part) =>
    /^['"]/.test(part)
      ? part
      : part.replaceAll(pattern, (match) => `"${nameOf(match).replaceAll('"', '""')}"`),
  )
}

/** A pattern of the name in which spaces may follow commas. */
function spaced(name: string): string {
  return name
    .split(',')
    .map((part) => RegExp.escape(part))
    .join(',\\s*')
}

function tight(name: string): string {
  return name.replaceAll(/,\s*/g, ',')
}
