import assert from 'node:assert/strict'
import { test } from 'node:test'
import { period, shapeName, withoutMarks } from '../src/words.ts'

test('the kind of a dataset is one word for single and multi-part shapes', () => {
  const cases: [string | null, string[], string][] = [
    [null, [], 'Table'],
    ['Point', ['Point'], 'Points'],
    ['Geometry', ['Point', 'MultiPoint'], 'Points'],
    ['MultiLineString', ['MultiLineString'], 'Lines'],
    ['Geometry', ['Polygon', 'MultiPolygon'], 'Polygons'],
    ['Geometry', ['LineString', 'MultiPolygon'], 'Mixed shapes'],
    ['GeometryCollection', ['GeometryCollection'], 'Collections'],
    ['Geometry', [], 'Shapes'],
  ]
  for (const [geometryType, geometryTypes, word] of cases) {
    assert.equal(shapeName({ geometryType, geometryTypes }), word, geometryTypes.join())
  }
})

test('a time range is shown by its days, in UTC', () => {
  assert.equal(period(['2018-01-31T01:49:59.65Z', '2018-02-07T01:26:13.84Z']), '31 Jan 2018 to 7 Feb 2018')
  assert.equal(period(['2020-02-29', '2020-02-29']), '29 Feb 2020')
  assert.equal(period(['0044-03-15', '1999-12-31T23:59:59.999999Z']), '15 Mar 44 to 31 Dec 1999')
})

test('the words of a description have no marks of Markdown', () => {
  assert.equal(
    withoutMarks('## Wells\n\n- **Deep** ones, see [the `map`](https://example.org).'),
    'Wells\nDeep ones, see the map.',
  )
})
