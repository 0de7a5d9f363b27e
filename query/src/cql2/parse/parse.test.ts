import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseText as parseOracle } from 'cql2-wasm'
import { DEFAULT_LIMITS } from '../ast.ts'
import { Cql2Error } from '../cql2-error.ts'
import { fromJson, parseJson } from './parse-json.ts'
import { parseText } from './parse-text.ts'
import { printJson } from './print-json.ts'
import { Tokenizer } from './tokens.ts'

const tree = (source: string): unknown => JSON.parse(printJson(parseText(source)))

const SAME_AS_ORACLE = [
  'a = 1',
  "a<>'x'",
  'a < 1.5',
  '1 = a',
  'a = b',
  'a=true',
  'TRUE',
  'a BETWEEN 1 AND 2',
  'a not between b and c + 1',
  'a IN (1, 2, 3)',
  "a NOT IN ('x', 'y')",
  'a IS NULL',
  'a IS NOT NULL',
  "name LIKE 'Smith%'",
  "name NOT LIKE 'Smith_'",
  "CASEI(road_class) = casei('Straße')",
  "CASEI(road_class) IN (CASEI('Οδος'), CASEI('Straße'))",
  "ACCENTI(CASEI(a)) LIKE accenti(casei('x%'))",
  'a + 2 * 3 = b - 1 - 2',
  '(a + 2) * 3 / 4 > 1',
  'a ^ 2 = 1',
  'a % 2 = 1',
  '-a = b',
  'NOT a = 1 AND b = 2',
  'NOT (a = 1 AND b = 2)',
  'a = 1 OR b = 2 AND c = 3',
  'a = 1 AND b = 2 AND c = 3',
  '(a = 1 OR b = 2) AND (c = 3 OR NOT d = 4)',
  'NOT NOT a = 1',
  'größe = 1',
  'eo:cloud_cover = 0.1',
  'a.b.c = 1',
  '日本 = 1',
  'S_INTERSECTS(geometry, POINT(1 2))',
  'S_INTERSECTS(geometry, POINT(36.319836 -32.288087))',
  'S_CROSSES(road, LINESTRING(43.7286 -79.2986, 43.7311 -79.2996))',
  'S_WITHIN(geometry, POLYGON((0 0, 4 0, 4 4, 0 0), (1 1, 2 1, 2 2, 1 1)))',
  'S_EQUALS(geometry, MULTIPOINT((1 2), (3 4)))',
  'S_EQUALS(geometry, MULTIPOINT(1 2, 3 4))',
  'S_TOUCHES(geometry, MULTILINESTRING((0 0, 1 1), (2 2, 3 3)))',
  'S_OVERLAPS(geometry, MULTIPOLYGON(((0 0, 1 0, 1 1, 0 0)), ((5 5, 6 5, 6 6, 5 5))))',
  'S_CONTAINS(geometry, GEOMETRYCOLLECTION(POINT(1 2), LINESTRING(0 0, 1 1)))',
  'S_DISJOINT(POINT(1 2), geometry)',
  "d > DATE('1970-01-01')",
  "d = TIMESTAMP('1969-07-20T20:17:40Z')",
  "T_AFTER(d, DATE('2020-01-01'))",
  "T_BEFORE(d, TIMESTAMP('2020-01-01T00:00:00Z'))",
  "T_INTERSECTS(d, INTERVAL('1969-07-16T05:32:00Z', '1969-07-24T16:50:35Z'))",
  "T_DURING(INTERVAL(a, b), INTERVAL('2019-09-09', '..'))",
  "T_MEETS(INTERVAL('..', '2019-09-09'), INTERVAL(a, b))",
  "A_CONTAINS(tags, ('a', 'b'))",
  "A_EQUALS(('a', 1, true), tags)",
]

test('the parser makes the tree that the reference parser makes', () => {
  for (const source of SAME_AS_ORACLE) {
    assert.deepEqual(tree(source), JSON.parse(parseOracle(source).to_json_pretty()), source)
  }
})

/**
 * Filters for which the reference parser deviates from the standard's grammar or JSON schema, and we do not.
 */
