import { type Manifest, queryColumn, queryColumns } from '@wayleave/geodata/snapshot'
import type { SortKey } from '@wayleave/query'
import { invalidInput } from '../../base/problem.ts'
import { readNameList } from './name-list.ts'

/** Nested values have no order. */
export function isSortable(type: Manifest['columns'][number]['type']): boolean {
  return type !== 'json'
}

/** Parses a list of `name`, `+name` or `-name`. A plus in a URL is decoded as a space. */
export function readSort(text: string, manifest: Manifest): SortKey[] {
  const columns = queryColumns(manifest)
  const keys: SortKey[] = []
  for (const part of readNameList(text)) {
    const sign = /^[ +-]/.exec(part)?.[0]
    const name = sign === undefined ? part : part.slice(1)
    const sortColumn = queryColumn(manifest, name)
    const column = sortColumn === undefined ? -1 : columns.findIndex((each) => each.name === sortColumn.name)
    if (column === -1 || !isSortable(columns[column]!.type)) {
      throw invalidInput('sortby', `names "${name.slice(0, 80)}", by which features cannot be sorted`)
    }
    if (keys.some((key) => key.column === column)) {
      throw invalidInput('sortby', `names "${name}" more than once`)
    }
    keys.push({ column, descending: sign === '-' })
  }
  return keys
}
