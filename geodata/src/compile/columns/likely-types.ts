import type { ColumnFormat } from '@wayleave/contract/column-formats'
import type { ColumnType } from '../../feature.ts'
import type { Assembly, FinalColumn } from '../assemble.ts'
import type { InspectedColumn } from '../compile-options.ts'
import { UNFIT } from './choose-notations.ts'
import { notationsOf, unfitSql } from './column-format.ts'

type Likely = NonNullable<InspectedColumn['likely']>

/** Columns beyond this number are not looked at: each takes a pass over its values. */
const MAX_COLUMNS = 200
const EXAMPLES = 5
const EXAMPLE_CHARACTERS = 200

interface Candidate {
  type: ColumnType
  format: ColumnFormat | null
  unfit: string
}

const written = (type: ColumnType, format: ColumnFormat): Candidate => ({
  ...{ type, format },
  unfit: notationsOf(format)
    .map((notation) => `(${unfitSql(notation)})`)
    .join(' AND '),
})

/** Of candidates that fit the same number of values, the first is taken. */
const CANDIDATES: Candidate[] = [
  { type: 'integer', format: null, unfit: UNFIT.integer },
  { type: 'number', format: null, unfit: UNFIT.number },
  { type: 'date', format: null, unfit: UNFIT.date },
  { type: 'timestamp', format: null, unfit: UNFIT.timestamp },
  { type: 'boolean', format: null, unfit: "lower(t) NOT IN ('true', 'false')" },
  written('number', 'decimal-comma'),
  written('date', 'dd-mm-yyyy'),
  written('date', 'mm-dd-yyyy'),
]

/** A text that may be a number, a date or a truth value, tested cheaply. */
const MAY_BE_TYPED = "regexp_matches(t, '^[-+.]?[0-9]') OR lower(t) IN ('true', 'false')"

/** For columns of texts in which most values have another type: that type, and the values that disagree. */
export async function likelyTypes(
  assembly: Assembly,
  columns: FinalColumn[],
): Promise<Map<FinalColumn, Likely>> {
  const likely = new Map<FinalColumn, Likely>()
  for (const column of columns.filter(({ type }) => type === 'text').slice(0, MAX_COLUMNS)) {
    const result = await likelyType(assembly, column)
    if (result) likely.set(column, result)
  }
  return likely
}

async function likelyType(assembly: Assembly, { profile }: FinalColumn): Promise<Likely | null> {
  const [total, typed] = await assembly.aggregateTexts(profile, [
    'count(*)',
    `count(*) FILTER (WHERE ${MAY_BE_TYPED})`,
  ])
  const count = Number(total)
  if (Number(typed) * 2 <= count) return null
  const unfit = await assembly.aggregateTexts(
    profile,
    CANDIDATES.map((candidate) => `count(*) FILTER (WHERE ${candidate.unfit})`),
  )
  const fewest = Math.min(...unfit.map(Number))
  // Every value may fit: digits with a leading zero are text, because they are rather codes than numbers.
  if (fewest === 0 || fewest * 2 >= count) return null
  const { type, format, unfit: condition } = CANDIDATES[unfit.map(Number).indexOf(fewest)]!
  const [first] = await assembly.aggregateTexts(profile, [
    `list({row: row, value: left(t, ${EXAMPLE_CHARACTERS})} ORDER BY row) FILTER (WHERE ${condition})[:${EXAMPLES}]`,
  ])
  const examples = (first as { row: bigint; value: string }[]).map(({ row, value }) => ({
    row: Number(row),
    value,
  }))
  return { type, format, disagreeing: fewest, examples }
}
