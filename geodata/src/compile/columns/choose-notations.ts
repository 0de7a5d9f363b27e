import type { ColumnFormat } from '@wayleave/contract/column-formats'
import type { ColumnType } from '../../feature.ts'
import { quoteText } from '../../quote-sql.ts'
import { SourceError } from '../../source-error.ts'
import type { Assembly, FinalColumn } from '../assemble.ts'
import type { ColumnChoice, SourceValue } from '../compile-options.ts'
import { MAX_SIGNIFICANT_DIGITS } from '../values/plain-texts.ts'
import { admits, areNumbers, KIND } from '../values/value-kinds.ts'
import { findColumn } from './choose-columns.ts'
import { applyFormat } from './column-format.ts'
import { type DateOrder, type DateReading, readDates, withinYears } from './date-notation.ts'
import { type NumberReading, readNumbers, readThousands } from './number-notation.ts'

const NUMBERS = KIND.writtenNumber | KIND.integer | KIND.number | KIND.bigInteger | KIND.rounded
/** The kinds in a column of written dates. A date with the year first is an ordinary date if it has leading zeros. */
const DATES = KIND.writtenDate | KIND.date | KIND.timestamp | KIND.slashed

interface NotationOptions {
  rows: number
  /** Types that the publisher chose, by column name. */
  types: { [column: string]: ColumnType } | undefined
  /** What the publisher fixed about columns. */
  choices?: readonly ColumnChoice[] | undefined
}

/**
 * Recognises columns of texts that are numbers or dates as a language writes them. A column is only converted if
 * all of its values agree. Values that have two readings are decided by the other columns of the file, otherwise
 * they stay text. Types and formats chosen by the publisher come first. Returns what does not fit the choices.
 */
export async function chooseNotations(
  assembly: Assembly,
  columns: FinalColumn[],
  notes: string[],
  file: string,
  { rows, types = {}, choices = [] }: NotationOptions,
): Promise<string[]> {
  const { fixed, misfits } = await applyChoices(assembly, columns, choices, rows)
  const chosen = new Map(fixed)
  for (const [name, type] of Object.entries(types)) chosen.set(findColumn(columns, name, file), type)
  const isOpen = (column: FinalColumn) =>
    chosen.get(column) !== 'text' && column.profile.declared === 'infer-text' && !column.profile.notation
  const numbers = new Map<FinalColumn, NumberReading>()
  const dates = new Map<FinalColumn, DateReading>()
  for (const column of columns.filter(isOpen)) {
    const { kinds } = column.profile
    if (kinds & KIND.writtenNumber && (kinds & ~NUMBERS) === 0)
      numbers.set(column, await readNumbers(assembly, column.profile))
    else if (kinds & KIND.writtenDate && (kinds & ~DATES) === 0)
      dates.set(column, await readDates(assembly, column.profile))
  }
  const usesDecimalCommas = [...numbers.values()].some((reading) => reading.provesDecimalComma)
  if (usesDecimalCommas)
    for (const column of columns.filter(isOpen)) {
      const reading = isFraction(column) ? await readThousands(assembly, column.profile) : null
      if (reading) numbers.set(column, reading)
    }
  const provesThousandsCommas = [...numbers.values()].some((reading) => reading.provesThousandsComma)
  for (const [column, reading] of numbers) {
    const isNumber = chosen.get(column) === 'number' || chosen.get(column) === 'integer'
    const asDecimal = usesDecimalCommas || (isNumber && !provesThousandsCommas)
    const notation =
      reading.notation ??
      (asDecimal ? reading.decimalComma : provesThousandsCommas ? reading.thousandsComma : null)
    if (notation) apply(column, rows, reading.typeWith(notation), notation, notes)
    else if (reading.isAmbiguous && !chosen.has(column))
      notes.push(
        `Column ${column.name} stays text: the comma in values such as ${reading.example} may separate decimals or thousands.`,
      )
  }
  const provesDayFirst = [...dates.values()].some(
    (reading) => reading.order === 'day-first' && reading.isProof,
  )
  const provesMonthFirst = [...dates.values()].some((reading) => reading.order === 'month-first')
  for (const [column, reading] of dates) {
    const isDayFirst = chosen.has(column) || (provesDayFirst && !provesMonthFirst)
    const isMonthFirst = provesMonthFirst && !provesDayFirst
    const order = reading.order ?? (isMonthFirst ? 'month-first' : isDayFirst ? 'day-first' : null)
    if (reading.type !== null && order !== null)
      apply(column, rows, reading.type, reading.notation(order), notes, order)
    else if (reading.type !== null && reading.isAmbiguous)
      notes.push(
        `Column ${column.name} stays text: in dates such as ${reading.example} day and month cannot be told apart. If the day comes first, publish with --type ${column.name}=${reading.type}.`,
      )
  }
  for (const [column, type] of chosen) {
    const misfit = await convert(assembly, column, type, rows)
    if (misfit === null) continue
    const sentence = misfitText(column, type, misfit)
    if (!fixed.has(column)) throw new SourceError(`${file}: ${sentence}`)
    misfits.push(sentence)
  }
  for (const { name, type, profile } of columns) {
    const isTime = type === 'date' || type === 'timestamp'
    if (isTime && profile.kinds & KIND.slashed && !profile.notation)
      notes.push(timeNote(name, type, 'year-first'))
    if (type === 'number' && profile.kinds & KIND.rounded)
      notes.push(
        `Column ${name} has numbers of more than ${MAX_SIGNIFICANT_DIGITS} digits: they are rounded. To keep every digit, publish with --type ${name}=text.`,
      )
  }
  return misfits
}

