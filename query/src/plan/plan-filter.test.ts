import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Column, Geometry } from '@wayleave/geodata/geometry'
import { lacks } from '../../../scripts/test-run/needs.ts'
import { Cql2Error } from '../cql2/cql2-error.ts'
import { mapGeometries } from '../cql2/map-geometries.ts'
import { parseJson } from '../cql2/parse/parse-json.ts'
import { parseText } from '../cql2/parse/parse-text.ts'
import { asFeature, createTable, openFilterDatabase, selected } from '../cql2/testing/filter-table.ts'
import { printText } from '../cql2/testing/print-text.ts'
import { COLUMNS, type Row } from '../cql2/testing/random-filters.ts'
import { planFilter } from './plan-filter.ts'

const place = (name: string, geometry: Geometry | null, values: Row['values'] = {}): Row => ({
  values: { text: name, ...values },
  geometry,
})
const point = (x: number, y: number): Geometry => ({ type: 'Point', coordinates: [x, y] })

const PLACES: Row[] = [
  place('Straße', point(1, 1), { count: 1, time: '2020-02-29T12:00:00Z', date: '2020-02-29', flag: true }),
  place('STRASSE', point(9, 9), { count: 2, time: '2020-03-01T00:00:00Z', date: '2020-03-01', flag: false }),
  place('papá', null, { count: null, number: 0.5, tags: ['a', 'b'] }),
  place('100%', point(179, 0), { count: 9007199254740993n, number: 2 }),
  place("O'Brien", point(-179, 0), { count: 5, number: -2, tags: ['b'] }),
]

const SELECTIONS: [filter: string, positions: number[]][] = [
  ["CASEI(text) = CASEI('strasse')", [0, 1]],
  ["ACCENTI(text) = ACCENTI('papa')", [2]],
  ["text LIKE '100\\%'", [3]],
  ["text LIKE '%''%'", [4]],
  ["text LIKE '%_''%r%n'", [4]],
  ["text LIKE '%\\%%%'", [3]],
  ["text LIKE 'S%a%ß_'", [0]],
  ["text LIKE '%S%A%S%E'", [1]],
  ["NOT text LIKE 'S%'", [2, 3, 4]],
  ['count = 9007199254740993', [3]],
  ['count = 9007199254740992', []],
  ['count > 1.5 AND count < 5.5', [1, 4]],
  ['count = 1.5', []],
  ['count IN (1.5, 2)', [1]],
  ['count IN (1.5)', []],
  ['NOT count IN (1.5)', [0, 1, 3, 4]],
  ['count IN (count, 7)', [0, 1, 3, 4]],
  ['count <> 1.5', [0, 1, 3, 4]],
  ['NOT count = 1', [1, 3, 4]],
  ['count IS NULL', [2]],
  ['count / 0 > 1 OR count % 0 = 1', []],
  ['count / 2 = 2.5', [4]],
  ['count DIV 2 = 2', [4]],
  ['-count = -5', [4]],
  ['number ^ 2 = 4', [3, 4]],
  ['number ^ 0.5 > 1', [3]],
  ['flag', [0]],
  ['NOT flag', [1]],
  ["date = '2020-02-29'", [0]],
  ["time = DATE('2020-02-29')", [0]],
  ["time > DATE('2020-02-29')", [1]],
  ["time >= TIMESTAMP('2020-02-29T13:00:00+01:00')", [0, 1]],
  ["time <> DATE('2020-02-29')", [1]],
  ["time <= DATE('9999-12-31')", [0, 1]],
  ["T_INTERSECTS(time, INTERVAL('..', '2020-02-29'))", [0]],
  ["T_AFTER(date, TIMESTAMP('2020-02-29T00:00:00Z'))", [1]],
  ["T_DURING(INTERVAL(date, time), INTERVAL('2020-02-28', '2020-03-02'))", [0, 1]],
  ['S_INTERSECTS(geometry, BBOX(0, 0, 2, 2))', [0]],
  ['S_INTERSECTS(geometry, BBOX(170, -1, -170, 1))', [3, 4]],
  ['NOT S_INTERSECTS(geometry, BBOX(0, 0, 2, 2))', [1, 3, 4]],
  ['S_DISJOINT(geometry, BBOX(0, 0, 2, 2))', [1, 3, 4]],
  ['S_WITHIN(geometry, POLYGON((0 0, 20 0, 0 20, 0 0)))', [0, 1]],
  ['S_INTERSECTS(geometry, BBOX(0, 0, 2, 2)) OR count = 2', [0, 1]],
  ['geometry IS NULL', [2]],
  ["A_CONTAINS(tags, ('a'))", [2]],
  ["A_OVERLAPS(tags, ('b', 'c'))", [2, 4]],
]

