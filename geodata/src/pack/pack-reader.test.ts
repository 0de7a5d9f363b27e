import assert from 'node:assert/strict'
import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../exports/testing/compiled-fixture.ts'
import { PackRange } from './pack-range.ts'
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

  const file = await open(join(folder, 'features.pack'))
  t.after(() => file.close())
  const { size } = await file.stat()
  const range = new PackRange(file)
  for (const rangeBytes of [1 << 12, 99_991, size, size + 1]) {
    at = 0
    for (let start = 0; start < size; start += rangeBytes) {
      const { bytes, count, starts, ends } = await range.read(start, Math.min(size, start + rangeBytes))
      for (let i = 0; i < count; i++, at++)
        assert.equal(bytes.toString('utf8', starts[i]!, ends[i]!), JSON.stringify(features[at]))
    }
    assert.equal(at, features.length, `${rangeBytes}`)
  }
})
