import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openOgc, point } from './testing/open-ogc.ts'

/** A small generator with a seed, so that a failure can be seen again. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

test('pages of a box hold every feature in it once, whatever the limit', async (t) => {
  const service = await openOgc(t)
  const random = numbers(7)
  const features = Array.from({ length: 500 }, (_, i) =>
    point(Math.round(random() * 3600) / 10 - 180, Math.round(random() * 1800) / 10 - 90, { i }),
  )
  await service.publish('places', features)
  for (const bbox of ['-10,-20,100,60', '170,-90,-170,90', '-180,-90,180,90', '5,5,5,5']) {
    const [west, south, east, north] = bbox.split(',').map(Number) as [number, number, number, number]
    const expected = features
      .filter(({ geometry: { coordinates } }) => {
        const [x, y] = coordinates as [number, number]
        const inside = west <= east ? x >= west && x <= east : x >= west || x <= east
        return inside && y >= south && y <= north
      })
      .map(({ properties }) => (properties as { i: number }).i)
    const whole = await service.get(`/collections/places/items?bbox=${bbox}&limit=10000`)
    const order = whole.body.features.map((feature: { properties: { i: number } }) => feature.properties.i)
    assert.deepEqual(
      [...order].sort((a, b) => a - b),
      expected,
    )
    assert.equal(whole.body.numberMatched, expected.length)
    assert.equal(whole.body.numberReturned, expected.length)
    for (const limit of [1, 7, 100]) {
      if (expected.length / limit > 60) continue
      const paged = await service.readAll(`/collections/places/items?bbox=${bbox}&limit=${limit}`)
      assert.deepEqual(
        paged.map((feature) => feature.properties.i),
        order,
      )
    }
  }
})
