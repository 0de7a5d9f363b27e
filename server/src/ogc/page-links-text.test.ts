import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Dataset } from '../catalog/dataset.ts'
import { geojson } from './encodings.ts'
import { pageLinks } from './geojson-page.ts'
import { pageLinksText } from './page-links-text.ts'
import { readQuery } from './query-string.ts'

test('the links made as text are the links', () => {
  const name = fc.constantFrom('f', 'limit', 'cursor', 'offset', 'bbox', 'api_key', 'x"y', 'ü\\')
  const value = fc.string({ unit: 'binary', maxLength: 8 }).map((text) => text.replace(/[%&#]/g, ''))
  const query = fc.uniqueArray(fc.tuple(name, value), { selector: ([key]) => key })
  fc.assert(
    fc.property(
      query,
      fc.constantFrom(null, 'AbC-_1'),
      fc.string({ unit: 'binary' }),
      (given, next, title) => {
        const pairs = readQuery(`/x?${given.map(([key, text]) => `${key}=${text}`).join('&')}`)
        const dataset = { table: 'places', title } as Dataset
        const links = pageLinks(dataset, 'https://data.example.org', pairs, geojson, next)
        assert.deepEqual(JSON.parse(pageLinksText(dataset, 'https://data.example.org', pairs, next)), links)
      },
    ),
  )
})
