import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_PARAMETERS, routedUrl, tooManyParameters } from './parameter-count.ts'

const names = (count: number) => Array.from({ length: count }, (_, i) => `a${i}`).join('&')

test('a URL has at most 500 parameters, of which empty ones do not count', () => {
  const long = `filter=${'x'.repeat(5000)}`
  for (const url of [
    '/a',
    `/${'a'.repeat(5000)}`,
    `/${'a&'.repeat(5000)}`,
    `/a?${long}`,
    `/a?${names(MAX_PARAMETERS)}`,
    `/a?&&${names(MAX_PARAMETERS)}&&`,
    `/a?${'&'.repeat(60_000)}`,
    `/a?${names(MAX_PARAMETERS - 1)}&${long}`,
  ]) {
    assert.equal(tooManyParameters(url), null, url.slice(0, 40))
    assert.equal(routedUrl(url), url)
  }
  for (const url of [
    `/a?${names(MAX_PARAMETERS + 1)}`,
    `/a?${'a&'.repeat(MAX_PARAMETERS)}a`,
    `/a?${'&a'.repeat(30_000)}`,
  ]) {
    assert.equal(tooManyParameters(url)?.detail, 'query: has more than 500 parameters.')
    assert.equal(routedUrl(url), '/a')
  }
})
