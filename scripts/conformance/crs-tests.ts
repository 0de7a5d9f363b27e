import assert from 'node:assert/strict'
import type { Found } from './core-tests.ts'
import { ask, type Collection, type Feature, GEOJSON, idsOf, type Page, read, refused } from './documents.ts'
import { positionsOf } from './meets-box.ts'
import { type Api, Skipped, type Suite } from './suite.ts'

const CRS = 'http://www.opengis.net/def/crs/'
const CRS84 = `${CRS}OGC/1.3/CRS84`
const CRS84H = `${CRS}OGC/0/CRS84h`
const MERCATOR = `${CRS}EPSG/0/3857`
const RADIUS = 6378137
/** Web Mercator is a square. */
const MERCATOR_EDGE = Math.PI * RADIUS
const MERCATOR_LATITUDE = 85.05112877980659
const DEGREE = Math.PI / 180

/** The CRSs that these tests can compute: from longitude and latitude to the CRS's axis order. */
const KNOWN: Record<string, (x: number, y: number) => [number, number]> = {
  [CRS84]: (x, y) => [x, y],
  [CRS84H]: (x, y) => [x, y],
  [`${CRS}EPSG/0/4326`]: (x, y) => [y, x],
  [MERCATOR]: (x, y) => [
    x * DEGREE * RADIUS,
    Math.log(Math.tan(Math.PI / 4 + (Math.max(-89.9999, Math.min(89.9999, y)) * DEGREE) / 2)) * RADIUS,
  ],
}

/** Part 2, annex A. */
export async function crsTests(suite: Suite, api: Api, { collections }: Found): Promise<void> {
  for (const collection of collections) {
    const { id, crs, storageCrs } = collection
    await suite.test('/conf/crs/crs-uri, fc-md-crs-list, fc-md-storageCrs', id, async () => {
      for (const uri of crs) assert.match(uri, /^http:\/\/www\.opengis\.net\/def\/crs\/[A-Z]+\/[\d.]+\/\w+$/)
      assert.ok(crs[0] === CRS84 || crs[0] === CRS84H, 'the default is the first one')
      assert.ok(crs.includes(storageCrs!), 'storageCrs is among them')
    })
    const { features } = await read<Page>(api, ask(collection, {}), GEOJSON)
    const items = new URL(ask(collection, {}))
    const one = `${items.origin}${items.pathname}/${encodeURIComponent(features[0]!.id)}`
    await suite.test('/conf/crs/crs-parameter-invalid, bbox-crs-parameter-invalid', id, async () => {
      for (const uri of [`${CRS}EPSG/0/999999`, 'unknown', '']) {
        await refused(api, ask(collection, { crs: uri }))
        await refused(api, `${one}?crs=${encodeURIComponent(uri)}`)
        await refused(api, ask(collection, { bbox: '5,49,6,50', 'bbox-crs': uri }))
      }
    })
    await suite.test('/conf/crs/crs-parameter-default', id, async () => {
      for (const url of [items.href, one]) {
        assert.equal((await api.get(url, GEOJSON)).headers.get('content-crs'), `<${crs[0]}>`)
      }
    })
    for (const uri of crs) {
      await suite.test('/conf/crs/crs-parameter, crs-parameter-transform', `${id} ${uri}`, async () => {
        const page = await api.get(ask(collection, { crs: uri }), GEOJSON)
        const feature = await api.get(`${one}?crs=${encodeURIComponent(uri)}`, GEOJSON)
        for (const { status, headers } of [page, feature]) {
          assert.equal(status, 200)
          assert.equal(headers.get('content-crs'), `<${uri}>`)
        }
        const project = KNOWN[uri]
        if (!project) throw new Skipped('These tests cannot reckon in it.')
        for (const [i, moved] of (page.body as Page).features.entries()) compare(moved, features[i]!, project)
        compare(feature.body as Feature, features[0]!, project)
      })
      await suite.test('/conf/crs/bbox-crs-parameter', `${id} ${uri}`, () => boxTest(api, collection, uri))
    }
  }
}

function compare(moved: Feature, from: Feature, project: (x: number, y: number) => [number, number]): void {
  assert.equal(moved.id, from.id, 'the order is the same')
  const positions = from.geometry ? positionsOf(from.geometry) : []
  const movedPositions = moved.geometry ? positionsOf(moved.geometry) : []
  assert.equal(moved.geometry === null, from.geometry === null, 'no geometry is lost')
  if (project === KNOWN[MERCATOR] && positions.some(([, y]) => Math.abs(y!) > MERCATOR_LATITUDE)) {
    // Beyond the edge of the CRS, geometries are cut off.
    for (const [, y] of movedPositions)
      assert.ok(Math.abs(y!) <= MERCATOR_EDGE + 1e-6, `${y} is within the CRS`)
    return
  }
  assert.equal(movedPositions.length, positions.length)
  positions.forEach(([x, y], i) => {
    if (Math.abs(y!) > 89.9) return
    project(x!, y!).forEach((value, axis) => {
      const difference = Math.abs(movedPositions[i]![axis]! - value)
      assert.ok(
        difference <= Math.max(1e-7, Math.abs(value) * 1e-8),
        `${x},${y} is ${movedPositions[i]}, not ${value}`,
      )
    })
  })
}

async function boxTest(api: Api, collection: Collection, uri: string): Promise<void> {
  const project = KNOWN[uri]
  const extent = collection.extent?.spatial?.bbox[0]
  if (!project) throw new Skipped('These tests cannot reckon in it.')
  if (!extent) throw new Skipped('The collection has no extent.')
  const [west, south, east, north] = extent as [number, number, number, number]
  const width = east - west
  const height = north - south
  for (const part of [1, 0.5, 0.1]) {
    const box = [west, south, west + width * part, south + height * part]
    const inCrs = [...project(box[0]!, box[1]!), ...project(box[2]!, box[3]!)]
    const within = async (parameters: Record<string, string | number>) => {
      const { features } = await read<Page>(api, ask(collection, { ...parameters, limit: 10_000 }), GEOJSON)
      return idsOf(features)
    }
    const ids = await within({ bbox: inCrs.join(','), 'bbox-crs': uri })
    assert.deepEqual(ids, await within({ bbox: box.join(',') }), `${box}`)
  }
}
