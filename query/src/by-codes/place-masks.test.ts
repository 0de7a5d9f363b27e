import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextIteration } from 'node:timers/promises'
import { openSnapshot } from '@wayleave/geodata/features'
import { collection, compileText, feature } from '@wayleave/geodata/testing'
import { GeometryCache } from '../features/geometry-cache.ts'
import { planConditions } from '../plan/plan-conditions.ts'
import { conditionsOf } from '../testing/conditions.ts'
import { type PendingMask, PlaceMasks } from './place-masks.ts'
import { PositionMask } from './position-mask.ts'

/** The lines cross the triangle or pass it, which their boxes do not tell. */
const TRIANGLE = 'S_INTERSECTS(geometry, POLYGON((0 0, 10 0, 0 10, 0 0)))'

async function openLines() {
  const lines = Array.from(
    { length: 100 },
    (_, i) =>
    feature({ i }, { type: 'LineString', coordinates: [[i / 10, 9], [9, i / 10]] }), // biome-ignore format: one line
  )
  const snapshot = await openSnapshot((await compileText(collection(lines))).folder)
  const { condition } = planConditions(conditionsOf(TRIANGLE), snapshot)!
  const masks = new PlaceMasks(new GeometryCache(1 << 20))
  const of = () => masks.of(snapshot, condition, true)
  return { snapshot, of, pending: () => of() as PendingMask }
}

test('requests that need one mask at the same time make it once', async () => {
  const { snapshot, of, pending } = await openLines()
  const pauses = [0, 0, 0]
  const evaluations = pauses.map((_, i) =>
    pending().evaluate(async () => {
      pauses[i]!++
      await nextIteration()
    }),
  )
  await Promise.all(evaluations)
  assert.ok(pauses[0]! > 10, 'the mask is made in steps')
  assert.deepEqual(pauses.slice(1), [1, 1])
  const mask = of()
  assert.ok(mask instanceof PositionMask)
  assert.ok(mask.count > 0 && mask.count < 100)
  await snapshot.close()
})

test('if the request that makes a mask is aborted, another one makes it', async () => {
  const { snapshot, of, pending } = await openLines()
  const aborted = pending().evaluate(() => Promise.reject(new Error('the client has disconnected')))
  const waiting = pending().evaluate(() => nextIteration())
  await assert.rejects(aborted, /disconnected/)
  await waiting
  await pending().evaluate(() => nextIteration())
  assert.ok(of() instanceof PositionMask)
  await snapshot.close()
})
