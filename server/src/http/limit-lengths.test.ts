import assert from 'node:assert/strict'
import { test } from 'node:test'
import Ajv from 'ajv'
import { limitLengths } from './limit-lengths.ts'

test('lengths are counted in characters, with the errors of Ajv', () => {
  const texts = [
    '',
    'a',
    'ab',
    'abc',
    'abcd',
    'abcdefgh',
    '😀',
    '😀b',
    '😀😀',
    '😀😀b',
    '😀😀😀',
    '😀😀😀😀',
    '\ud83d',
    '\ud83d\ud83d\ud83d',
  ]
  for (const schema of [
    { type: 'string', minLength: 0, maxLength: 0 },
    { type: 'string', minLength: 1, maxLength: 3, pattern: '^[^a]*$' },
    { type: 'string', minLength: 3, maxLength: 2 },
    { type: 'object', properties: { text: { type: 'string', maxLength: 2 } } },
  ]) {
    const own = limitLengths(new Ajv.default({ allErrors: true })).compile(schema)
    const original = new Ajv.default({ allErrors: true }).compile(schema)
    for (const text of texts.flatMap((each) => [each, { text: each }, 1])) {
      assert.deepEqual(
        [own(text), own.errors],
        [original(text), original.errors],
        JSON.stringify({ schema, text }),
      )
    }
  }
})