test('filters select what they say', async (t) => {
  const { connection } = await openFilterDatabase(t)
  await createTable(connection, PLACES, 'HUGEINT')
  for (const [source, expected] of SELECTIONS) {
    const plan = planFilter(parseText(source), COLUMNS, { isSpatial: true })
    assert.deepEqual(await selected(connection, plan, PLACES), expected, source)
    assert.deepEqual(
      PLACES.flatMap((feature, i) => (plan.matches(asFeature(feature)) ? [i] : [])),
      expected,
      source,
    )
  }
})

test('injection attempts are data: they select nothing, change nothing and are in no SQL', {
  skip: lacks('time'),
}, async (t) => {
  const { connection } = await openFilterDatabase(t)
  await createTable(connection, PLACES, 'HUGEINT')
  const attempts = [
    "'; DROP TABLE t; --",
    "' OR '1'='1",
    "\\'; DELETE FROM t; --",
    '$1); DROP TABLE t; --',
    "' UNION SELECT * FROM duckdb_settings() --",
    '/* */ OR TRUE',
  ]
  for (const attempt of attempts) {
    for (const op of ['=', 'like', 'in'] as const) {
      const second = op === 'in' ? [attempt] : attempt
      const json = JSON.stringify({ op, args: [{ property: 'text' }, second] })
      const plan = planFilter(parseJson(json), COLUMNS, { isSpatial: true })
      assert.ok(!plan.sql.where.includes('DROP') && !plan.sql.where.includes("'1'"))
      assert.deepEqual(await selected(connection, plan, PLACES), [])
    }
    const named = JSON.stringify({ op: 'isNull', args: [{ property: attempt }] })
    assert.throws(() => planFilter(parseJson(named), COLUMNS, { isSpatial: true }), Cql2Error)
  }
  const hostile: Column[] = [{ name: 'a" IS NULL OR TRUE; --', type: 'text', nullable: true }]
  const json = JSON.stringify({ op: 'isNull', args: [{ property: hostile[0]!.name }] })
  const { where } = planFilter(parseJson(json), hostile, { isSpatial: false }).sql
  assert.equal(where, '("a"" IS NULL OR TRUE; --" IS NULL)')
  const count = await connection.runAndReadAll('SELECT count(*) FROM t')
  assert.equal(count.getRows()[0]![0], BigInt(PLACES.length))
})

