import type { ResultColumn, ResultValue } from './aggregate-query.ts'

/** Groups of consecutive values. The group of a value is looked up by its code, so no value is looked at twice. */
export interface Segments {
  type: ResultColumn['type']
  /** Whether the unit of the result is that of the column. */
  hasUnit: boolean
  /**
   * The group of the value at this index of the dictionary, and the index of the first value that is in another group.
   * The number of a group may be repeated.
   */
  next(index: number): { group: number; end: number }
  /** The number of groups so far, beside that of missing values. */
  readonly count: number
  value(group: number): ResultValue
}
