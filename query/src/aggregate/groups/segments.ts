import type { ResultColumn, ResultValue } from '../aggregate-query.ts'

/** Groups of consecutive values. The group of a value is looked up by its code, so no value is looked at twice. */
export interface Segments {
  /**
   * The group of the value at this index of the dictionary, and the index of the first value that is in another group.
   * The number of a group may be repeated.
   */
  next(index: number): { group: number; end: number }
  /** The values of the groups so far. They do not refer to the column, because they are kept when it is evicted. */
  labels(): SegmentLabels
}

export interface SegmentLabels {
  type: ResultColumn['type']
  /** Whether the unit of the result is that of the column. */
  hasUnit: boolean
  /** The number of groups, beside that of missing values. */
  count: number
  value(group: number): ResultValue
}

/** Groups whose values are in the unit of the column. */
export function valueLabels(type: ResultColumn['type'], values: readonly ResultValue[]): SegmentLabels {
  return { type, hasUnit: true, count: values.length, value: (group) => values[group - 1]! }
}
