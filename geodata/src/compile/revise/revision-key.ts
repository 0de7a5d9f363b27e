import { SourceError } from '../../source-error.ts'
import type { Revision } from './revision.ts'

/** How features of both versions are told to be the same. */
export type Key =
  /** A column of the dataset has the ids. */
  | { kind: 'column'; name: string }
  /** The ids are those of the source, and a column of their own in the rows. */
  | { kind: 'source'; name: string }
  /** Features are numbered by their rows, so none is the same. */
  | { kind: 'row' }

export function chooseKey({ mode, before }: Revision, idColumn: string | undefined, file: string): Key {
  const { id, columns } = before.manifest
  if (id.isRowNumber === undefined && id.column === null)
    throw new SourceError(
      `The version before was compiled by an earlier release, which did not store ids. Publish the whole dataset once.`,
    )
  if (id.isRowNumber === true || idColumn !== undefined) {
    if (idColumn !== undefined)
      return keyColumn(id.isRowNumber === true ? null : id.column, idColumn, columns, file)
    if (mode === 'append') return { kind: 'row' }
    throw new SourceError(
      'The features of the dataset are numbered by their rows, so an update cannot tell which ones it replaces. Name the column that has the ids with --id-column.',
    )
  }
  return id.column === null ? { kind: 'source', name: id.name! } : { kind: 'column', name: id.column }
}

function keyColumn(
  current: string | null,
  name: string,
  columns: readonly { name: string }[],
  file: string,
): Key {
  if (current !== null && current !== name)
    throw new SourceError(`The ids of the dataset are in the column ${current}, not in ${name}.`)
  if (!columns.some((column) => column.name === name))
    throw new SourceError(
      `The dataset has no column ${JSON.stringify(name)} that ${file} could be matched by.`,
    )
  return { kind: 'column', name }
}
