import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { deserialize } from 'flatgeobuf/lib/mjs/geojson.js'
import { buildExport } from '../index.ts'
import { compileFeatures, type FixtureFeature, temporaryFolder } from '../testing/compiled-fixture.ts'

test('a search in the index finds the features that a search of all finds', async (t) => {
  t.mock.method(console, 'debug', () => {})
  const root = await temporaryFolder((remove) => t.after(remove))
  const features: FixtureFeature[] = Array.from({ length: 1000 }, (_, i) => ({
    geometry:
      i % 50 === 0 ? null : { type: 'Point', coordinates: [((i * 37) % 360) - 180, ((i * 59) % 170) - 85] },
    properties: { number: i },
  }))
  const { folder } = await compileFeatures(join(root, 'snapshot'), features)
  await buildExport(folder, 'fgb', join(root, 'out'), { table: 'points' })
  const bytes = new Uint8Array(await readFile(join(root, 'out')))
  for (const [minX, minY, maxX, maxY] of [
    [-180, -90, 180, 90],
    [-20, -20, 30, 40],
    [100, 10, 100, 10],
    [0, 0, 1, 1],
  ] as const) {
    const found: number[] = []
    for await (const { properties } of deserialize(bytes, { rect: { minX, minY, maxX, maxY } })) {
      found.push(properties!['number'])
    }
    const wanted = features.flatMap(({ geometry, properties }) => {
      if (geometry?.type !== 'Point') return []
      const [x, y] = geometry.coordinates as [number, number]
      return x >= minX && x <= maxX && y >= minY && y <= maxY ? [properties['number'] as number] : []
    })
    assert.deepEqual(
      found.toSorted((a, b) => a - b),
      wanted,
    )
  }
})
