/** How the texts of a column write numbers or dates, as the publisher states it. Any separator of dates is read. */
export const COLUMN_FORMATS = [
  'decimal-point',
  'decimal-comma',
  'dd-mm-yyyy',
  'mm-dd-yyyy',
  'yyyy-mm-dd',
] as const
export type ColumnFormat = (typeof COLUMN_FORMATS)[number]
