import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readBox } from './box-query.ts'
import { CrsList } from './crs-list.ts'

test('a place on the edge of a box in Web Mercator lies in it', () => {
  const mercator = new CrsList([]).named('bbox-crs', 'EPSG:3857', { source: { crs: null } } as never)
  for (let longitude = -180; longitude <= 180; longitude += 0.5) {
    for (const latitude of [-85, -60.25, -10, 0, 33, 71.125, 85]) {
      const [x, y] = mercator.fromWgs84!([longitude, latitude]) as [number, number]
      const [, , east, north] = readBox(`${[x - 1e5, y - 1e5, x, y]}`, mercator).box
      assert.ok(east >= longitude && north >= latitude, `${longitude},${latitude} is at ${east},${north}`)
      const [west, south] = readBox(`${[x, y, x + 1e5, y + 1e5]}`, mercator).box
      assert.ok(west <= longitude && south <= latitude, `${longitude},${latitude} is at ${west},${south}`)
    }
  }
})