const UNLIKE_ORACLE: [source: string, json: unknown, why: string][] = [
  ["a = 'it''s'", { op: '=', args: [{ property: 'a' }, "it's"] }, 'it ends the text at the doubled quote'],
  ["a = 'it\\'s'", { op: '=', args: [{ property: 'a' }, "it's"] }, 'it ends the text at the escaped quote'],
  ['a DIV 2 = 1', { op: '=', args: [{ op: 'div', args: [{ property: 'a' }, 2] }, 1] }, 'it ends before DIV'],
  ['a = -5', { op: '=', args: [{ property: 'a' }, -5] }, 'it multiplies a negative number by minus one'],
  ['a = 1e3', { op: '=', args: [{ property: 'a' }, 1000] }, 'it fails on exponents'],
  ['a = .5', { op: '=', args: [{ property: 'a' }, 0.5] }, 'it ends before numbers without a leading digit'],
  ['"a b" = 1', { op: '=', args: [{ property: 'a b' }, 1] }, 'it refuses names with spaces'],
  ['"a""b" = 1', { op: '=', args: [{ property: 'a"b' }, 1] }, 'it ends at a doubled quote in a name'],
  ['a IN (1)', { op: 'in', args: [{ property: 'a' }, [1]] }, 'it takes a list of one for its element'],
  ['A_EQUALS(a, (1))', { op: 'a_equals', args: [{ property: 'a' }, [1]] }, 'so it does with arrays'],
  [
    'S_INTERSECTS(g, BBOX(1, 2, 3, 4))',
    { op: 's_intersects', args: [{ property: 'g' }, { bbox: [1, 2, 3, 4] }] },
    'the schema has a bbox as a member, not an operation',
  ],
  [
    'S_WITHIN(g, POINT Z(1 2 3))',
    { op: 's_within', args: [{ property: 'g' }, { type: 'Point', coordinates: [1, 2, 3] }] },
    'it drops heights',
  ],
  [
    'T_METBY(INTERVAL(a, b), INTERVAL(c, d))',
    {
      op: 't_metBy',
      args: [
        { interval: [{ property: 'a' }, { property: 'b' }] },
        { interval: [{ property: 'c' }, { property: 'd' }] },
      ],
    },
    'the schema has a capital letter',
  ],
]

test('the grammar and schema of the standard decide where the reference parser departs from them', () => {
  for (const [source, expected, why] of UNLIKE_ORACLE) {
    assert.deepEqual(tree(source), expected, source)
    let oracle: unknown = null
    try {
      oracle = JSON.parse(parseOracle(source).to_json_pretty())
    } catch {}
    assert.notDeepEqual(oracle, expected, `${source}: no longer true that ${why}`)
  }
})

test('keywords and functions are case-insensitive, column names are not', () => {
  assert.deepEqual(tree("A Like 'x' aNd NoT b iS nUlL"), tree("A LIKE 'x' AND NOT b IS NULL"))
  assert.deepEqual(
    tree('t_OverlappedBy(interval(a,b), INTERVAL(c,d))'),
    tree('T_OVERLAPPEDBY(INTERVAL(a, b), INTERVAL(c, d))'),
  )
  assert.notDeepEqual(tree('A = 1'), tree('a = 1'))
})

test('a column may have the name of a constructor or of a geometry', () => {
  for (const name of ['date', 'timestamp', 'interval', 'point', 'bbox', 'casei', 'z', 'div', 'polygon']) {
    assert.deepEqual(tree(`${name} = 1`), { op: '=', args: [{ property: name }, 1] })
  }
  assert.deepEqual(tree('"and" = 1'), { op: '=', args: [{ property: 'and' }, 1] })
})

test('integers are exact at any size up to 38 digits, in text and in JSON', () => {
  for (const digits of ['9007199254740993', '-9223372036854775808', '9'.repeat(38)]) {
    assert.equal(printJson(parseText(`a = ${digits}`)), `{"op":"=","args":[{"property":"a"},${digits}]}`)
    const json = `{"op":"=","args":[{"property":"a"},${digits}]}`
    assert.equal(printJson(parseJson(json)), json)
  }
})

