import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchesEtag, preferredEncoding } from './headers.ts'

test('a condition names a tag by itself, in a list, weakly, or by a star; part of a tag is another tag', () => {
  for (const header of ['"a"', 'W/"a"', '"x", "a"', ' W/"a" ,"x"', '*', ' * ']) {
    for (const tag of ['"a"', 'W/"a"']) assert.equal(matchesEtag(header, tag), true, `${header} ${tag}`)
  }
  for (const header of [undefined, '', '"b"', 'a', '"ab"', '"x,a"', '"a', '**']) {
    for (const tag of ['"a"', 'W/"a"']) assert.equal(matchesEtag(header, tag), false, `${header} ${tag}`)
  }
})

test('no client gets a content coding that it did not name or refused', () => {
  const expected: [header: string, encoding: string][] = [
    ['identity;q=0', 'identity'],
    ['*;q=0', 'identity'],
    ['gzip;q=0, identity;q=0', 'identity'],
    ['zstd;q=0, identity;q=0, gzip;q=0.1', 'gzip'],
    ['identity;q=0, *', 'zstd'],
    ['br, deflate', 'identity'],
    ['gzip;q=0.5, identity', 'identity'],
    ['X-GZIP', 'gzip'],
    ['gzip ; q = 0', 'identity'],
    ['gzip;q=0, *', 'zstd'],
    ['zstd, gzip', 'zstd'],
  ]
  for (const [header, encoding] of expected)
    assert.equal(preferredEncoding(header, ['zstd', 'gzip']), encoding, header)
  assert.equal(preferredEncoding('*', ['gzip']), 'gzip')
  assert.equal(preferredEncoding('zstd, gzip;q=0', ['gzip']), 'identity')
})

test('an endless Accept-Encoding is ignored, and not kept', () => {
  assert.equal(preferredEncoding('gzip', ['gzip']), 'gzip')
  assert.equal(preferredEncoding(`${'a;q=0.1, '.repeat(1000)}gzip`, ['gzip']), 'identity')
})
