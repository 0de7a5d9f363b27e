import assert from 'node:assert/strict'
import { test } from 'node:test'
import { needs } from '../../../../../scripts/test-run/needs.ts'
import { publishText } from '../../../testing/publish.ts'
import { openOgc } from '../../testing/open-ogc.ts'
import { openPlaces, waitForTiles } from '../../testing/open-places.ts'
import { previewTiles } from './preview.ts'

needs('time')

test('a preview is drawn from tiles, shows all parts of the data, and is small', async (t) => {
  const service = await openPlaces(t)
  const absent = await service.request('GET', '/v1/dataset/none/preview')
  const early = await service.request('GET', '/v1/dataset/places/preview')
  const earlyPicture = await service.request('GET', '/v1/dataset/places/thumbnail.svg')
  assert.deepEqual([absent.status, early.status, earlyPicture.status], [404, 200, 200])
  // The first request for a tile begins the build.
  assert.equal((await service.get('/collections/places/tiles/WebMercatorQuad/0/0/0')).status, 503)
  await waitForTiles(service)
  const { status, body, headers } = await service.request('GET', '/v1/dataset/places/preview')
  assert.equal(status, 200)
  const dotsOf = ({ points }: { points: string }) =>
    [...points.matchAll(/M(-?[\d.]+) (-?[\d.]+)h0/g)].map(([, x, y]) => [Number(x), -Number(y)])
  const dots = dotsOf(body)
  // Before the tiles are built, the points of the index are drawn; tiles round them to their grid.
  const isNear = ([x, y]: number[]) =>
    dots.some((dot) => Math.abs(dot[0]! - x!) < 4 && Math.abs(dot[1]! - y!) < 4)
  assert.ok(dotsOf(early.body).length > 100 && dotsOf(early.body).every(isNear))
  assert.notEqual(headers.get('etag'), early.headers.get('etag'))
  assert.ok(dots.length > 100 && body.points.length < 70_000)
  const quarters = new Set(dots.map(([x, y]) => `${x! < 0} ${y! < 0}`))
  assert.equal(quarters.size, 4)
  const unchanged = await service.request('GET', '/v1/dataset/places/preview', {
    headers: { 'if-none-match': headers.get('etag')! },
  })
  assert.equal(unchanged.status, 304)
  const picture = await service.request('GET', '/v1/dataset/places/thumbnail.svg')
  assert.equal(picture.headers.get('content-type'), 'image/svg+xml')
  assert.match(picture.text, /^<svg [^>]*viewBox="[-\d. ]+"[^>]*><path [^>]*d="M/)
})

test('a preview does not give the coordinates of points away, least of all without a free sample', async (t) => {
  const service = await openOgc(t)
  const width = 0.04
  const places = Array.from({ length: 300 }, (_, i) => [
    5.1 + ((i * 0.618033988749) % 1) * width,
    52.1 + ((i * 0.754877666247) % 1) * width,
  ])
  const content = JSON.stringify({
    type: 'FeatureCollection',
    features: places.map((coordinates, i) => {
      return { type: 'Feature', properties: { i }, geometry: { type: 'Point', coordinates } }
    }),
  })
  /** The share of the points that have a dot within `pixels` of a map that is 400 pixels wide. */
  const found = async (table: string, pixels: number) => {
    const { body } = await service.request('GET', `/v1/dataset/${table}/preview`)
    const dots = [...body.points.matchAll(/M(-?[\d.]+) (-?[\d.]+)h0/g)].map(([, x, y]) => [x, -y])
    const near = (a: number, b: number) => Math.abs(a - b) < (pixels * width) / 400
    return places.filter(([x, y]) => dots.some((dot) => near(dot[0], x!) && near(dot[1]!, y!))).length / 300
  }
  for (const sample of [true, false]) {
    const table = sample ? 'open' : 'closed'
    await publishText(service, table, 'places.geojson', content, { sample })
    service.get(`/collections/${table}/tiles/WebMercatorQuad/0/0/0`)
    await waitForTiles(service, table)
  }
  assert.ok((await found('open', 1.5)) > 0.9, 'each is shown')
  assert.ok((await found('open', 0.25)) < 0.2)
  assert.ok((await found('closed', 4)) > 0.9)
  assert.ok((await found('closed', 1)) < 0.3)
})

test('a preview of many detailed areas shows all of them, with fewer details', async (t) => {
  const service = await openOgc(t, { settings: { tileMaxZoom: 1 } })
  const circles = Array.from({ length: 1600 }, (_, i) => {
    const [longitude, latitude] = [(i % 40) * 8.8 - 172, Math.floor(i / 40) * 3.9 - 76]
    const ring = Array.from({ length: 61 }, (_, j) => {
      const angle = ((j % 60) * Math.PI) / 30
      return [longitude + 3 * Math.cos(angle), latitude + 1.5 * Math.sin(angle)]
    })
    return { type: 'Feature', properties: { i }, geometry: { type: 'Polygon', coordinates: [ring] } }
  })
  await service.publish('circles', circles)
  service.get('/collections/circles/tiles/WebMercatorQuad/0/0/0')
  await waitForTiles(service, 'circles')
  const { body } = await service.request('GET', '/v1/dataset/circles/preview')
  assert.ok(body.areas.length + body.points.length < 70_000)
  const starts = [...`${body.areas}${body.points}`.matchAll(/M(-?[\d.]+) (-?[\d.]+)/g)]
  const cells = new Set(
    starts.map(([, x, y]) => `${Math.floor(Number(x) / 36)} ${Math.floor(Number(y) / 20)}`),
  )
  assert.equal(cells.size, 10 * 8, [...cells].sort().join(', '))
})

test('the preview of an area in several tiles has its borders, and no edges of tiles', async (t) => {
  const service = await openOgc(t, { settings: { tileMaxZoom: 3 } })
  const square = (west: number, south: number, size: number) => {
    const [east, north] = [west + size, south + size]
    const corners = [west, south, east, south, east, north, west, north, west, south]
    const ring = Array.from({ length: 5 }, (_, i) => corners.slice(i * 2, i * 2 + 2))
    return { type: 'Feature', properties: {}, geometry: { type: 'Polygon', coordinates: [ring] } }
  }
  // The large square lies in four tiles, whose corner is at 0, 0; the small one in one of them.
  await service.publish('squares', [square(-10, -10, 20), square(4, 4, 2)])
  service.get('/collections/squares/tiles/WebMercatorQuad/0/0/0')
  await waitForTiles(service, 'squares')
  const { body } = await service.request('GET', '/v1/dataset/squares/preview')
  const parts = (path: string) =>
    path
      .split('M')
      .slice(1)
      .map((part) =>
        part
          .replace('Z', '')
          .split('L')
          .map((text) => text.split(' ').map(Number)),
      )
  const isNear = (value: number, other: number) => Math.abs(Math.abs(value) - other) < 0.2
  const segments = parts(body.lines).flatMap((part) => part.slice(1).map((to, i) => [part[i]!, to]))
  for (const [from, to] of segments) {
    const isBorder = [0, 1].some((axis) => isNear(from![axis]!, 10) && isNear(to![axis]!, 10))
    assert.ok(isBorder, `a line from ${from} to ${to}`)
  }
  const length = segments.reduce((sum, [a, b]) => sum + Math.hypot(a![0]! - b![0]!, a![1]! - b![1]!), 0)
  assert.ok(Math.abs(length - 80) < 1, `borders of ${length} degrees`)
  const filled = parts(body.cutAreas)
  assert.equal(filled.length, 4)
  for (const ring of filled) {
    for (const [x, y] of ring)
      assert.ok(
        [x!, y!].every((side) => isNear(side, 10) || isNear(side, 0)),
        `${x} ${y}`,
      )
  }
  assert.equal(parts(body.areas).length, 1)
  const picture = await service.request('GET', '/v1/dataset/squares/thumbnail.svg')
  assert.equal(picture.text.match(/<path /g)!.length, 3)
})

test('the preview of an area with a very long border in several tiles is short, and has all of the area', async (t) => {
  const service = await openOgc(t, { settings: { tileMaxZoom: 3 } })
  const count = 40_000
  const ring = Array.from({ length: count + 1 }, (_, i) => {
    const angle = ((i % count) / count) * 2 * Math.PI
    const radius = i % 2 === 0 ? 10 : 9.5
    return [radius * Math.cos(angle), radius * Math.sin(angle)]
  })
  const geometry = { type: 'Polygon', coordinates: [ring] }
  await service.publish('saws', [{ type: 'Feature', properties: {}, geometry }])
  service.get('/collections/saws/tiles/WebMercatorQuad/0/0/0')
  await waitForTiles(service, 'saws')
  const { body } = await service.request('GET', '/v1/dataset/saws/preview')
  for (const path of [body.cutAreas, body.lines]) {
    assert.ok(path.length > 200 && path.length < 40_000, `${path.length} characters`)
    const positions = [...path.matchAll(/(-?[\d.]+) (-?[\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)])
    for (const axis of [0, 1]) {
      const values = positions.map((position) => position[axis]!)
      const [min, max] = [Math.min(...values), Math.max(...values)]
      assert.ok(Math.abs(min + 10) < 0.7 && Math.abs(max - 10) < 0.7, `from ${min} to ${max}`)
    }
  }
  assert.equal(body.cutAreas.split('M').length - 1, 4)
})

test('a preview takes at most four tiles, of a zoom at which the box is a good part of a tile', () => {
  assert.deepEqual(previewTiles([-180, -85, 180, 85], 5), [{ z: 0, x: 0, y: 0 }])
  assert.deepEqual(previewTiles([170, -10, -170, 10], 5), [{ z: 0, x: 0, y: 0 }])
  const small = previewTiles([9.1, 47.1, 9.2, 47.2], 14)
  assert.ok(small.length <= 4 && small[0]!.z >= 9, JSON.stringify(small))
  assert.equal(previewTiles([9.1, 47.1, 9.2, 47.2], 5)[0]!.z, 5)
})
