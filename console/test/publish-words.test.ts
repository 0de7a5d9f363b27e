import assert from 'node:assert/strict'
import { test } from 'node:test'
import { publishWords } from '../src/administration/publish-words.ts'
import { fieldSentence } from '../src/api/field-sentence.ts'
import { fixesOf } from '../src/publishing/fixes.ts'

test('messages about publishing name the fields of the form, not options of the command line', () => {
  const cases = [
    ['a.csv is not UTF-8. Name it with --encoding.', 'a.csv is not UTF-8. Name it with “Encoding”.'],
    ['Name another with --crs, such as --crs EPSG:25832.', 'Name another with “CRS”, such as EPSG:25832.'],
    [
      'If so, publish with --longitude x --latitude y.',
      'If so, publish with “Column of longitudes” x and “Column of latitudes” y.',
    ],
    [
      'To keep it, publish with --no-geometry.',
      'To keep it, publish with the box “Publish a table without geometry”.',
    ],
    ['Publish it with --format csv.', 'Publish it with “Format” csv.'],
    [
      'Correct it, or publish it with --ignore-schema (ignoreSchema=true).',
      'Correct it, or publish it with the box “Publish although it differs from the schema”.',
    ],
    ['Column a--b stays text.', 'Column a--b stays text.'],
  ]
  for (const [message, words] of cases) assert.equal(publishWords(message!), words)
})

test('what is wrong with a field names the field, unless it is a sentence of its own', () => {
  const sentence = (message: string) => fieldSentence({ path: '/expiresAt', message })
  assert.equal(sentence('must be in the future'), 'Expires at must be in the future.')
  assert.equal(sentence('Say how often'), 'Say how often.')
})

test('a failure leads to its fix: buttons and fields that publish again', () => {
  const labels = (message: string, badRows = 0, validRows: number | null = null) =>
    fixesOf([message], badRows, validRows).map(({ label }) => label)
  const [layer] = fixesOf(['a.gpkg has 2 layers: roads, Old towns. Choose one with --layer.'], 0, null)
  assert.deepEqual(layer, {
    kind: 'choice',
    label: 'Layer',
    field: 'layer',
    options: ['roads', 'Old towns'],
    isFree: false,
  })
  assert.deepEqual(labels('depth is no number', 4, 996), ['Publish the 996 valid rows'])
  assert.deepEqual(labels('depth is no number', 4), ['Publish the valid rows'])
  const swapped = 'The two seem to be swapped; if so, publish with --longitude lat --latitude lon.'
  assert.deepEqual(labels(swapped), ['Use lat and lon as coordinates'])
  assert.deepEqual(labels('If the day comes first, publish with --type day=date.'), ['Read day as date'])
  assert.deepEqual(labels('If the day comes first, publish with --type Date of birth=date.'), [
    'Read Date of birth as date',
  ])
  assert.deepEqual(labels('If it is a title, leave it out with --skip-lines 1.'), [
    'Leave out the first line',
  ])
  assert.deepEqual(labels('Name it with --encoding.'), ['Encoding'])
  const crs = fixesOf(
    ['It names its CRS only after its features. Name it with --crs EPSG:31370.'],
    0,
    null,
  )[0]
  assert.deepEqual(crs!.kind === 'choice' && crs!.options[0], 'EPSG:31370')
  assert.deepEqual(labels('The file is damaged.'), [])
})
