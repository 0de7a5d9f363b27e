import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Operation } from '../ast.ts'
import { check } from './check.ts'

test('an operation that no branch checks is an error, as a condition and inside one', () => {
  const unchecked = { kind: 'call' as const, op: 'unchecked' as Operation, args: [], at: 'at character 1' }
  assert.throws(() => check(unchecked, [], false), { message: 'There is no case for "unchecked".' })
  const negated = { kind: 'call' as const, op: 'not' as const, args: [unchecked], at: 'at character 1' }
  assert.throws(() => check(negated, [], false), { message: 'There is no case for "unchecked".' })
  const compared = {
    kind: 'call' as const,
    op: '=' as const,
    args: [unchecked, unchecked],
    at: 'at character 1',
  }
  assert.throws(() => check(compared, [], false), { message: 'There is no case for "unchecked".' })
})
