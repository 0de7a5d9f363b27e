import assert from 'node:assert/strict'
import { test } from 'node:test'
import { optionHints, publishWords } from '../src/administration/publish-words.ts'

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
    ['Publish it with --format csv.', 'Publish it with --format csv.'],
    ['Column a--b stays text.', 'Column a--b stays text.'],
  ]
  for (const [message, words] of cases) assert.equal(publishWords(message!), words)
})

test('hints say where the fields are, and which options only the command line has', () => {
  assert.deepEqual(optionHints(['Name it with --crs.', 'Or name it with --crs.']), [
    'What the form can set is under “How to read the file”.',
  ])
  assert.deepEqual(optionHints(['Publish it with --format csv.']), [
    '--format is an option of the command “wayleave publish”.',
  ])
  assert.deepEqual(optionHints(['The file is damaged.']), [])
})
