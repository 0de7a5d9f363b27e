import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Clause, clauseText, filterText } from '../src/explorer/filter/clause.ts'
import { clauseWords } from '../src/explorer/filter/clause-words.ts'
import { parseClauses } from '../src/explorer/filter/parse-clauses.ts'
import { clauseOfValue } from '../src/explorer/filter/value-clause.ts'

const types = new Map([
  ['mag', 'number'],
  ['net', 'text'],
  ['odd "name"', 'text'],
  ['in', 'integer'],
  ['time', 'timestamp'],
  ['day', 'date'],
  ['felt', 'boolean'],
])

const number = fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => !Object.is(value, -0))
const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('\\', 'a\\b', '\\%_', "\\'"))
/** Integers beyond 2^53 are texts. */
const unsafe = fc.constantFrom('9007199254740992', '-9007199254740993', '9223372036854775807')
/** Values with a backslash are written after the others. */
const written = (values: string[]) => [
  ...values.filter((value) => !value.includes('\\')),
  ...values.filter((value) => value.includes('\\')),
]
const unique = <T>(value: fc.Arbitrary<T>) => fc.uniqueArray(value, { minLength: 1, maxLength: 4 })

const valuesClause = fc.oneof(
  fc.record({ column: fc.constantFrom('net', 'odd "name"'), values: unique(text).map(written) }),
  fc.record({ column: fc.constant('in'), values: unique(fc.oneof(fc.maxSafeInteger(), unsafe)) }),
  fc.record({
    column: fc.constant('felt'),
    values: fc.constantFrom<boolean[][]>([true], [false], [true, false]),
  }),
)
const time = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
const rangeEnds = fc.oneof(
  fc.record({ column: fc.constant('mag'), from: fc.option(number), to: fc.option(number) }),
  fc.record({
    column: fc.constant('time'),
    from: fc.option(time.map((at) => at.toISOString())),
    to: fc.option(time.map((at) => at.toISOString())),
  }),
)
const clause: fc.Arbitrary<Clause> = fc.oneof(
  fc
    .tuple(valuesClause, fc.boolean())
    .map(([one, withNull]) => ({ kind: 'values' as const, ...one, withNull })),
  fc
    .tuple(rangeEnds, fc.boolean())
    .filter(([{ from, to }]) => from !== null || to !== null)
    .map(([ends, below]) => ({ kind: 'range' as const, ...ends, isBelow: ends.to !== null && below })),
  fc
    .tuple(
      fc.constantFrom<string[][]>(['net'], ['net', 'odd "name"']),
      fc.string({ unit: 'grapheme', minLength: 1 }),
    )
    .map(([columns, text]) => ({ kind: 'text' as const, columns, text })),
  fc.tuple(number, number, number, number).map((box) => ({ kind: 'box' as const, box })),
  fc
    .array(fc.tuple(number, number), { minLength: 4, maxLength: 6 })
    .map((ring) => ({ kind: 'area' as const, ring })),
)

test('the controls read back every filter that they write', () => {
  fc.assert(
    fc.property(clause, clause, (first, second) => {
      // Two clauses on one column are not what the controls write.
      const columnOf = (one: Clause) => ('column' in one ? one.column : one.kind)
      const clauses = columnOf(first) === columnOf(second) ? [first] : [first, second]
      assert.deepEqual(parseClauses(filterText(clauses, types), types), clauses)
    }),
  )
})

test('what no control can show is kept as it is', () => {
  const kept = (source: string) => parseClauses(source, types).map((one) => clauseText(one, types))
  assert.deepEqual(kept("mag > 4 AND net = 'us'"), ['mag > 4', "net = 'us'"])
  assert.deepEqual(kept('mag BETWEEN 1 AND 2 AND felt = TRUE'), ['mag BETWEEN 1 AND 2', 'felt = TRUE'])
  assert.deepEqual(kept("mag = 1 OR net = 'us'"), ["(mag = 1 OR net = 'us')"])
  assert.deepEqual(kept("(mag = 1 OR net = 'us')"), ["(mag = 1 OR net = 'us')"])
  assert.deepEqual(kept("net = 'no end"), ["(net = 'no end)"])
  assert.deepEqual(kept('unknown = 1'), ['unknown = 1'])
})

test('a value with a backslash becomes a pattern, which CQL2 can express', () => {
  const values: Clause = { kind: 'values', column: 'net', values: ['a\\'], withNull: false }
  assert.equal(clauseText(values, types), "net LIKE 'a\\\\'")
})

test('the value of a cell becomes a condition that the controls show, and its words', () => {
  const cells: [type: string, value: unknown, text: string, words: string][] = [
    ['text', "O'Brien", "x = 'O''Brien'", "x: O'Brien"],
    ['text', null, 'x IS NULL', 'x: (no value)'],
    ['boolean', false, 'x = FALSE', 'x: false'],
    ['number', 4.5, 'x >= 4.5 AND x <= 4.5', 'x: 4.5'],
    ['date', '2026-11-18', "x >= DATE('2026-11-18') AND x <= DATE('2026-11-18')", 'x: 2026-11-18'],
  ]
  for (const [type, value, text, words] of cells) {
    const types = new Map([['x', type]])
    const clause = clauseOfValue('x', type, value)!
    assert.equal(filterText([clause], types), text)
    assert.equal(clauseWords(clause), words)
    assert.deepEqual(parseClauses(text, types), [clause], 'it is read back')
  }
  assert.equal(clauseOfValue('x', 'json', { a: 1 }), null)
  assert.equal(clauseOfValue('x', undefined, 'a'), null, 'what is not a column of the dataset')
})
