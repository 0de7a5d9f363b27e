import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pointOf } from './coordinate-reader.ts'
import { refuseNonDataset } from './not-a-dataset.ts'
import { sniff } from './sniff.ts'

// With patterns that divide such a text in every possible way, these would not end.
const COMMENTS = '<!---->'.repeat(500)
const DRAWING_COMMENTS = `999\n${'\n'.repeat(2)}`.repeat(800)

test('a beginning of many comments is recognised at once', () => {
  assert.equal(sniff(Buffer.from(`${COMMENTS}<other>`)), 'xml')
  assert.equal(sniff(Buffer.from(`${COMMENTS}<Document><Placemark></Placemark></Document>`)), 'kml')
  refuseNonDataset(Buffer.from(`${COMMENTS}<other>`), false, 'a.xml')
  refuseNonDataset(Buffer.from(`${DRAWING_COMMENTS}1`), false, 'a.csv')
  const refuse = (text: string) => () => refuseNonDataset(Buffer.from(text), false, 'a.txt')
  assert.throws(refuse(`${COMMENTS}<html>`), /an HTML page/)
  assert.throws(refuse('999\nmade by a program\n  0\nSECTION\n  2\nHEADER\n'), /a DXF drawing/)
  assert.throws(refuse('0\r\nSECTION\r\n2\r\n'), /a DXF drawing/)
})

test('a long text of spaces is not a pair of coordinates', () => {
  assert.equal(pointOf(`1${' '.repeat(200_000)}x`, 'latitude-first'), null)
  assert.deepEqual(pointOf(' (52.5, 13.4) ', 'latitude-first'), [13.4, 52.5])
})
