/** Receives the rows that a scan finds. Each method returns true if no more rows are needed. */
export interface RowTaker {
  takeRow(row: number): boolean
  /** Takes the rows from `begin` to `end` (exclusive), which are in one block. */
  takeRun(begin: number, end: number): boolean
  /** Takes the first `count` of these rows, which are in one block. The array is used again afterwards. */
  takeRows(rows: Uint32Array, count: number): boolean
}
