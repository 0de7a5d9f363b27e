/** An element of a Parquet schema, in depth-first order. */
export interface SchemaElement {
  name: string
  children: number
  /** The digits and decimals of a decimal number; null for other types. */
  digits: number | null
  scale: number | null
  /** Whether it is a time in nanoseconds that DuckDB cuts to microseconds: one with a zone, or of the type INT96. */
  isCutTime: boolean
}

/** The elements of each column: the column itself, then those inside of it. */
export function columnElements(schema: SchemaElement[]): SchemaElement[][] {
  const columns: SchemaElement[][] = []
  /** How many elements of the current column are still to come. */
  let remaining = 0
  for (const element of schema.slice(1)) {
    if (remaining === 0) {
      columns.push([])
      remaining = 1
    }
    columns.at(-1)!.push(element)
    remaining += element.children - 1
  }
  return columns
}
