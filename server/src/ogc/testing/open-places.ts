import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type OgcService, openOgc, point } from './open-ogc.ts'

/** 400 points over the world and 3,000 in one degree. */
export function places() {
  let seed = 11
  const random = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return seed / 2 ** 32
  }
  return Array.from({ length: 3400 }, (_, i) => {
    const [longitude, latitude] =
      i < 400 ? [random() * 360 - 180, random() * 170 - 85] : [9 + random(), 47 + random()]
    const year = 2000 + (i % 20)
    const properties = { name: `place ${i}`, kind: 'abc'[i % 3]!, day: `${year}-05-01`, n: i }
    return { ...point(longitude, latitude, properties, i + 1), properties }
  })
}

export async function openPlaces(t: TestContext, settings = {}): Promise<OgcService> {
  const service = await openOgc(t, { settings: { tileMaxZoom: 5, ...settings } })
  await service.publish('places', places())
  return service
}

/** Waits until the tiles of a dataset are built, or have failed. */
export async function waitForTiles(service: OgcService, table = 'places') {
  for (;;) {
    const { body } = await service.request('GET', `/v1/dataset/${table}`)
    if (body.tiles.state === 'ready' || body.tiles.state === 'failed') return body.tiles
    assert.ok(['pending', 'building'].includes(body.tiles.state))
    await sleep(50)
  }
}
