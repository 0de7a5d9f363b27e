/** How the texts of a column write numbers or dates, as the publisher states it. Any separator of dates is read. */
export const COLUMN_FORMATS = [
  'decimal-point',
  'decimal-comma',
  'dd-mm-yyyy',
  'mm-dd-yyyy',
  'yyyy-mm-dd',
] as const
export type ColumnFormat = (typeof COLUMN_FORMATS)[number]

/** Whether a format is one of numbers; the others are of dates and times. */
export function isNumberFormat(format: ColumnFormat): format is 'decimal-point' | 'decimal-comma' {
  return format === 'decimal-point' || format === 'decimal-comma'
}
