import type { Column } from '../feature.ts'
import type { Manifest } from './manifest.ts'

type IdsOf = Pick<Manifest, 'columns' | 'id'>

/**
 * The column of `rows.parquet` and of the exports that holds the features' ids besides the dataset's own
 * columns. Null if ids are row numbers, if a column of the dataset has the same values, or if the snapshot
 * was compiled before ids were exported.
 */
export function idColumn({ id }: IdsOf): Column | null {
  const { name, isRowNumber } = id
  return name === undefined || isRowNumber !== false ? null : { name, type: id.type, nullable: false }
}

/** The columns of the exports: the ids, if they are a column, and then the dataset's own columns. */
export function exportColumns(manifest: IdsOf): Column[] {
  const column = idColumn(manifest)
  return column === null ? manifest.columns : [column, ...manifest.columns]
}

/**
 * The name by which features are filtered and sorted by their ids, and the column that has the ids. Null in
 * snapshots that were compiled before ids could be queried.
 */
export function idQueryable({ columns, id }: IdsOf): { name: string; column: Column } | null {
  if (id.isRowNumber === undefined) return null
  if (id.name !== undefined) {
    return { name: id.name, column: { name: id.name, type: id.type, nullable: false } }
  }
  const column = columns.find(({ name }) => name === id.column)
  if (column === undefined) return null
  const hasOther = columns.some(({ name }) => name === 'id')
  return { name: hasOther ? column.name : 'id', column }
}

/** A name for the ids that no column has, in any case: `id`, otherwise `feature_id`. */
export function idName(columns: readonly Pick<Column, 'name'>[]): string {
  const usedNames = new Set(columns.map(({ name }) => name.toLowerCase()))
  if (!usedNames.has('id')) return 'id'
  let name = 'feature_id'
  for (let n = 1; usedNames.has(name); n++) name = `feature_id_${n}`
  return name
}

/** Whether integer ids are the row ids of a GeoPackage; not in snapshots from before ids were exported. */
export function hasIntegerIds({ id }: IdsOf): boolean {
  return id.type === 'integer' && id.isRowNumber === false
}

/**
 * The columns that filters and sort orders may use: the dataset's own and, at the end, the ids if they are none
 * of these.
 */
export function queryColumns(manifest: IdsOf): Column[] {
  const queryable = idQueryable(manifest)
  if (queryable === null || manifest.columns.includes(queryable.column)) return manifest.columns
  return [...manifest.columns, queryable.column]
}

/** The column of this name; `id` is also a name of the column that has the ids. */
export function queryColumn(manifest: IdsOf, name: string): Column | undefined {
  const own = manifest.columns.find((column) => column.name === name)
  if (own) return own
  const queryable = idQueryable(manifest)
  return queryable?.name === name ? queryable.column : undefined
}
