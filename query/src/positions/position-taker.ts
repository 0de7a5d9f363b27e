/** Receives the positions that a scan finds. Each method returns true if no more positions are needed. */
export interface PositionTaker {
  /** How many positions take about a millisecond, if these are less than a block. Read again and again: it may change. */
  readonly step?: number | undefined
  take(position: number): boolean
  /** Takes the positions from `begin` to `end` (exclusive), which are in one block. */
  takeRun(begin: number, end: number): boolean
  /** Takes the first `count` of these positions, which are in one block. The array is used again afterwards. */
  takeList(positions: Uint32Array, count: number): boolean
  /** If it exists, a scan may call it with the number of positions instead of `takeList`. */
  takeCount?(count: number): void
}
