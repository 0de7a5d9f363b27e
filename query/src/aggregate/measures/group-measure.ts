import type { Codes, CompiledColumn } from '@wayleave/geodata/features'
import type { ResultColumn, ResultValue } from '../aggregate-query.ts'
import type { Block } from '../columns/block.ts'
import type { ColumnCode } from '../groups/group-dimension.ts'

/** Adds the positions of a block to their groups. Several measures may read the same account. */
export interface GroupAccount {
  add(block: Block): void
  /** Adds the features of a group to another group. */
  merge(group: number, into: number): void
}

/** A measure of a query: it reads accounts after the last position. */
export interface GroupMeasure {
  readonly column: ResultColumn
  value(group: number): ResultValue
  /** The value of the group as a code, if it is one of a column. */
  code?(group: number): ColumnCode
  /** What groups are sorted by; null comes last. */
  order(group: number): number | bigint | string | null
  /** Whether its accounts can be merged, so that it is known for several groups together. */
  readonly isMergeable: boolean
}

/**
 * The group of each position plus 1; 0 for a position that does not match. It is read in the order of values, that is
 * all over its memory, which is faster the smaller it is.
 */
export type GroupOfPosition = Codes

export function groupOfPosition(rows: number, groupCount: number): GroupOfPosition {
  return groupCount < 255
    ? new Uint8Array(rows)
    : groupCount < 65_535
      ? new Uint16Array(rows)
      : new Uint32Array(rows)
}

/** How many features of each group have a value. */
export class ValueCounts implements GroupAccount {
  readonly counts: Uint32Array
  readonly #column: CompiledColumn

  constructor(column: CompiledColumn, capacity: number) {
    this.#column = column
    this.counts = new Uint32Array(capacity)
  }

  add(block: Block): void {
    const { counts } = this
    const { groups, length } = block
    const codes = block.codesOf(this.#column)
    for (let i = 0; i < length; i++) {
      const code = codes[i]! | 0
      // 1 unless the code is 0. A branch that the processor cannot predict would take twice as long.
      counts[groups[i]!]! += (code | -code) >>> 31
    }
  }

  merge(group: number, into: number): void {
    this.counts[into]! += this.counts[group]!
  }
}

/** Results that are not a number in JSON are missing: the sum of numbers near the largest one may be infinite. */
export function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null
}
