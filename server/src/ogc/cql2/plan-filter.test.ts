import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { DuckDBBlobValue, type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import {
  type CompiledColumn,
  quoteName,
  readColumnDirectory,
  readCompiledColumn,
  writeColumns,
} from '@wayleave/geodata/features'
import { type Column, type Geometry, prepare } from '@wayleave/geodata/geometry'
import { type Manifest, SNAPSHOT_FILES } from '@wayleave/geodata/snapshot'
import fc from 'fast-check'
import { compileCondition } from '../select/compiled/compile-condition.ts'
import { RowFilter } from '../select/compiled/row-filter.ts'
import { ALL_ROWS, NO_ROWS, RowMask } from '../select/compiled/row-mask.ts'
import type { Expression, Operation } from './ast.ts'
import type { Condition } from './condition.ts'
import { Cql2Error } from './cql2-error.ts'
import type { DecideInBox } from './evaluate/decide-in-box.ts'
import { evaluator } from './evaluate/evaluate.ts'
import { mapGeometries } from './map-geometries.ts'
import { parseJson } from './parse/parse-json.ts'
import { parseText } from './parse/parse-text.ts'
import { printJson } from './parse/print-json.ts'
import { type FilterPlan, planFilter } from './plan-filter.ts'
import { printText, wkt } from './testing/print-text.ts'
import { COLUMNS, filter, type Row, row } from './testing/random-filters.ts'

const instance = await DuckDBInstance.create(':memory:')
const connection = await instance.connect()
await connection.run("SET TimeZone = 'UTC'")
const folder = mkdtempSync(join(tmpdir(), 'filters-test-'))
after(() => {
  connection.closeSync()
  rmSync(folder, { recursive: true })
})

const SQL_TYPES = {
  boolean: 'BOOLEAN',
  integer: 'BIGINT',
  number: 'DOUBLE',
  text: 'VARCHAR',
  date: 'DATE',
  timestamp: 'TIMESTAMPTZ',
  json: 'JSON',
}

/** Creates a table like rows.parquet. The column `wide` has the type that holds 38 digits. */
async function createTable(database: DuckDBConnection, rows: Row[], wide: string): Promise<void> {
  const types = COLUMNS.map(({ name, type }) => (name === 'wide' ? wide : SQL_TYPES[type]))
  const definitions = COLUMNS.map(({ name }, i) => `${quoteName(name)} ${types[i]}`)
  await database.run(
    `CREATE OR REPLACE TABLE t (${definitions.join(', ')}, geometry GEOMETRY, position INTEGER)`,
  )
  const values = [...types, 'GEOMETRY', 'INTEGER'].map((type, i) => `CAST($${i + 1} AS ${type})`).join(', ')
  for (const [position, { values: cells, geometry }] of rows.entries()) {
    const bound = COLUMNS.map(({ name, type }) => {
      const value = cells[name] ?? null
      if (value === null) return null
      return type === 'json' ? JSON.stringify(value) : String(value)
    })
    await database.run(`INSERT INTO t VALUES (${values})`, [...bound, geometry && wkt(geometry), position])
  }
}

/** Does what the caller of a plan does: runs the SQL, then the exact test on its results. */
async function selected(plan: FilterPlan, rows: Row[]): Promise<number[]> {
  const derived = Array.from(plan.sql.derived, ([name, made]) => `, ${made} AS ${quoteName(name)}`)
  const sql = `SELECT position FROM (SELECT *, position AS file_row_number${derived.join('')} FROM t) WHERE ${plan.sql.where} ORDER BY position`
  const values = plan.sql.params.map((value) => (typeof value === 'function' ? bits(value, rows) : value))
  const result = await connection.runAndReadAll(sql, values)
  const positions = result.getRows().map(([position]) => position as number)
  return positions.filter((position) => plan.exact === null || plan.exact(asFeature(rows[position]!)))
}

/**
 * A bit set of the positions that `decide` does not rule out by the geometry's box, and of those without a
 * box.
 */
function bits(decide: DecideInBox, rows: Row[]): DuckDBBlobValue {
  const bytes = new Uint8Array(Math.ceil(rows.length / 8))
  rows.forEach(({ geometry }, position) => {
    const box = geometry && prepare(geometry)
    const decided = !box || box.isEmpty ? undefined : decide(box.west, box.south, box.east, box.north)
    if (decided === true || decided === undefined) bytes[position >>> 3]! |= 0x80 >>> (position & 7)
  })
  return new DuckDBBlobValue(bytes)
}

/** Writes the table's columns as publishing does, and reads them back. */
async function compileTable(
  database: DuckDBConnection,
  rows: number,
): Promise<ReadonlyMap<string, CompiledColumn>> {
  const from = '(SELECT * FROM t ORDER BY position)'
  const columns = COLUMNS.map((known) => ({ ...known, isWide: known.name === 'wide' }))
  const path = join(folder, SNAPSHOT_FILES.columns)
  await writeColumns(path, { connection: database, from, rows }, columns)
  const files = { [SNAPSHOT_FILES.columns]: { bytes: statSync(path).size, sha256: '' } }
  const directory = await readColumnDirectory(folder, { rows, files } as unknown as Manifest)
  const compiled = new Map<string, CompiledColumn>()
  for (const stored of directory!.columns) {
    compiled.set(stored.name, await readCompiledColumn(folder, rows, stored))
  }
  assert.deepEqual(
    [...compiled.keys()],
    COLUMNS.flatMap(({ name, type }) => (type === 'json' ? [] : [name])),
  )
  return compiled
}

/** The rows that a filter selects by codes, found in each of the ways that there are; null if it cannot. */
async function selectedByCodes(
  condition: Condition,
  columns: ReadonlyMap<string, CompiledColumn>,
  features: Row[],
): Promise<number[] | null> {
  const count = features.length
  const maskOf = (part: Condition, wanted: boolean) => {
    const test = evaluator(part)
    const mask = new RowMask(count)
    for (const [i, feature] of features.entries()) {
      if (test(asFeature(feature)) === wanted) mask.addRun(i, i + 1)
    }
    return mask
  }
  let rows = compileCondition(condition, columns, maskOf)
  while (Array.isArray(rows)) {
    for (const pending of rows) await pending.evaluate(async () => {})
    rows = compileCondition(condition, columns, maskOf)
  }
  if (rows === null) return null
  const filter = new RowFilter(rows, count)
  const single = Array.from({ length: count }, (_, i) => i).filter(filter.matches)
  const collected = new Uint32Array(count)
  const collectedCount = filter.collectRows(0, count, collected)
  assert.deepEqual(single, [...collected.subarray(0, collectedCount)])
  const state = filter.blockState(0)
  if (state === NO_ROWS) assert.deepEqual(single, [])
  if (state === ALL_ROWS) assert.equal(single.length, count)
  if (filter.candidates) assert.deepEqual([...filter.collectCandidates(0)].filter(filter.matches), single)
  if (filter.exactCount !== null) assert.equal(filter.exactCount, single.length)
  return single
}

function asFeature({ values, geometry }: Row) {
  return { properties: values, geometry }
}

for (const wide of ['HUGEINT', 'DECIMAL(38, 0)']) {
  test(`random filters select the same rows by DuckDB, compiled columns and the interpreter (${wide})`, async () => {
    const rows = fc.sample(row, { numRuns: 60, seed: 7 })
    await createTable(connection, rows, wide)
    const compiled = await compileTable(connection, rows.length)
    const decided = { filters: 0, byCodes: 0 }
    await fc.assert(
      fc.asyncProperty(filter, async (expression) => {
        const plan = planFilter(expression, COLUMNS, { isSpatial: true })
        const expected = rows.flatMap((feature, i) => (plan.matches(asFeature(feature)) ? [i] : []))
        assert.deepEqual(await selected(plan, rows), expected, plan.sql.where)
        const blind = planFilter(expression, COLUMNS, { isSpatial: true, usesTree: false })
        assert.deepEqual(await selected(blind, rows), expected, blind.sql.where)
        for (const position of plan.bbox === null ? [] : expected) {
          assert.ok(meets(plan.bbox!, rows[position]!.geometry!), 'a match lies outside the box')
        }
        if (plan.decide) assertDecided(plan, rows)
        const byCodes = await selectedByCodes(plan.condition, compiled, rows)
        if (byCodes) assert.deepEqual(byCodes, expected, JSON.stringify(plan.sql.where))
        decided.filters++
        if (byCodes) decided.byCodes++
      }),
      { numRuns: 300 },
    )
    // Many of the random filters compare several columns or use nested values.
    assert.ok(decided.byCodes > decided.filters / 4, `${decided.byCodes} of ${decided.filters}`)
  })
}

test('a product of exactly the smallest integer of 128 bits is null in both ways', async () => {
  const counts = [-(2n ** 63n), -(2n ** 63n) + 1n, 2n ** 63n - 1n, 1n, 0n]
  const rows = fc.sample(row, { numRuns: counts.length, seed: 7 }).map((sample, i) => ({
    ...sample,
    values: { ...sample.values, count: counts[i]! },
  }))
  await createTable(connection, rows, 'HUGEINT')
  for (const condition of ['IS NULL', '= 0', '<> 7']) {
    const filter = parseText(`18446744073709551616 * count ${condition}`)
    const plan = planFilter(filter, COLUMNS, { isSpatial: true })
    const expected = rows.flatMap((feature, i) => (plan.matches(asFeature(feature)) ? [i] : []))
    assert.deepEqual(await selected(plan, rows), expected, condition)
  }
})

/**
 * Asserts that what `decide` returns for a box is true of all geometries in it: for a geometry's own box, and
 * for one that also contains others.
 */
function assertDecided({ decide, matches }: FilterPlan, rows: Row[]): void {
  const boxes = rows.flatMap(({ geometry }, i) => {
    const box = geometry && prepare(geometry)
    return box && !box.isEmpty ? [{ ...box, matched: matches(asFeature(rows[i]!)) }] : []
  })
  for (const [i, box] of boxes.entries()) {
    const own = decide!(box.west, box.south, box.east, box.north)
    if (own !== undefined) assert.equal(own === true, box.matched)
    const other = boxes[(i + 1) % boxes.length]!
    const wide = decide!(
      Math.min(box.west, other.west),
      Math.min(box.south, other.south),
      Math.max(box.east, other.east),
      Math.max(box.north, other.north),
    )
    if (wide !== undefined) assert.deepEqual([box.matched, other.matched], [wide === true, wide === true])
  }
}

function meets([west, south, east, north]: number[], geometry: Geometry): boolean {
  const box = prepare(geometry)
  return box.west <= east! && box.east >= west! && box.south <= north! && box.north >= south!
}

test('integers are compared with numbers exactly, whatever their size', () => {
  const literal = (value: number | bigint): Expression => ({ kind: 'literal', value, at: '' })
  const count: Expression = { kind: 'property', name: 'count', at: '' }
  const call = (op: Operation, ...args: Expression[]): Expression => ({ kind: 'call', op, args, at: '' })
  const integer = fc.oneof(
    fc.integer({ min: -5, max: 5 }),
    fc.constantFrom<number | bigint>(2n ** 53n + 1n, -(2n ** 63n), 2n ** 64n, 10n ** 38n - 1n, BigInt(1e38)),
  )
  const number = fc.oneof(
    integer,
    fc.integer({ min: -12, max: 12 }).map((quarters) => quarters / 4),
    fc.constantFrom(0.1, 2 ** 53, 9.3e18, 1e38, -1e38, 1e39, -1e300),
  )
  // JavaScript itself compares a bigint with a double exactly.
  const cases = fc.property(integer, number, number, (value, a, b) => {
    const list: Expression = { kind: 'array', items: [literal(a), literal(b)], at: '' }
    const equals = (other: number | bigint) => value >= other && value <= other
    const meanings: [Expression, boolean][] = [
      [call('<', count, literal(a)), value < a],
      [call('>=', literal(a), count), a >= value],
      [call('<>', count, literal(a)), !equals(a)],
      [call('between', count, literal(a), literal(b)), value >= a && value <= b],
      [call('in', count, list), equals(a) || equals(b)],
      [call('not', call('in', count, list)), !equals(a) && !equals(b)],
    ]
    for (const [expression, expected] of meanings) {
      const { matches } = planFilter(expression, COLUMNS, { isSpatial: true })
      assert.equal(matches({ properties: { count: value }, geometry: null }), expected, printText(expression))
    }
  })
  fc.assert(cases, { numRuns: 1000 })
})

test('a filter survives the way through text and through JSON', () => {
  fc.assert(
    fc.property(filter, (expression) => {
      const json = printJson(expression)
      assert.equal(printJson(parseJson(json)), json)
      assert.equal(printJson(parseText(printText(expression))), json)
    }),
    { numRuns: 1500 },
  )
})

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

test('filters select what they say', async () => {
  await createTable(connection, PLACES, 'HUGEINT')
  for (const [source, expected] of SELECTIONS) {
    const plan = planFilter(parseText(source), COLUMNS, { isSpatial: true })
    assert.deepEqual(await selected(plan, PLACES), expected, source)
    assert.deepEqual(
      PLACES.flatMap((feature, i) => (plan.matches(asFeature(feature)) ? [i] : [])),
      expected,
      source,
    )
  }
})

test('injection attempts are data: they select nothing, change nothing and are in no SQL', async () => {
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
      assert.deepEqual(await selected(plan, PLACES), [])
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
