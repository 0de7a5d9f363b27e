import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoredNotes } from './column-notes.ts'

test('notes on columns are parsed when one is first asked for', () => {
  const broken = new StoredNotes('{')
  assert.throws(() => broken.of('depth'), SyntaxError)
})

test('a column that is named like a built-in member of objects has its own notes only', () => {
  const notes = new StoredNotes('{"depth":{"unit":"km"},"toString":{"title":"Text"}}')
  assert.deepEqual(
    ['depth', 'toString', 'constructor', '__proto__'].map((name) => notes.of(name)),
    [{ unit: 'km' }, { title: 'Text' }, undefined, undefined],
  )
})
