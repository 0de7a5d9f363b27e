import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { DuckDBInstance } from '@duckdb/node-api'
import {
  type CompiledColumn,
  readColumnDirectory,
  readCompiledColumn,
  writeColumns,
} from '@wayleave/geodata/features'
import { type Geometry, prepare } from '@wayleave/geodata/geometry'
import { type Manifest, SNAPSHOT_FILES } from '@wayleave/geodata/snapshot'
import fc from 'fast-check'
import { needs } from '../../../scripts/test-run/needs.ts'
import { compileCondition } from '../by-codes/compile-condition.ts'
import { PositionFilter } from '../by-codes/position-filter.ts'
import { ALL_POSITIONS, NO_POSITIONS, PositionMask } from '../by-codes/position-mask.ts'
import { BitCount } from '../count/bit-count.ts'
import { ENDED } from '../features/sliced-work.ts'
import { type FilterPlan, planFilter } from '../plan/plan-filter.ts'
import type { Expression, Operation } from './ast.ts'
import type { Condition } from './condition.ts'
import { evaluator } from './evaluate/evaluate.ts'
import { parseJson } from './parse/parse-json.ts'
import { parseText } from './parse/parse-text.ts'
import { printJson } from './parse/print-json.ts'
import { asFeature, createTable, openFilterDatabase, selected } from './testing/filter-table.ts'
import { printText } from './testing/print-text.ts'
import { COLUMNS, filter, type Row, row } from './testing/random-filters.ts'

needs('time')

/** Writes the table's columns as publishing does, and reads them back. */
async function compileTable(
  t: TestContext,
  instance: DuckDBInstance,
  rows: number,
  options: Parameters<typeof writeColumns>[4],
): Promise<ReadonlyMap<string, CompiledColumn>> {
  const folder = mkdtempSync(join(tmpdir(), 'filters-test-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const from = '(SELECT * FROM t ORDER BY position)'
  const columns = COLUMNS.map((known) => ({ ...known, isWide: known.name === 'wide' }))
  const path = join(folder, SNAPSHOT_FILES.columns)
  await writeColumns(path, { instance, from, rows }, columns, undefined, options)
  const files = { [SNAPSHOT_FILES.columns]: { bytes: statSync(path).size, sha256: '' } }
  const directory = await readColumnDirectory(folder, { rows, files } as unknown as Manifest)
  const compiled = new Map<string, CompiledColumn>()
  for (const stored of directory!.columns) {
    compiled.set(stored.name, await readCompiledColumn(folder, directory!, stored))
  }
  assert.deepEqual(
    new Set(compiled.keys()),
    new Set(COLUMNS.flatMap(({ name, type }) => (type === 'json' ? [] : [name]))),
  )
  return compiled
}

/** The positions that a filter selects by codes, found in each of the ways that there are; null if it cannot. */
async function selectedByCodes(
  condition: Condition,
  columns: ReadonlyMap<string, CompiledColumn>,
  features: Row[],
): Promise<number[] | null> {
  const count = features.length
  const maskOf = (part: Condition, wanted: boolean) => {
    const test = evaluator(part)
    const mask = new PositionMask(count)
    for (const [i, feature] of features.entries()) {
      if (test(asFeature(feature)) === wanted) mask.addRun(i, i + 1)
    }
    return mask
  }
  let expression = compileCondition(condition, columns, maskOf)
  while (Array.isArray(expression)) {
    for (const pending of expression) await pending.evaluate(async () => {})
    expression = compileCondition(condition, columns, maskOf)
  }
  if (expression === null) return null
  const filter = new PositionFilter(expression, count)
  const single = Array.from({ length: count }, (_, i) => i).filter(filter.matches)
  const collected = new Uint32Array(count)
  const collectedCount = filter.collect(0, count, collected)
  assert.deepEqual(single, [...collected.subarray(0, collectedCount)])
  assert.equal(filter.countMatches(0, count), single.length)
  const state = filter.blockState(0)
  if (state === NO_POSITIONS) assert.deepEqual(single, [])
  if (state === ALL_POSITIONS) assert.equal(single.length, count)
  if (filter.candidates) assert.deepEqual([...filter.collectCandidates(0)].filter(filter.matches), single)
  if (filter.exactCount !== null) assert.equal(filter.exactCount, single.length)
  // Pauses wherever it can.
  const counting = new BitCount(expression, count)
  while (counting.advance(0) !== ENDED);
  assert.equal(counting.count, single.length)
  return single
}

for (const wide of ['HUGEINT', 'DECIMAL(38, 0)']) {
  test(`random filters select the same rows by DuckDB, compiled columns and the interpreter (${wide})`, async (t) => {
    const { instance, connection } = await openFilterDatabase(t)
    const rows = fc.sample(row, { numRuns: 60, seed: 7 })
    await createTable(connection, rows, wide)
    // The columns of one table are ranked by the database, as those of large datasets are.
    const options = wide === 'HUGEINT' ? {} : { maxRanked: 0 }
    const compiled = await compileTable(t, instance, rows.length, options)
    const decided = { filters: 0, byCodes: 0 }
    await fc.assert(
      fc.asyncProperty(filter, async (expression) => {
        const plan = planFilter(expression, COLUMNS, { isSpatial: true })
        const expected = rows.flatMap((feature, i) => (plan.matches(asFeature(feature)) ? [i] : []))
        assert.deepEqual(await selected(connection, plan, rows), expected, plan.sql.where)
        const blind = planFilter(expression, COLUMNS, { isSpatial: true, usesTree: false })
        assert.deepEqual(await selected(connection, blind, rows), expected, blind.sql.where)
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

test('a product of exactly the smallest integer of 128 bits is null in both ways', async (t) => {
  const { connection } = await openFilterDatabase(t)
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
    assert.deepEqual(await selected(connection, plan, rows), expected, condition)
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
