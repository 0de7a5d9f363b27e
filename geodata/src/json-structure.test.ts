import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jsonShape } from './json-structure.ts'

test('the shape of a JSON text counts what is outside of its strings', () => {
  assert.deepEqual(jsonShape('{"a":[1,[22,{}]],"b,[":"[[[[,,,,12345\\"12345","c":333}'), {
    depth: 4,
    commas: 4,
    outerCommas: 2,
    integerDigits: 3,
  })
  assert.deepEqual(jsonShape(''), { depth: 0, commas: 0, outerCommas: 0, integerDigits: 0 })
})

test('a string ends at the first quote that is not escaped', () => {
  for (const [text, commas] of [
    ['"\\\\",', 1],
    ['"\\\\\\",', 0],
    ['"\\",",', 1],
    ['"no end,,', 0],
  ] as const)
    assert.equal(jsonShape(text).commas, commas, text)
})

test('digits of fractions and exponents are not those of an integer', () => {
  const long = '1'.repeat(20)
  assert.equal(jsonShape(`[0.${long}, 1e${long}, 1E-5, -12]`).integerDigits, 2)
  assert.equal(jsonShape(`[-${long}]`).integerDigits, 20)
})