const BAD_TEXT: [source: string, message: RegExp][] = [
  ['', /^The filter ends where a property/],
  ['a =', /^The filter ends where a property/],
  ['a = 1 b', /At character 7 of the filter, before b, AND, OR or the end is expected/],
  ['a = 1 AND', /^The filter ends where/],
  ['a == 1', /At character 4 .* before =/],
  ['= 1', /At character 1/],
  ['a = 1)', /At character 6/],
  ['(a = 1', /ends where "\)" is expected/],
  ["a = 'x", /The text that begins at character 5 of the filter has no end/],
  ['"a = 1', /The name that begins at character 1 of the filter has no end/],
  ['a = 1; DROP TABLE x', /Character 6 of the filter, ";", has no meaning there/],
  ['a IS 1', /NULL or NOT NULL is expected/],
  ['a IS NOT 1', /NULL is expected/],
  ['a NOT = 1', /LIKE, BETWEEN or IN is expected/],
  ['a BETWEEN 1 OR 2', /AND and the upper limit of BETWEEN is expected/],
  ['a IN ()', /is expected/],
  ['a IN 1', /"\(" is expected/],
  ['a = 2 ^ 3 ^ 4', /parentheses around the first power/],
  ['a = b = c', /AND, OR or the end is expected/],
  ['foo(a) = 1', /The function foo at character 1 is not one that this service has/],
  ['CASEI(a, b) = 1', /CASEI at character 1 takes one argument/],
  ['S_INTERSECTS(geometry)', /S_INTERSECTS at character 1 takes 2 arguments/],
  ['S_INTERSECTS(geometry, POINT(1))', /a number is expected/],
  ['S_INTERSECTS(geometry, POLYGON((0 0, 1 0, 1 1)))', /A ring of the geometry at character 24/],
  ['S_INTERSECTS(geometry, LINESTRING(0 0))', /only one position/],
  ['S_INTERSECTS(geometry, BBOX(1, 2, 3))', /The box at character 24/],
  ['S_INTERSECTS(geometry, BBOX(1, 5, 3, 4))', /south of the box/],
  ["d = DATE('2021-02-29')", /The date at character 5/],
  ["d = TIMESTAMP('2021-02-28')", /The timestamp at character 5/],
  ["d = TIMESTAMP('2021-02-28T25:00:00Z')", /The timestamp at character 5/],
  ["d = TIMESTAMP('2021-02-28T00:00:00.1234567Z')", /at most six digits/],
  ['a = 1e999', /too large/],
  [`a = ${'9'.repeat(39)}`, /more than 38 digits/],
  ['a = --1', /is expected/],
]

test('a filter that was parsed with the body of a request has the same limits', () => {
  const equals = (value: bigint) => fromJson({ op: '=', args: [{ property: 'a' }, value] }, DEFAULT_LIMITS)
  assert.ok(equals(10n ** 38n - 1n))
  assert.throws(() => equals(-(10n ** 38n)), /more than 38 digits/)
  assert.throws(() => fromJson(Array(5000).fill(1), DEFAULT_LIMITS), /more than 4096 parts/)
})

test('a wrong text is refused with a sentence that says where and what was expected', () => {
  for (const [source, message] of BAD_TEXT) {
    assert.throws(
      () => parseText(source),
      (error) => error instanceof Cql2Error && message.test(error.message),
      source,
    )
  }
})

