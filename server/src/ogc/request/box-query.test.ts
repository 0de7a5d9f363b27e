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

test('a box in Web Mercator that ends a rounding error beyond the world keeps its other edge', () => {
  const mercator = new CrsList([]).common.find(({ code }) => code === 'EPSG:3857')!
  const longitudes = (west: number, east: number) => {
    const { box } = readBox(`${west},-1000,${east},1000`, mercator)
    // Adding 0 makes -0 the same as 0.
    return [Math.round(box[0]) + 0, Math.round(box[2]) + 0]
  }
  const edge = Math.PI * 6378137
  for (const beyond of [0, 4e-9, 0.01, 1_000_000]) {
    assert.deepEqual(longitudes(-edge - beyond, 0), [-180, 0], `west, ${beyond} m beyond`)
    assert.deepEqual(longitudes(0, edge + beyond), [0, 180], `east, ${beyond} m beyond`)
    assert.deepEqual(longitudes(-edge - beyond, edge + beyond), [-180, 180], `both, ${beyond} m beyond`)
  }
})

test('a box in a compound CRS is read in the order of its horizontal part', () => {
  const list = new CrsList(['9528', 'EPSG:5845', '7415'])
  const boxOf = (code: string, text: string) =>
    readBox(text, list.common.find((crs) => crs.code === code)!).box.map((value) => Math.round(value))
  assert.deepEqual(boxOf('EPSG:9528', '-47,166,-34,179'), [166, -47, 179, -34])
  assert.deepEqual(boxOf('EPSG:9528', '-47,166,0,-34,179,100'), [166, -47, 179, -34])
  const [west, south, east, north] = boxOf('EPSG:5845', '6500000,480000,6510000,520000')
  assert.deepEqual(
    [south, north].map((latitude) => latitude! >= 58 && latitude! <= 59),
    [true, true],
  )
  assert.deepEqual(
    [west, east].map((longitude) => longitude! >= 14 && longitude! <= 16),
    [true, true],
  )
  assert.deepEqual(boxOf('EPSG:7415', '120000,480000,121000,481000'), [5, 52, 5, 52])
})

test("OGC's name of NAD83, longitude first, does not select EPSG's, latitude first", () => {
  const list = new CrsList(['4269'])
  const manifest = { source: { crs: null } } as never
  assert.equal(list.named('bbox-crs', 'EPSG:4269', manifest).northingFirst, true)
  assert.throws(() => list.named('bbox-crs', 'OGC:CRS83', manifest), /must be one of/)
})
