import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { CODE_NAMES, withCodeNames } from '@wayleave/contract/code-names'
import { MEMBER_PERMISSIONS } from '@wayleave/contract/permissions'
import { amountText, minorUnits, money } from '../src/billing/money.ts'
import { rightsInWords } from '../src/organization/roles.ts'
import { RECEIVERS } from '../src/webhooks/receiver-examples.ts'
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

test('an amount is typed as people write it, in the digits of its currency', () => {
  for (const text of ['19', '19.0', '19.00', '19,00']) assert.equal(minorUnits(text, 'EUR'), 1900, text)
  for (const text of ['', '19.005', '1.900,00', '-1', '1e3', ' 19'])
    assert.equal(minorUnits(text, 'EUR'), null, text)
  assert.equal(minorUnits('0.07', 'USD'), 7)
  assert.equal(minorUnits('500', 'JPY'), 500)
  assert.equal(minorUnits('500.5', 'JPY'), null)
  assert.equal(minorUnits('1.5', 'KWD'), 1500)
  assert.equal(minorUnits('5', 'EU'), 500)
  for (const [amount, currency, text, words] of [
    [1900, 'EUR', '19.00', '€19.00'],
    [500, 'JPY', '500', '¥500'],
  ] as const) {
    assert.equal(amountText(amount, currency), text)
    assert.equal(money(amount, currency), words)
  }
})

test('the words of a description have no marks of Markdown', () => {
  assert.equal(
    withoutMarks('## Wells\n\n- **Deep** ones, see [the `map`](https://example.org).'),
    'Wells\nDeep ones, see the map.',
  )
})

test('no page has the code of an add-on or a permission in a sentence', () => {
  const folder = join(import.meta.dirname, '..', 'src')
  const codes = Object.keys(CODE_NAMES).join('|')
  // A code in a sentence has a space beside it; alone between quotation marks it is a value.
  const inSentence = new RegExp(`[^'\\n]* (?:${codes})\\b|\\b(?:${codes})[ .][^)\\n]*`)
  for (const file of globSync('**/*.{ts,tsx}', { cwd: folder })) {
    const code = readFileSync(join(folder, file), 'utf8').replace(/\/\*.*?\*\/|\/\/.*$/gms, '')
    assert.equal(inSentence.exec(code)?.[0], undefined, file)
  }
})

test('a sentence of the service has the names of add-ons and permissions', () => {
  const sentence = 'The organization lacks the add-on GIS_ACCESS.'
  assert.equal(withCodeNames(sentence), 'The organization lacks the add-on “Maps and GIS”.')
  assert.equal(withCodeNames('NOT_A_CODE, API_ACCESSES'), 'NOT_A_CODE, API_ACCESSES')
})

test('what a member may do fits into a few words, and the greater right stands for the smaller one', () => {
  assert.equal(rightsInWords([]), 'reads data')
  assert.equal(rightsInWords(['APIKEY_VIEW', 'BILLING_VIEW']), 'sees keys, sees usage')
  assert.equal(
    rightsInWords(['APIKEY_VIEW', 'APIKEY_CREATE', 'DATASET_PUBLISH', 'BILLING_VIEW', 'BILLING_MANAGE']),
    'manages keys, publishes, buys credits',
  )
  assert.equal(rightsInWords(MEMBER_PERMISSIONS), 'everything')
})

test('the receivers of webhooks are those of the documentation, which are run', () => {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'webhooks.md'), 'utf8')
  for (const { code } of Object.values(RECEIVERS)) assert.ok(page.includes(`\n${code}\n`))
})
