import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../exports/testing/compiled-fixture.ts'
import { FeatureSlices, readPack } from './pack-reader.ts'

test('features are found whole whatever their size and wherever a block ends', async (t) => {
  const folder = await temporaryFolder((remove) => t.after(remove))
  const sizes = [0, 10, 5_000_000, 1, ...Array.from({ length: 3000 }, (_, i) => (i * 7919) % 1500)]
  const features = sizes.map((size, i) => ({
    type: 'Feature',
    id: i % 2 === 0 ? i : `,"geometry":"\\ ${i}`,
    geometry:
      i % 3 === 0
        ? null
        : { type: 'MultiPoint', coordinates: Array.from({ length: size % 50 }, (_, n) => [n, i]) },
    properties: { text: 'x'.repeat(size), tricky: '"},\n{"type":"Feature","id":1,"properties":{"' },
  }))
  await writeFile(
    join(folder, 'features.pack'),
    features.map((feature) => JSON.stringify(feature)).join(',\n'),
  )
  const slices = new FeatureSlices()
  let at = 0
  for await (const { bytes, count, starts, ends } of readPack(folder, { rows: features.length })) {
    for (let i = 0; i < count; i++, at++) {
      slices.locate(bytes, starts[i]!, ends[i]!)
      const { id, geometry, properties } = features[at]!
      const text = (start: number, end: number) => bytes.toString('utf8', start, end)
      assert.equal(text(slices.idStart, slices.idEnd), JSON.stringify(id))
      assert.equal(text(slices.geometryStart, slices.geometryEnd), JSON.stringify(geometry))
      assert.equal(text(slices.propertiesStart, slices.propertiesEnd), JSON.stringify(properties))
    }
  }
  assert.equal(at, features.length)
})
