import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSnapshot } from '@wayleave/geodata/features'
import type { Value } from '@wayleave/geodata/geometry'
import { collection, compileText, feature } from '@wayleave/geodata/testing'
import { DEFAULT_LIMITS } from '../cql2/ast.ts'
import { conditionsOf } from '../testing/conditions.ts'
import type { Conditions } from './conditions.ts'
import { planConditions, planInSteps } from './plan-conditions.ts'

const POINT = { type: 'Point', coordinates: [1, 2] }

async function datasetOf(value: unknown) {
  const { folder } = await compileText(collection([feature({ value, time: '2025-01-01' }, POINT)]))
  const snapshot = await openSnapshot(folder)
  await snapshot.close()
  return { manifest: snapshot.manifest }
}

test('conditions are parsed once for a version, and every request has a plan of its own', async () => {
  const [numbers, texts] = [await datasetOf(1), await datasetOf('1')]
  const plan = planConditions(conditionsOf('value = 1'), numbers)
  const again = planConditions(conditionsOf('value = 1'), numbers)
  assert.equal(again!.condition, plan!.condition)
  // A plan remembers the last feature that it read.
  assert.notEqual(again, plan)
  assert.throws(() => planConditions(conditionsOf('value = 1'), texts), { code: 'invalid-filter' })
  const others: Conditions[] = [
    conditionsOf('value = 2'),
    { ...conditionsOf('value = 1'), properties: [{ column: 'value', value: '1' }] },
    { ...conditionsOf(''), filter: null, properties: [{ column: 'value', value: '1' }] },
    {
      ...conditionsOf('value = 1'),
      filter: {
        ...conditionsOf('value = 1').filter,
        language: 'cql2-json',
        text: '{"op":"=","args":[{"property":"value"},1]}',
      },
    },
  ]
  for (const conditions of others)
    assert.notEqual(planConditions(conditions, numbers)!.condition, plan!.condition)
})

test('limits of a filter apply although the same filter was planned without them', async () => {
  const dataset = await datasetOf(1)
  const conditions = conditionsOf('value = 1 OR value = 2 OR value = 3')
  assert.ok(planConditions(conditions, dataset))
  const limited = {
    ...conditions,
    filter: { ...conditions.filter, limits: { ...DEFAULT_LIMITS, length: 5, depth: 1, nodes: 1 } },
  }
  assert.throws(() => planConditions(limited, dataset), { code: 'invalid-filter' })
})

test('conditions that differ only in where one ends are not taken for each other', async () => {
  const dataset = await datasetOf('a')
  const plans = [
    [
      { column: 'value', value: 'a' },
      { column: 'time', value: '2025-01-01' },
    ],
    [{ column: 'value', value: 'a\n4 time 10 2025-01-01' }],
  ].map((properties) => planConditions({ filter: null, datetime: null, properties }, dataset))
  assert.notEqual(plans[0]!.condition, plans[1]!.condition)
})

test('work that a filter causes before a feature is read is bounded', async () => {
  const dataset = await datasetOf('a')
  const gear = (shift: number) => {
    const corners = Array.from({ length: 100 }, (_, i) => {
      const angle = ((i + shift) / 50) * Math.PI
      return `${(1 + (i % 2)) * Math.cos(angle)} ${(1 + (i % 2)) * Math.sin(angle)}`
    })
    return `POLYGON((${[...corners, corners[0]].join()}))`
  }
  const refused = [
    `S_TOUCHES(${gear(0)}, ${gear(0.4)})`,
    `casei(value) = casei('${'É'.repeat(10_001)}')`,
    `accenti(value) LIKE accenti('${'É'.repeat(10_001)}')`,
    Array(257).fill('S_INTERSECTS(geometry, POINT(1 2))').join(' OR '),
  ]
  for (const text of refused) {
    assert.throws(() => planConditions(conditionsOf(text), dataset), { code: 'invalid-filter' }, text)
  }
  assert.ok(planConditions(conditionsOf(`S_TOUCHES(geometry, ${gear(0)})`), dataset))
})

test('long values are read in a time that grows with their length', async () => {
  const dataset = await datasetOf(1)
  const digits = '9'.repeat(200_000)
  const of = (conditions: Partial<Conditions>) => () =>
    planConditions({ filter: null, datetime: null, properties: [], ...conditions }, dataset)
  // With a regular expression that tries several ways, each of these takes minutes.
  assert.throws(of({ properties: [{ column: 'value', value: `${digits}x` }] }), /must be a number/)
  assert.throws(of({ properties: [{ column: 'value', value: digits }] }), /more than 38 digits/)
  assert.throws(of({ datetime: `2025-01-01T00:00:00.${'0'.repeat(200_000)}1Z` }), /must be a date/)
  assert.ok(of({ datetime: `2025-01-01T00:00:00.5${'0'.repeat(200_000)}Z` })())
})

test('patterns of LIKE are bounded before they are read', async () => {
  const dataset = await datasetOf('a')
  const like = (pattern: string) => () => planConditions(conditionsOf(`value LIKE '${pattern}'`), dataset)
  assert.ok(like('%a_'.repeat(341))())
  assert.throws(like('%a_'.repeat(342)), { limit: 'filter-cost' })
})

test('others may have a turn after each part of planning that takes long', async () => {
  const dataset = await datasetOf('a')
  /** The geometries whose positions the current step has read. */
  const read = new Set<number>()
  const meetsRing = (number: number): Value => {
    const corners = Array.from({ length: 100 }, (_, i) => {
      const angle = (i / 50) * Math.PI
      return [number * 5 + Math.cos(angle), Math.sin(angle)]
    })
    const noted = [...corners, corners[0]!].map((corner) => {
      return new Proxy(corner, {
        get(target, name) {
          read.add(number)
          return Reflect.get(target, name)
        },
      })
    })
    return { op: 's_intersects', args: [{ property: 'geometry' }, { type: 'Polygon', coordinates: [noted] }] }
  }
  const { filter } = conditionsOf('')
  const json = { op: 'or', args: [meetsRing(0), meetsRing(1), meetsRing(2)] }
  const conditions: Conditions = {
    ...{ datetime: null, properties: [] },
    filter: { ...filter, text: '{}', json, language: 'cql2-json' },
  }
  const steps = planInSteps(conditions, dataset)
  const readBySteps: number[][] = []
  for (;;) {
    read.clear()
    const { done, value } = steps.next()
    readBySteps.push([...read])
    if (!done) continue
    assert.equal(value!.bbox?.length, 4)
    break
  }
  // Reading the filter, transforming it, checking it, each geometry, the plan.
  assert.deepEqual(readBySteps, [[0, 1, 2], [], [], [0], [1], [2], []])
})
