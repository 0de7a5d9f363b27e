import { BLOCK_ROWS } from '@wayleave/geodata/features'
import type { PositionTaker } from '../positions/position-taker.ts'
import { Block } from './columns/block.ts'
import type { DecodedColumns } from './columns/decoded-columns.ts'
import type { GroupNumbers } from './groups/group-numbers.ts'
import type { GroupOfPosition } from './measures/group-measure.ts'
import type { GroupMeasures } from './measures/group-measures.ts'

/** Adds the positions that match to their groups, block by block. */
export class MatchedGroups implements PositionTaker {
  readonly #numbers: GroupNumbers
  readonly #measures: GroupMeasures
  /** If not null, the group of each position plus 1 is put here. */
  readonly #groupOf: GroupOfPosition | null
  readonly #block: Block
  readonly #single = new Uint32Array(BLOCK_ROWS)
  #singles = 0
  /** The step, which is not asked for at every position. */
  #maxSingles: number

  constructor(
    numbers: GroupNumbers,
    measures: GroupMeasures,
    decoded: DecodedColumns,
    groupOf: GroupOfPosition | null,
  ) {
    this.#block = new Block(decoded)
    this.#numbers = numbers
    this.#maxSingles = numbers.step
    this.#measures = measures
    this.#groupOf = groupOf
  }

  get step(): number {
    return this.#numbers.step
  }

  take(position: number): boolean {
    this.#single[this.#singles++] = position
    if (this.#singles >= this.#maxSingles) this.finish()
    return false
  }

  takeRun(begin: number, end: number): boolean {
    this.#block.beginRun(begin, end - begin)
    this.#add()
    return false
  }

  takeList(positions: Uint32Array, length: number): boolean {
    this.#block.begin(positions, length)
    this.#add()
    return false
  }

  #add(): void {
    const block = this.#block
    this.#numbers.number(block)
    this.#measures.add(block)
    if (this.#groupOf) keepGroups(block, this.#groupOf)
  }

  /** Adds the collected positions. Call it after the last position. */
  finish(): void {
    this.takeList(this.#single, this.#singles)
    this.#singles = 0
    this.#maxSingles = this.step
  }
}

function keepGroups({ positions, groups, length }: Block, groupOf: GroupOfPosition): void {
  if (groupOf instanceof Uint8Array) keep8(positions, groups, length, groupOf)
  else if (groupOf instanceof Uint16Array) keep16(positions, groups, length, groupOf)
  else keep32(positions, groups, length, groupOf)
}

function keep8(positions: Uint32Array, groups: Uint32Array, length: number, groupOf: Uint8Array): void {
  for (let i = 0; i < length; i++) groupOf[positions[i]!] = groups[i]! + 1
}

function keep16(positions: Uint32Array, groups: Uint32Array, length: number, groupOf: Uint16Array): void {
  for (let i = 0; i < length; i++) groupOf[positions[i]!] = groups[i]! + 1
}

function keep32(positions: Uint32Array, groups: Uint32Array, length: number, groupOf: Uint32Array): void {
  for (let i = 0; i < length; i++) groupOf[positions[i]!] = groups[i]! + 1
}
