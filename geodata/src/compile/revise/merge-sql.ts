import type { Column } from '../../feature.ts'
import { quoteName } from '../../quote-sql.ts'
import type { Manifest } from '../../snapshot/manifest.ts'
import { SourceError } from '../../source-error.ts'
import type { Revision } from './revision.ts'

/** A column of the merged rows, and which of both sides has it. */
interface MergedColumn {
  name: string
  isBefore: boolean
  isAdded: boolean
}

export interface MergedColumns {
  columns: MergedColumn[]
  isSpatial: boolean
  /** Whether the file of changes has geometries; if not, features keep theirs. */
  addsGeometry: boolean
  /** The names of the rows' numbers and of the ids, which no column has. */
  rowName: string
  idName: string
}

type Side = Pick<Manifest, 'columns' | 'geometryType'>

/** The columns of the merged rows: those of the version before, and then those that only the file has. */
export function describeMerge(before: Side, added: Side, { mode }: Revision, file: string): MergedColumns {
  const isSpatial = before.geometryType !== null
  const addsGeometry = added.geometryType !== null
  if (addsGeometry && !isSpatial)
    throw new SourceError(
      `${file} has geometries, and the dataset has none. Use --no-geometry, or publish it whole.`,
    )
  if (isSpatial && !addsGeometry && mode === 'append')
    throw new SourceError(`${file} has no geometries, and the dataset has.`)
  const addedColumns = new Map(added.columns.map((column) => [column.name, column]))
  for (const column of before.columns) requireSameType(column, addedColumns.get(column.name), file)
  const beforeNames = new Set(before.columns.map(({ name }) => name))
  const names = [...beforeNames, ...[...addedColumns.keys()].filter((name) => !beforeNames.has(name))]
  return {
    columns: names.map((name) => ({
      name,
      isBefore: beforeNames.has(name),
      isAdded: addedColumns.has(name),
    })),
    ...{ isSpatial, addsGeometry },
    rowName: unusedName('row', names),
    idName: unusedName('id', names),
  }
}

function requireSameType({ name, type }: Column, added: Column | undefined, file: string): void {
  if (added !== undefined && added.type !== type)
    throw new SourceError(
      `Column ${name} is of type ${added.type} in ${file}, and of type ${type} in the dataset.`,
    )
}

function unusedName(name: string, names: string[]): string {
  const used = new Set(names.map((one) => one.toLowerCase()))
  let unused = `${name}#`
  while (used.has(unused)) unused += '#'
  return unused
}

/** SQL of the merged rows. `b` and `d` are the versions before and the changes, with their rows numbered. */
export function mergeSql(
  merged: MergedColumns,
  { mode, deleteMissing }: Revision,
  /** The name of the column with the ids in both; null if features are numbered by their rows. */
  key: string | null,
  /** Whether the ids are not one of the columns. */
  hasOwnIds: boolean,
): string {
  const row = quoteName(merged.rowName)
  const ids = hasOwnIds ? [{ name: key!, as: merged.idName, isBefore: true, isAdded: true }] : []
  const columns = [...ids, ...merged.columns.map((column) => ({ ...column, as: column.name }))]
  if (merged.isSpatial)
    columns.push({ name: 'geometry', as: 'geometry', isBefore: true, isAdded: merged.addsGeometry })
  const named = (sql: string, as: string) => `${sql} AS ${quoteName(as)}`
  const listOf = (side: 'b' | 'd') =>
    columns.map(({ name, as, isBefore, isAdded }) =>
      named((side === 'b' ? isBefore : isAdded) ? `${side}.${quoteName(name)}` : 'NULL', as),
    )
  if (mode === 'append') {
    const select = (side: 'b' | 'd') =>
      `SELECT ${[`${side}.${row}`, ...listOf(side)].join(', ')} FROM ${side}`
    return `${select('b')} UNION ALL ${select('d')} ORDER BY ${row}`
  }
  const values = columns.map(({ name, as, isBefore, isAdded }) => {
    const [old, added] = [`b.${quoteName(name)}`, `d.${quoteName(name)}`]
    if (isBefore && isAdded) return named(`CASE WHEN d.${row} IS NULL THEN ${old} ELSE ${added} END`, as)
    return named(isAdded ? added : old, as)
  })
  const join = deleteMissing ? 'RIGHT JOIN' : 'FULL JOIN'
  const list = [named(`coalesce(b.${row}, d.${row})`, merged.rowName), ...values]
  return `SELECT ${list.join(', ')} FROM b ${join} d ON b.${quoteName(key!)} = d.${quoteName(key!)} ORDER BY 1`
}
