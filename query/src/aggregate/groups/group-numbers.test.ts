import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { QueryError } from '../../query-error.ts'
import { MAX_GROUPS } from '../aggregate-query.ts'
import { Block } from '../columns/block.ts'
import type { GroupDimension } from './group-dimension.ts'
import { GroupNumbers } from './group-numbers.ts'

/** A dimension whose group is a function of the position. */
function dimension(size: number, of: (position: number) => number): GroupDimension {
  return {
    size,
    columns: [],
    number: ({ positions, length }, groups) => {
      for (let i = 0; i < length; i++) groups[i] = of(positions[i]!)
      return groups
    },
    values: () => [],
    order: (group) => group,
  }
}

function numbered(numbers: GroupNumbers, positions: number[]): number[] {
  const block = new Block(null as never)
  block.begin(Uint32Array.from(positions), positions.length)
  numbers.number(block)
  return [...block.groups.subarray(0, positions.length)]
}

test('three dimensions of millions of groups each are numbered by the groups that occur', () => {
  const size = 20_000_000
  const parts = (position: number) => [
    size - 1 - position,
    (position * 7919) % size,
    position % 3 === 0 ? 0 : size - 1,
  ]
  const dimensions = [0, 1, 2].map((i) => dimension(size, (position) => parts(position)[i]!))
  const numbers = new GroupNumbers(dimensions, 3, size)
  const positions = Array.from({ length: 3000 }, (_, i) => i % 1500)
  const groups = numbered(numbers, positions)
  assert.equal(new Set(groups).size, 1500)
  for (const [i, group] of groups.entries()) assert.deepEqual(numbers.parts(group), parts(positions[i]!))
})

test('groups beyond the limit are refused, also if each dimension has fewer', () => {
  const numbers = new GroupNumbers([dimension(2 ** 20, (position) => position)], 1, 2 ** 20)
  for (let from = 0; from < MAX_GROUPS; from += 4096)
    numbered(
      numbers,
      Array.from({ length: 4096 }, (_, i) => from + i),
    )
  assert.equal(numbered(numbers, [5])[0], 5)
  const isTooMany = (error: QueryError) =>
    error.code === 'too-many-groups' && /Group by fewer/.test(error.message)
  assert.throws(() => numbered(numbers, [MAX_GROUPS]), isTooMany)
})