const REFUSED: [filter: string, message: RegExp][] = [
  ['unknown = 1', /The property unknown at character 1 is not one of this collection's/],
  ["count = 'x'", /is of an integer with text/],
  ['text = 1', /is of text with an integer/],
  ['text > date', /is of text with a date/],
  ["date = 'yesterday'", /neither a date .* nor a timestamp/],
  ['flag = 1', /is of a truth value with an integer/],
  ['count', /is an integer, but a condition is expected/],
  ["count LIKE '1%'", /LIKE at character 1 is for text/],
  ['text LIKE folded', /The pattern of LIKE at character 11 is not a text in quotes/],
  ['text + 1 = 2', /Arithmetic at character 1 is for numbers/],
  [`${'ACCENTI(CASEI('.repeat(3)}text${'))'.repeat(3)} = 'x'`, /nested more than 4 levels/],
  ['CASEI(count) = 1', /CASEI at character 1 is for text/],
  ['tags = 1', /holds nested values/],
  ['geometry = 1', /can only be used in a spatial function/],
  ['S_INTERSECTS(text, POINT(1 1))', /The property text at character 14 is not a geometry/],
  ['S_INTERSECTS(geometry, 1)', /is not a geometry/],
  ["T_DURING(date, INTERVAL('2020-01-01', '..'))", /is for two intervals/],
  ["T_AFTER(text, DATE('2020-01-01'))", /is text, not a date or timestamp/],
  ["T_AFTER(date, INTERVAL('2020-01-01', '2020-01-01T00:00:00Z'))", /a date at one end and a timestamp/],
  ["A_CONTAINS(text, ('a'))", /is text, not an array/],
]

test('a filter that does not fit the columns is refused with a sentence that says where', () => {
  for (const [source, message] of REFUSED) {
    assert.throws(
      () => planFilter(parseText(source), COLUMNS, { isSpatial: true }),
      (error) => error instanceof Cql2Error && message.test(error.message),
      source,
    )
  }
  const json = '{"op":"like","args":[{"property":"text"},"a\\\\"]}'
  assert.throws(() => planFilter(parseJson(json), COLUMNS, { isSpatial: true }), /ends with a backslash/)
  const inTable = () => planFilter(parseText('geometry IS NULL'), COLUMNS, { isSpatial: false })
  assert.throws(inTable, /The property geometry at character 1 is not one/)
})

test('the plan tells what each part of the work needs', () => {
  const plan = (source: string) => planFilter(parseText(source), COLUMNS, { isSpatial: true })
  const scalar = plan('count > 1')
  assert.equal(scalar.exact, null)
  assert.equal(scalar.bbox, null)
  const mixed = plan(
    'count > 1 AND S_INTERSECTS(geometry, BBOX(0, 0, 2, 2)) AND S_WITHIN(geometry, BBOX(-9, -9, 9, 9))',
  )
  assert.deepEqual(mixed.bbox, [0, 0, 2, 2])
  assert.equal(mixed.decide, null)
  const either = plan('S_INTERSECTS(geometry, BBOX(0, 0, 2, 2)) OR NOT S_DISJOINT(geometry, POINT(5 7))')
  assert.deepEqual(either.bbox, [0, 0, 5, 7])
  assert.equal(either.decide!(0, 0, 1, 1), undefined)
  assert.equal(either.decide!(0.5, 0.5, 1, 1), true)
  assert.equal(either.decide!(3, 3, 4, 4), false)
  assert.equal(plan('S_INTERSECTS(geometry, POINT(1 1)) OR count = 1').bbox, null)
  assert.equal(plan('NOT S_INTERSECTS(geometry, POINT(1 1))').bbox, null)
  const blind = planFilter(parseText('count = 1 AND S_WITHIN(geometry, BBOX(0, 0, 2, 2))'), COLUMNS, {
    isSpatial: true,
    usesTree: false,
  })
  assert.equal(blind.sql.where, '("count" = CAST($1 AS BIGINT))')
})

test('geometries of a filter can be moved from another CRS', () => {
  const swapped = mapGeometries(
    parseText('S_WITHIN(geometry, POINT(1 2)) OR S_TOUCHES(geometry, BBOX(0, 1, 2, 3))'),
    ([x, y]) => [y!, x!],
  )
  assert.equal(
    printText(swapped),
    'S_WITHIN("geometry", POINT(2 1)) OR S_TOUCHES("geometry", POLYGON((1 0, 1 2, 3 2, 3 0, 1 0)))',
  )
})

test('a geometry is an element of an array like any other value', () => {
  const plan = planFilter(parseText("A_CONTAINS(tags, (POINT(1 2), 'a'))"), COLUMNS, { isSpatial: true })
  const at = (...coordinates: number[]) => ({ type: 'Point', coordinates })
  for (const [tags, expected] of [
    [['a', at(1, 2)], true],
    [['a', at(1, 3)], false],
    [[at(1, 2)], false],
  ] as const) {
    assert.equal(plan.matches({ properties: { tags: [...tags] }, geometry: null }), expected)
  }
})
