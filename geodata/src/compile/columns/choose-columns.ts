import { ifItFits } from '../../formats/reading/read-options.ts'
import { rowNames } from '../../snapshot/row-names.ts'
import { SourceError } from '../../source-error.ts'
import type { Assembly, FinalColumn, IdSource } from '../assemble.ts'
import type { ColumnChoice, CompileOptions } from '../compile-options.ts'
import { InvalidSourceError } from '../invalid-source-error.ts'
import { DEFAULT_LISTED_PROBLEMS, type StageSummary } from '../stage/stage.ts'
import { columnNames } from '../values/column-names.ts'
import {
  areDatesAndTimes,
  areHugeIntegers,
  areIntegers,
  areMixedIds,
  areNumbers,
  columnType,
  MAX_INTEGER_DIGITS,
} from '../values/value-kinds.ts'

/** The columns, with the names that the publisher chose, and types derived from all rows. */
export function chooseColumns(
  summary: StageSummary,
  spatial: boolean,
  notes: string[],
  choices: readonly ColumnChoice[] = [],
): FinalColumn[] {
  const chosen = new Map(choices.map((choice) => [choice.source, choice]))
  const renamed = summary.columns.map(({ name, number }) => ({
    name: chosen.get(name)?.name ?? name,
    number,
  }))
  const names = columnNames(renamed, spatial, notes)
  const columns = summary.columns.map((profile, i): FinalColumn => {
    const type = columnType(profile.kinds, profile.declared)
    if (profile.notFinite > 0) notes.push(notFiniteNote(names[i]!, profile.notFinite))
    if (type === 'text' && areHugeIntegers(profile.kinds))
      notes.push(
        `Column ${names[i]} has integers of more than ${MAX_INTEGER_DIGITS} digits: it is published as text, which keeps every digit.`,
      )
    if (type === 'text' && (profile.declared === 'timestamp' || profile.declared === 'date'))
      notes.push(notTimesNote(names[i]!, profile.declared, profile.kinds))
    const valueCount = profile.present - (type === 'text' ? 0 : profile.blank)
    return { name: names[i]!, type, nullable: valueCount < summary.rows, profile }
  })
  for (const [i, name] of rowNames(columns, spatial).entries())
    if (name !== names[i]) notes.push(`Column ${names[i]} is named ${name} in csv and json.`)
  return columns
}

function notFiniteNote(name: string, count: number): string {
  const values = count === 1 ? '1 value that is' : `${count} values that are`
  return `Column ${name} has ${values} not a number, infinite or too large for one: published as null.`
}

function notTimesNote(name: string, declared: 'timestamp' | 'date', kinds: number): string {
  const reason = areDatesAndTimes(kinds)
    ? 'has dates and times'
    : declared === 'date'
      ? 'has values that are not dates or that a column of dates cannot hold, such as years beyond 9999'
      : 'has values that are not times or that a column of times cannot hold, such as nanoseconds or years beyond 9999'
  return `Column ${name} ${reason}: it is published as text.`
}

/** The publisher's id column, else the source's ids if all rows have one and none repeats, else null. */
export async function chooseIds(
  assembly: Assembly,
  options: CompileOptions,
  summary: StageSummary,
  columns: FinalColumn[],
  file: string,
  notes: string[],
): Promise<IdSource> {
  const { idColumn } = options
  if (idColumn !== undefined) {
    const column = ifItFits('idColumn', options, notes, () => findColumn(columns, idColumn, file))
    if (column) {
      await checkIds(assembly, summary, column, file, options)
      return column
    }
  }
  const profile = summary.id
  if (summary.unusableIds > 0) {
    notes.push(
      'Some ids in the source are neither texts nor numbers, so features are numbered by their rows.',
    )
    return null
  }
  if (summary.rows === 0 || profile.present === 0) return null
  if (profile.present < summary.rows) {
    notes.push(
      `Only ${profile.present} of ${summary.rows} features have an id in the source, so features are numbered by their rows.`,
    )
    return null
  }
  if (await assembly.sourceIdsRepeat(profile)) {
    notes.push('Ids repeat in the source, so features are numbered by their rows.')
    return null
  }
  if (areIntegers(profile.kinds)) return { profile, type: 'integer' }
  if (areMixedIds(profile.kinds))
    notes.push('Some ids in the source are numbers and some are texts, so all ids are published as texts.')
  else if (areNumbers(profile.kinds) || areHugeIntegers(profile.kinds))
    notes.push(
      `Some ids in the source are numbers but no integers of up to ${MAX_INTEGER_DIGITS} digits, so all ids are published as texts.`,
    )
  return { profile, type: 'text' }
}

async function checkIds(
  assembly: Assembly,
  summary: StageSummary,
  column: FinalColumn,
  file: string,
  { skipInvalid, maxProblems = DEFAULT_LISTED_PROBLEMS }: CompileOptions,
): Promise<void> {
  if (column.type === 'json')
    throw new SourceError(`${file}: column ${column.name} holds nested values and cannot be the id.`)
  const bad = await assembly.badIds(column, maxProblems)
  if (bad.count === 0) return
  const problems = bad.rows.map(({ row, id }) => ({
    row,
    message: id === null ? `the id column ${column.name} is empty` : `the id ${JSON.stringify(id)} repeats`,
  }))
  const all = [...summary.problems, ...problems].sort((a, b) => a.row - b.row).slice(0, maxProblems)
  summary.problemCount += bad.count
  if (!skipInvalid) throw new InvalidSourceError(file, all, summary.problemCount)
  summary.problems = all
  summary.skippedForIds = bad.count
  await assembly.excludeBadIds(column)
}

/** The column that `datetime` filters: the requested one, otherwise the first date or timestamp column. */
export function chooseTimeColumn(
  columns: FinalColumn[],
  options: Pick<CompileOptions, 'timeColumn' | 'ignorable'>,
  file: string,
  notes: string[],
): string | null {
  const { timeColumn: name } = options
  const isTime = (column: FinalColumn) => column.type === 'date' || column.type === 'timestamp'
  const first = columns.find(isTime)?.name ?? null
  if (name === undefined) return first
  const chosen = ifItFits('timeColumn', options, notes, () => {
    const column = findColumn(columns, name, file)
    if (isTime(column)) return column.name
    throw new SourceError(
      `${file}: column ${column.name} holds ${column.type}, neither dates nor timestamps.`,
    )
  })
  return chosen ?? first
}

export function findColumn(columns: FinalColumn[], name: string, file: string): FinalColumn {
  const matchingColumn =
    columns.find((column) => column.name === name) ?? columns.find((column) => column.profile.name === name)
  if (matchingColumn) return matchingColumn
  const names = columns.slice(0, 20).map((column) => column.name)
  const advice =
    names.length > 0 ? `It has ${names.join(', ')}${columns.length > 20 ? ' and more' : ''}.` : 'It has none.'
  throw new SourceError(`${file} has no column ${JSON.stringify(name)}. ${advice}`)
}