const BAD_JSON: [source: string, message: RegExp][] = [
  ['', /not valid JSON/],
  ['{', /not valid JSON/],
  ['null', /has null at \$/],
  ['{}', /The object at \$ is none of an operation/],
  ['{"op":"=","args":[1]}', /The operation = at \$ takes 2 args/],
  ['{"op":"and","args":[true]}', /takes at least 2 args/],
  ['{"op":"=","args":[{"property":1},2]}', /The property at \$\.args\[0\] is not a text/],
  ['{"op":"drop","args":[]}', /The operation drop at \$ is not one that this service has/],
  ['{"op":"="}', /lacks an array of args/],
  ['{"op":"in","args":[{"property":"a"},1]}', /is not an array/],
  ['{"op":"=","args":[{"property":"a"},{"date":"x"}]}', /The date at \$\.args\[1\]/],
  ['{"op":"=","args":[{"property":"a"},"\\ud800"]}', /not valid Unicode/],
  ['{"op":"s_within","args":[{"property":"geometry"},{"type":"Pt"}]}', /a type that GeoJSON does not define/],
  [
    '{"op":"s_within","args":[{"property":"geometry"},{"type":"Point","coordinates":[1]}]}',
    /two or three numbers/,
  ],
  ['{"op":"s_within","args":[{"property":"geometry"},{"type":"Point"}]}', /lacks an array of coordinates/],
  ['{"op":"s_within","args":[{"property":"geometry"},{"type":"Polygon","coordinates":[[]]}]}', /A ring/],
  ['{"op":"t_after","args":[{"property":"d"},{"interval":["2020-01-01"]}]}', /not an array of two/],
]

test('a wrong JSON is refused with a sentence that says where', () => {
  for (const [source, message] of BAD_JSON) {
    assert.throws(
      () => parseJson(source),
      (error) => error instanceof Cql2Error && message.test(error.message),
      source,
    )
  }
})

test('a filter that is refused is not read to its end', () => {
  const tokens = new Tokenizer('('.repeat(200_000))
  for (let i = 0; i < 65; i++) assert.equal(tokens.next().text, '(')
  assert.equal(tokens.position, 65)
  // The unknown character is behind what is refused, so it is never seen.
  for (const start of ['('.repeat(70), `a IN (${Array(5000).fill(1).join()}`])
    assert.throws(() => parseText(`${start} ;`), /more than/)
})

test('length, depth and number of parts are bounded in both forms', () => {
  const isRefused = (parse: () => unknown, message: RegExp) =>
    assert.throws(parse, (error) => error instanceof Cql2Error && message.test(error.message))
  isRefused(() => parseText(`a = '${'x'.repeat(70_000)}'`), /longer than 65536/)
  isRefused(() => parseText(`${'('.repeat(30_000)}a = 1`), /more than 64 levels/)
  isRefused(() => parseText(`${'NOT '.repeat(10_000)}a`), /more than 64 levels/)
  isRefused(() => parseText(`a = 1${' + 1'.repeat(10_000)}`), /more than 64 levels/)
  isRefused(() => parseText(`S_WITHIN(g, ${'GEOMETRYCOLLECTION('.repeat(3000)}`), /more than 64 levels/)
  isRefused(() => parseText(`A_EQUALS(a, ${'('.repeat(30_000)}`), /more than 64 levels/)
  isRefused(() => parseText(`a IN (${Array(5000).fill(1).join()})`), /more than 4096 parts/)
  isRefused(() => parseJson(`${'['.repeat(30_000)}`), /more than 64 levels/)
  isRefused(
    () => parseJson(`${'{"op":"not","args":['.repeat(65)}true${']}'.repeat(65)}`),
    /more than 64 levels/,
  )
  isRefused(() => parseJson(`{"op":"and","args":[${Array(5000).fill(true).join()}]}`), /more than 4096 parts/)
  const line = Array(20_000).fill('0 0').join()
  const bodyLimits = { ...DEFAULT_LIMITS, length: 262_144 }
  const json = `{"type":"LineString","coordinates":[${Array(20_000).fill('[0,0]').join()}]}`
  const long = /more than 16384 positions/
  isRefused(() => parseText(`S_WITHIN(g, LINESTRING(${line}))`, bodyLimits), long)
  isRefused(() => parseJson(`{"op":"s_within","args":[{"property":"g"},${json}]}`, bodyLimits), long)
  const many = `{"op":"and","args":[${Array(100_000).fill(1).join()}]}`
  isRefused(() => parseJson(many, bodyLimits), /more than 4096 parts/)
  assert.ok(parseText(`${'('.repeat(60)}a = 1${')'.repeat(60)}`))
})
