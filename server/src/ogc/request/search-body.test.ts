import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSearchBody } from './search-body.ts'

test('others may have a turn before a body is parsed and before its filter becomes text', () => {
  const broken = readSearchBody('{"filter":')
  assert.equal(broken.next().done, false, 'only its shape was read')
  assert.throws(() => broken.next(), { code: 'invalid-input' })

  const steps = readSearchBody('{"filter":{"op":"=","args":[1,1]},"limit":5,"bbox":null}')
  assert.equal(steps.next().done, false)
  assert.equal(steps.next().done, false)
  const { done, value } = steps.next()
  assert.equal(done, true)
  const json = { op: '=', args: [1, 1] }
  assert.deepEqual(value, [
    { name: 'filter', value: JSON.stringify(json), raw: '', json },
    { name: 'limit', value: '5', raw: '' },
  ])
})

test('a body with too much in it is refused before it is parsed', () => {
  for (const text of ['['.repeat(2000), `{"a":[${'1,'.repeat(80_000)}`, `{${'"a":1,'.repeat(600)}`])
    assert.throws(() => readSearchBody(text).next(), { code: 'invalid-input' })
})
