import assert from 'node:assert/strict'
import { test } from 'node:test'
import { optionsOfReading, readingOfOptions } from '../src/sources/source-reading.ts'

const filled = (options: object) =>
  Object.fromEntries(Object.entries(options).filter(([, option]) => option !== ''))

test('the form of a source keeps its options, and sends none that are empty', () => {
  assert.deepEqual(filled(optionsOfReading(readingOfOptions({}))), {})
  const options = {
    layer: 'stops',
    crs: 'EPSG:25832',
    idColumn: 'code',
    skipLines: 2,
    types: { zip: 'text', 'day = first': 'date' },
    geometry: false,
    skipInvalid: true,
  }
  assert.deepEqual(filled(optionsOfReading(readingOfOptions(options))), options)
})