/** Applies the formats that the publisher fixed, and collects the types. */
async function applyChoices(
  assembly: Assembly,
  columns: FinalColumn[],
  choices: readonly ColumnChoice[],
  rows: number,
): Promise<{ fixed: Map<FinalColumn, ColumnType>; misfits: string[] }> {
  const fixed = new Map<FinalColumn, ColumnType>()
  const misfits: string[] = []
  for (const { source, type, format, isHidden, isOptional } of choices) {
    const column = columns.find(({ profile }) => profile.name === source)
    if (isHidden) continue
    if (column === undefined && isOptional) continue
    if (column === undefined) {
      misfits.push(`The column ${JSON.stringify(source)} is missing.`)
      continue
    }
    const misfit =
      format === undefined || type === 'text' ? null : await applyFormat(assembly, column, format, rows)
    if (misfit) misfits.push(misfitText(column, format!, misfit))
    else if (type !== undefined) fixed.set(column, type)
  }
  return { fixed, misfits }
}

function misfitText(
  column: FinalColumn,
  wanted: ColumnType | ColumnFormat,
  { row, value }: SourceValue,
): string {
  return `Column ${column.name} cannot be published as ${wanted}: row ${row} has ${JSON.stringify(value.slice(0, 200))}.`
}

/** Whether decimal points may be thousands, once other columns have shown that decimals have commas. */
function isFraction({ profile }: FinalColumn): boolean {
  return areNumbers(profile.kinds) && (profile.kinds & KIND.number) !== 0
}

function apply(
  column: FinalColumn,
  rows: number,
  type: ColumnType,
  notation: NonNullable<FinalColumn['profile']['notation']>,
  notes: string[],
  order?: DateOrder,
): void {
  column.type = type
  column.profile.notation = notation
  column.nullable = column.profile.present - column.profile.blank < rows
  notes.push(
    notation.kind === 'date'
      ? timeNote(column.name, type, order!)
      : `Column ${column.name} was read as numbers with ${spelling(notation)}.`,
  )
}

function timeNote(name: string, type: ColumnType, order: DateOrder): string {
  return `Column ${name} was read as ${type === 'date' ? 'dates' : 'times'}, ${order.replace('-', ' ')}.`
}

function spelling({ group, decimal }: { group: string; decimal: string }): string {
  const names: { [group: string]: string } = {
    '.': 'points',
    ',': 'commas',
    ' ': 'spaces',
    "'": 'apostrophes',
  }
  if (group === '') return 'a decimal comma'
  return `${names[group]} between thousands${decimal === ',' ? ' and a decimal comma' : ''}`
}

/** A day, perhaps with midnight as the time. */
const DAY = '\\s*\\d{4}[-/]\\d\\d?[-/]\\d\\d?([T ]00:00(:00([.]0+)?)?(Z|[-+]\\d\\d(:?\\d\\d)?)?)?\\s*'
/** For each type, SQL that tells whether a text `t` cannot become its value, or not without a change. */
export const UNFIT: { [type in Exclude<ColumnType, 'text'>]: string } = {
  boolean: 'try_cast(t AS BOOLEAN) IS NULL',
  // The cast rounds decimals. Those that differ too little for a double are told by their digits.
  integer: `try_cast(t AS BIGINT) IS NULL OR try_cast(t AS BIGINT)::DOUBLE <> try_cast(t AS DOUBLE)
    OR regexp_full_match(t, '[-+]?\\d*[.]\\d*[1-9]\\d*')`,
  number: 'try_cast(t AS DOUBLE) IS NULL OR NOT isfinite(try_cast(t AS DOUBLE))',
  // The cast ignores what follows the day: a time, and any other text.
  date: `${outsideYears('try_cast(t AS DATE)')} OR NOT regexp_full_match(t, ${quoteText(DAY)})`,
  // The cast cuts what is finer than a microsecond.
  timestamp: `${outsideYears('try_cast(t AS TIMESTAMPTZ)::TIMESTAMP')} OR regexp_matches(t, '[.]\\d{6}\\d*[1-9]')`,
  json: 'try_cast(t AS JSON) IS NULL',
}

/** Also infinite times, whose year is null. */
function outsideYears(time: string): string {
  return `NOT coalesce(${withinYears(time)}, false)`
}

/** Gives a column the type that the publisher chose, or returns the first value that does not fit. */
async function convert(
  assembly: Assembly,
  column: FinalColumn,
  type: ColumnType,
  rows: number,
): Promise<SourceValue | null> {
  const { profile } = column
  if (column.type === type) return null
  const fits =
    type === 'text' ||
    admits(type, profile.kinds) ||
    (profile.notation?.kind === 'number' && type === 'number') ||
    (profile.notation?.kind === 'date' && type === 'timestamp')
  if (!fits) {
    const expressions = ['min(row)', 'arg_min(t, row)'].map(
      (first) => `${first} FILTER (WHERE ${UNFIT[type]})`,
    )
    const [row, text] = await assembly.aggregateTexts(profile, expressions)
    if (row !== null) return { row: Number(row), value: String(text) }
  }
  if (type === 'text') profile.notation = undefined
  column.type = type
  column.nullable = profile.present - (type === 'text' ? 0 : profile.blank) < rows
  return null
}
