import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchesEtag } from './matches-etag.ts'

test('a condition names a tag by itself, in a list, weakly, or by a star; part of a tag is another tag', () => {
  for (const header of ['"a"', 'W/"a"', '"x", "a"', ' W/"a" ,"x"', '*', ' * ']) {
    for (const tag of ['"a"', 'W/"a"']) assert.equal(matchesEtag(header, tag), true, `${header} ${tag}`)
  }
  for (const header of [undefined, '', '"b"', 'a', '"ab"', '"x,a"', '"a', '**']) {
    for (const tag of ['"a"', 'W/"a"']) assert.equal(matchesEtag(header, tag), false, `${header} ${tag}`)
  }
})
