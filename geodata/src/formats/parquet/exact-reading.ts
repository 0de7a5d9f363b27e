import type { Value } from '../../feature.ts'

/** How the values of a column are read that DuckDB does not read exactly. */
export interface ExactReading {
  /** What the column has that DuckDB does not read exactly, in words. */
  contents: string
  /** Converts a value as it is stored: bytes, an integer or null. */
  decode(value: unknown): Value
}
