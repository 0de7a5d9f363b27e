import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { exportColumns } from '../../snapshot/feature-ids.ts'
import { encodePack } from '../encode-pack.ts'
import { integerSizes } from '../integer-ranges.ts'
import { compileFeatures, temporaryFolder } from '../testing/compiled-fixture.ts'
import { NASTY_FEATURES } from '../testing/nasty-features.ts'

test('several threads encode the same features in the same order as one', async (t) => {
  const root = await temporaryFolder((remove) => t.after(remove))
  const { folder, manifest } = await compileFeatures(join(root, 'snapshot'), NASTY_FEATURES)
  const sizes = await integerSizes(folder, exportColumns(manifest))
  for (const format of ['kml', 'gpkg', 'fgb'] as const) {
    const encode = async (threads: number) => {
      const options = { threads, minParallelBytes: 0, rangeBytes: 500 }
      const features: unknown[] = []
      for await (const encoded of encodePack({ folder, manifest, format, table: 'nasty', sizes }, options)) {
        const { count, bytes, lengths, boxes, ids } = encoded
        for (let i = 0, at = 0; i < count; at += lengths[i++]!) {
          const feature = bytes.toString('latin1', at, at + lengths[i]!)
          features.push([feature, boxes.slice(i * 4, i * 4 + 4), ids[i]])
        }
      }
      return features
    }
    const alone = await encode(1)
    assert.equal(alone.length, NASTY_FEATURES.length)
    assert.deepEqual(await encode(2), alone, format)
  }
})

test('threads that ended while nobody took their batches are started again', async (t) => {
  const root = await temporaryFolder((remove) => t.after(remove))
  const { folder, manifest } = await compileFeatures(join(root, 'snapshot'), NASTY_FEATURES)
  const work = { folder, manifest, format: 'kml' as const, table: 'nasty', sizes: [] }
  const options = { threads: 2, minParallelBytes: 0, rangeBytes: 200, idleMs: 0 }
  let features = 0
  for await (const { count } of encodePack(work, options)) {
    features += count
    // Whatever was asked for is encoded meanwhile, and the timers of idle threads fire.
    await delay(50)
  }
  assert.equal(features, NASTY_FEATURES.length)
})
