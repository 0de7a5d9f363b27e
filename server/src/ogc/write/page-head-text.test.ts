import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Dataset } from '../../data/catalog/dataset.ts'
import { geojson } from '../request/encodings.ts'
import { readQuery } from '../request/query-string.ts'
import { keptPairs } from '../request/read-again.ts'
import { pageHead, pageLinks } from './geojson-page.ts'
import { pageHeadText } from './page-head-text.ts'

test('the head put together from parts is the head, a character a byte', () => {
  const name = fc.constantFrom('f', 'limit', 'cursor', 'offset', 'bbox', 'api_key', 'x"y', 'ü\\')
  const value = fc.string({ unit: 'binary', maxLength: 8 }).map((text) => text.replace(/[%&#]/g, ''))
  const query = fc.uniqueArray(fc.tuple(name, value), { selector: ([key]) => key })
  const matched = fc.constantFrom(null, 0, 123456789)
  const title = fc.string({ unit: 'binary' })
  fc.assert(
    fc.property(query, fc.constantFrom(null, 'AbC-_1'), matched, title, (given, next, total, name) => {
      const pairs = readQuery(`/x?${given.map(([key, text]) => `${key}=${text}`).join('&')}`)
      const dataset = { table: 'places', title: name } as Dataset
      keptPairs.add(pairs)
      const head = { returned: 7, matched: total, timeStamp: '2026-01-02T03:04:05.678Z' }
      // The same parameters are read once for pages that are requested again, with other cursors and on other hosts.
      for (const base of ['https://data.example.org', 'https://data.example.org', 'http://localhost']) {
        for (const cursor of [next, null, 'x']) {
          const text = pageHeadText({ ...head, dataset, base, pairs, next: cursor })
          const links = pageLinks(dataset, base, pairs, geojson, cursor)
          assert.deepEqual(Buffer.from(text, 'latin1'), Buffer.from(pageHead({ ...head, links })))
        }
      }
    }),
  )
})
