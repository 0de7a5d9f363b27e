import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openOgc, point } from '../testing/open-ogc.ts'

/** Spread over the world, so that a build takes longer than publishing three points. */
const many = Array.from({ length: 4000 }, (_, i) =>
  point(((i * 137.508) % 360) - 180, ((i * 61.803) % 160) - 80, { name: `place ${i}` }),
)

test('a version that is removed while its tiles are built is not a failed build', async (t) => {
  const service = await openOgc(t, { settings: { tiles: true, keepVersions: 1 } })
  const { finished, running } = service.parts.runner
  await service.publish('places', many)
  service.parts.tileBuilds.request(await service.parts.catalog.find('places'))
  while (running.tiles === 0) await sleep(5)
  await service.publish('places', many.slice(0, 3))
  service.parts.tileBuilds.request(await service.parts.catalog.find('places'))
  while (finished.tiles.done + finished.tiles.failed + finished.tiles.cancelled < 2) await sleep(20)
  assert.deepEqual(finished.tiles, { done: 1, failed: 0, cancelled: 1 })
  const errors = service.logLines.map((line) => JSON.parse(line)).filter(({ level }) => level >= 50)
  assert.deepEqual(errors, [])
})
