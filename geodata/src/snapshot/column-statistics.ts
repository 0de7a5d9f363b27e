/** What is known about a column's values. Values are as in features. */
export interface ColumnStatistics {
  nulls: number
  distinct: number
  /** False if `distinct` is an estimate. */
  isExact: boolean
  min?: string | number | boolean
  max?: string | number | boolean
  mean?: number
  /** The number of rows in intervals of equal width between `min` and `max`. */
  histogram?: number[]
  /** The most frequent values, most frequent first. Missing if all values are different. */
  frequent?: { value: string | number | boolean; count: number }[]
}
