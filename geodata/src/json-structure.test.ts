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

test('bytes have the shape of their text', () => {
  const text = '{"größe":["€, [",1],"\\\\":"\\"ä","𝄞,":[[2]]}'
  assert.deepEqual(jsonShape(text), { depth: 3, commas: 3, outerCommas: 2, integerDigits: 1 })
  assert.deepEqual(jsonShape(Buffer.from(text)), jsonShape(text))
  // Half of a character, and a backslash at the end.
  assert.equal(jsonShape(Buffer.from([0x5b, 0x22, 0xf0, 0x22, 0x2c, 0x22, 0x5c])).commas, 1)
})

test('digits of fractions and exponents are not those of an integer', () => {
  const long = '1'.repeat(20)
  assert.equal(jsonShape(`[0.${long}, 1e${long}, 1E-5, -12]`).integerDigits, 2)
  assert.equal(jsonShape(`[-${long}]`).integerDigits, 20)
})

test('a text is read up to the first bracket or comma that is too many', () => {
  const rest = '[,'.repeat(1000)
  assert.deepEqual(jsonShape(`[[[[${rest}`, { depth: 3 }), {
    ...{ depth: 4, commas: 0, outerCommas: 0, integerDigits: 0 },
  })
  assert.equal(jsonShape(`[1,2,3,4,${rest}`, { commas: 2 }).commas, 3)
  assert.equal(jsonShape(`{"a":[1,2,3],"b":1,"c":2,${rest}`, { outerCommas: 1 }).outerCommas, 2)
  // What is within the limits is read to its end.
  const whole = '{"a":[1,22],"b":[[]]}'
  assert.deepEqual(jsonShape(whole, { depth: 3, commas: 2, outerCommas: 1 }), jsonShape(whole))
})
