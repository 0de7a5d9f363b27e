import type { CompiledColumn } from '@wayleave/geodata/features'
import type { GeometryForm, ResultColumn, ResultValue } from '../aggregate-query.ts'
import type { Block } from '../columns/block.ts'

/** A value of a column. */
export interface ColumnCode {
  column: CompiledColumn
  code: number
}

/** A dimension of a query whose data are in memory. Its groups are numbered; group 0 has the features without a value. */
export interface GroupDimension {
  /** The max number of groups. */
  readonly size: number
  /** How many positions it numbers in about a millisecond, if these are less than a block. */
  readonly step?: number | undefined
  /** The columns of the result, without their names' first part: a zone has its id and a label. */
  readonly columns: readonly ResultColumn[]
  /** The group of each position of the block, in `groups` or in an array of the block. */
  number(block: Block, groups: Uint32Array): Uint32Array
  /** The values of a group, one for each column. */
  values(group: number): ResultValue[]
  /** The value of the group as a code, if it is one of a column. */
  code?(group: number): ColumnCode
  /** What groups are sorted by. */
  order(group: number): number | bigint | string
  /** The area of a group, if it is one. */
  geometry?(group: number, form: GeometryForm): Promise<Uint8Array | null>
}
