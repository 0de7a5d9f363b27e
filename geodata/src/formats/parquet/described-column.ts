/** A column of the file with the type that DuckDB gives it. */
export interface DescribedColumn {
  /** The name in the file. DuckDB renames columns whose names differ only in case, or not at all. */
  name: string
  /** The quoted name in DuckDB. */
  id: string
  type: string
  /** The CRS of Parquet's own geometry type; undefined if it does not state one. */
  nativeCrs?: string
}
