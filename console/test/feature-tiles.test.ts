import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FeatureTiles, type LoadedTile, type View } from '../src/map/feature-tiles.ts'

const feature = (id: number) => ({ type: 'Feature' as const, id, geometry: null, properties: {} })
const signal = new AbortController().signal

function tilesWith(loaded: Record<string, LoadedTile>) {
  const asked: string[] = []
  const tiles = new FeatureTiles(async (name) => {
    asked.push(name)
    return loaded[name]!
  })
  const fill = async (names: string[]) => {
    let last: View | undefined
    await tiles.fill(names, signal, (view) => {
      last = view
    })
    return last!
  }
  return { asked, fill }
}

test('a tile is asked for once, and none below one that is complete', async () => {
  const whole = { features: [feature(1), feature(2)], matched: 2, complete: true }
  const { asked, fill } = tilesWith({ '1/0/0': whole })
  await fill(['1/0/0'])
  await fill(['1/0/0'])
  const view = await fill(['3/1/2', '3/0/0'])
  assert.deepEqual(asked, ['1/0/0'])
  assert.equal(view.features.length, 2)
  assert.equal(view.complete, true)
})

test('a shape in several tiles is drawn once, and a crowded tile shows a count', async () => {
  const { fill } = tilesWith({
    '1/0/0': { features: [feature(1), feature(2)], matched: 2, complete: true },
    '1/1/0': { features: [feature(2)], matched: 1, complete: true },
    '1/0/1': { features: [feature(3)], matched: 900, complete: false },
    '1/1/1': { features: [feature(4)], matched: null, complete: false },
  })
  const view = await fill(['1/0/0', '1/1/0', '1/0/1', '1/1/1'])
  assert.deepEqual(
    view.features.map(({ id }) => id),
    [1, 2],
  )
  assert.deepEqual(view.counts, [
    { tile: '1/0/1', count: 900 },
    { tile: '1/1/1', count: null },
  ])
  assert.equal(view.matched, null)
  assert.equal(view.complete, false)
})
