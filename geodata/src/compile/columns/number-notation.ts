import type { ColumnType } from '../../feature.ts'
import { quoteText } from '../../quote-sql.ts'
import type { Assembly } from '../assemble.ts'
import type { ColumnProfile } from '../stage/staged-column.ts'
import { groupCountSql, type Notation, type NumberGroup, numberPattern } from '../values/notation.ts'

type NumberNotation = Notation & { kind: 'number' }

/** What the texts of one column say about how they write numbers. */
export interface NumberReading {
  /** The only reading; null if there is none, or if there are two. */
  notation: NumberNotation | null
  isAmbiguous: boolean
  /** The two readings of a comma before three digits, if all values have that form. */
  decimalComma: NumberNotation | null
  thousandsComma: NumberNotation | null
  provesDecimalComma: boolean
  provesThousandsComma: boolean
  example: string
  typeWith(notation: NumberNotation): ColumnType
}

const CANDIDATES: NumberNotation[] = (
  [
    ['', ','],
    ['.', ','],
    [' ', ','],
    ["'", ','],
    [',', '.'],
    [' ', '.'],
    ["'", '.'],
  ] as [NumberGroup, ',' | '.'][]
).map(([group, decimal]) => ({ kind: 'number', group, decimal }))

/** More digits than this are not exact in a double, and are rather codes than quantities. */
const MAX_DIGITS = 15

export async function readNumbers(assembly: Assembly, profile: ColumnProfile): Promise<NumberReading> {
  const matches = CANDIDATES.map(
    ({ group, decimal }) => `regexp_full_match(t, ${quoteText(numberPattern(group, decimal))})`,
  )
  const [example, digits, ...facts] = await assembly.aggregateTexts(profile, [
    `arg_min(t, row) FILTER (WHERE t LIKE '%,%')`,
    `max(length(regexp_replace(t, '\\D', '', 'g')))`,
    ...matches.map((match) => `bool_and(${match})`),
    ...CANDIDATES.flatMap(({ group }) =>
      group === '' ? ['0', '0'] : [`min(${groupCountSql(group)})`, `max(${groupCountSql(group)})`],
    ),
    ...CANDIDATES.map(({ decimal }) => `bool_or(regexp_matches(t, '${decimal === '.' ? '[.]' : ','}\\d+$'))`),
  ])
  const n = CANDIDATES.length
  const isShort = Number(digits) <= MAX_DIGITS
  const evidence = CANDIDATES.map(({ group, decimal }, i) => {
    const [minGroups, maxGroups] = [Number(facts[n + 2 * i]), Number(facts[n + 2 * i + 1])]
    // Digits in equal groups, such as 612 345 678, may be telephone numbers.
    const isVaried = minGroups !== maxGroups
    const hasDecimals = facts[3 * n + i] === true
    const isUsed = group === '' || maxGroups > 0
    return { isMatch: isShort && facts[i] === true && isUsed, isVaried, hasDecimals, group, decimal }
  })
  const possible = CANDIDATES.filter((_, i) => {
    const { isMatch, isVaried, hasDecimals, group } = evidence[i]!
    return isMatch && (group === '' ? hasDecimals : isVaried || hasDecimals)
  })
  const plainComma = evidence[0]!.isMatch ? CANDIDATES[0]! : null
  const thousandsComma = evidence[4]!.isMatch ? CANDIDATES[4]! : null
  const isAmbiguous = plainComma !== null && thousandsComma !== null
  const notation = isAmbiguous ? null : (possible[0] ?? null)
  const hasDecimals = notation !== null && evidence[CANDIDATES.indexOf(notation)]!.hasDecimals
  return {
    notation,
    isAmbiguous,
    decimalComma: isAmbiguous ? plainComma : null,
    thousandsComma: isAmbiguous ? thousandsComma : null,
    provesDecimalComma: notation?.decimal === ',' && hasDecimals,
    provesThousandsComma: notation?.group === ',',
    example: String(example ?? ''),
    typeWith: (used) => (evidence[CANDIDATES.indexOf(used)]!.hasDecimals ? 'number' : 'integer'),
  }
}

/** Points before three digits each, in a file whose decimals have commas, separate thousands. */
export async function readThousands(
  assembly: Assembly,
  profile: ColumnProfile,
): Promise<NumberReading | null> {
  const [areGroups] = await assembly.aggregateTexts(profile, [
    `bool_and(regexp_full_match(t, '-?(0|[1-9]\\d{0,2}([.]\\d{3})*)'))`,
  ])
  if (areGroups !== true) return null
  return {
    notation: { kind: 'number', group: '.', decimal: ',' },
    isAmbiguous: false,
    decimalComma: null,
    thousandsComma: null,
    provesDecimalComma: false,
    provesThousandsComma: false,
    example: '',
    typeWith: () => 'integer',
  }
}
