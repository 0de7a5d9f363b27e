import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { lacks } from '../../../../../scripts/test-run/needs.ts'
import { openTestServer } from '../../../testing/test-server.ts'
import { featuresOf, publishAddress, serve } from '../sources.test-kit.ts'

const inside = { settings: { allowInternalAddresses: true } }

/** A recorded conversation: the response to each request, by its path and parameters in the order of their names. */
type Conversation = Record<string, { status?: number; type?: string; body: string }>

/** Replays a conversation; a request that is not in it fails the test. `fail` makes some attempts fail first. */
async function replay(
  t: TestContext,
  conversation: Conversation,
  fail: (key: string) => number | null = () => null,
) {
  const unknown: string[] = []
  const url = await serve(t, (request, response) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://localhost')
    searchParams.sort()
    const key = decodeURIComponent(`${pathname}?${searchParams}`.replaceAll('+', ' '))
    const status = fail(key)
    if (status !== null) return void response.writeHead(status, { 'retry-after': '0' }).end()
    const recorded = conversation[key]
    if (!recorded) unknown.push(key)
    const {
      status: recordedStatus = 200,
      type = 'application/json',
      body,
    } = recorded ?? { status: 404, body: '' }
    response.writeHead(recordedStatus, { 'content-type': type }).end(body)
  })
  t.after(() => assert.deepEqual(unknown, []))
  return url
}

const point = (id: string | number, x: number, properties: object) => ({
  type: 'Feature',
  id,
  geometry: { type: 'Point', coordinates: [x, 50] },
  properties,
})
const collection = (features: unknown[]) => JSON.stringify({ type: 'FeatureCollection', features })

const CAPABILITIES = `<?xml version="1.0"?>
<wfs:WFS_Capabilities version="2.0.0" xmlns:wfs="http://www.opengis.net/wfs/2.0" xmlns:ows="http://www.opengis.net/ows/1.1">
 <ows:OperationsMetadata>
  <ows:Operation name="GetFeature"><ows:Parameter name="outputFormat"><ows:AllowedValues>
   <ows:Value>application/gml+xml; version=3.2</ows:Value><ows:Value>application/json</ows:Value>
  </ows:AllowedValues></ows:Parameter></ows:Operation>
 </ows:OperationsMetadata>
 <wfs:FeatureTypeList>
  <wfs:FeatureType><wfs:Name>city:trees</wfs:Name><wfs:DefaultCRS>urn:ogc:def:crs:EPSG::25832</wfs:DefaultCRS></wfs:FeatureType>
  <wfs:FeatureType><wfs:Name>city:benches</wfs:Name><wfs:OtherCRS>urn:ogc:def:crs:OGC:1.3:CRS84</wfs:OtherCRS></wfs:FeatureType>
 </wfs:FeatureTypeList>
</wfs:WFS_Capabilities>`

function wfs(features: unknown[], numberMatched: number): Conversation {
  const xml = { type: 'application/xml' }
  const page = (start: number) =>
    `/wfs?count=1000&key=k&outputFormat=application/json&request=GetFeature&service=WFS&srsName=EPSG:4326&startIndex=${start}&typeNames=city:trees&version=2.0.0`
  const hits = '/wfs?key=k&request=GetFeature&resultType=hits&service=WFS&typeNames=city:trees&version=2.0.0'
  return {
    '/wfs?key=k&request=GetCapabilities&service=WFS&version=2.0.0': { ...xml, body: CAPABILITIES },
    [hits]: {
      ...xml,
      body: `<wfs:FeatureCollection xmlns:wfs="http://www.opengis.net/wfs/2.0" numberMatched="${numberMatched}" numberReturned="0"/>`,
    },
    [page(0)]: { body: collection(features.slice(0, 1000)) },
    [page(1000)]: { body: collection(features.slice(1000)) },
  }
}

const TREES = Array.from({ length: 1500 }, (_, i) => point(`trees.${i}`, i / 100, { species: `s${i}` }))

test('a feature type of a WFS is read page by page, again after failures, and published whole', async (t) => {
  const service = await openTestServer(t, inside)
  const failed = new Set<string>()
  const url = await replay(t, wfs(TREES, 1500), (key) => {
    if (failed.has(key)) return null
    failed.add(key)
    return 503
  })
  const address = `${url}/wfs?SERVICE=WFS&REQUEST=GetCapabilities&typeNames=trees&key=k`
  const published = await publishAddress(service, 'trees', address)
  assert.equal(published?.report.rows, 1500)
  const features = await featuresOf(service, 'trees')
  assert.equal(features.find(({ id }) => id === 'trees.1400')?.properties['species'], 's1400')
})

test('a WFS that sends fewer features than it has, or one twice, publishes nothing', async (t) => {
  const service = await openTestServer(t, inside)
  const short = await replay(t, {
    ...wfs(TREES, 1501),
    '/wfs?count=1000&key=k&outputFormat=application/json&request=GetFeature&service=WFS&srsName=EPSG:4326&startIndex=1500&typeNames=city:trees&version=2.0.0':
      { body: collection([]) },
  })
  const address = (url: string, name = 'city:trees') => `${url}/wfs?service=WFS&typeNames=${name}&key=k`
  await assert.rejects(
    publishAddress(service, 'trees', address(short)),
    /has 1501 features, and its pages have 1500/,
  )
  const twice = await replay(t, wfs([...TREES.slice(0, 1499), TREES[0]!], 1500))
  await assert.rejects(publishAddress(service, 'trees', address(twice)), /trees\.0 is on two pages/)
  const other = await replay(t, wfs(TREES, 1500))
  await assert.rejects(
    publishAddress(service, 'trees', address(other, 'city:none')),
    /has no feature type city:none. It has: city:trees, city:benches/,
  )
  assert.equal((await service.request('GET', '/v1/dataset/trees')).status, 404)
})

const LAYER = '/arcgis/rest/services/City/FeatureServer/0'

function arcgis(): Conversation {
  const ids = [7, 3, 1, 9, 5]
  const page = (from: number, to: number) =>
    `${LAYER}/query?f=geojson&orderByFields=OBJECTID&outFields=*&outSR=4326&returnGeometry=true&where=OBJECTID >= ${from} AND OBJECTID <= ${to}`
  const features = (numbers: number[]) =>
    collection(
      numbers.map((id) => point(id, id, { OBJECTID: id, built: 1_700_000_000_000 + id, name: `n${id}` })),
    )
  return {
    [`${LAYER}?f=json`]: {
      body: JSON.stringify({
        name: 'Benches',
        maxRecordCount: 2,
        objectIdField: 'OBJECTID',
        fields: [
          { name: 'OBJECTID', type: 'esriFieldTypeOID' },
          { name: 'built', type: 'esriFieldTypeDate' },
          { name: 'name', type: 'esriFieldTypeString' },
        ],
      }),
    },
    [`${LAYER}/query?f=json&returnIdsOnly=true&where=1=1`]: {
      body: JSON.stringify({ objectIdFieldName: 'OBJECTID', objectIds: ids }),
    },
    [page(1, 3)]: { body: features([1, 3]) },
    [page(5, 7)]: { body: features([5, 7]) },
    [page(9, 9)]: { body: features([9]) },
  }
}

test('a layer of a FeatureServer is read by ranges of its object ids, with its dates', async (t) => {
  const service = await openTestServer(t, inside)
  const url = await replay(t, arcgis())
  const published = await publishAddress(service, 'benches', url + LAYER, { idColumn: 'OBJECTID' })
  assert.deepEqual(
    published?.report.columns.map(({ name, type }) => [name, type]),
    [
      ['OBJECTID', 'integer'],
      ['built', 'timestamp'],
      ['name', 'text'],
    ],
  )
  const features = await featuresOf(service, 'benches')
  assert.deepEqual(features.map(({ id }) => id).sort(), [1, 3, 5, 7, 9])
  assert.equal(features.find(({ id }) => id === 5)?.properties['built'], '2023-11-14T22:13:20.005Z')
})

test('a FeatureServer that leaves a feature out publishes nothing, and its errors are reported', async (t) => {
  const service = await openTestServer(t, inside)
  const conversation = arcgis()
  const last = Object.keys(conversation).at(-1)!
  const short = await replay(t, { ...conversation, [last]: { body: collection([]) } })
  await assert.rejects(
    publishAddress(service, 'benches', short + LAYER),
    /has 1 features, and its pages have 0/,
  )
  const refusing = await replay(t, {
    [`${LAYER}?f=json`]: { body: JSON.stringify({ error: { code: 499, message: 'Token Required' } }) },
  })
  await assert.rejects(publishAddress(service, 'benches', refusing + LAYER), /Token Required \(499\)/)
})

test('a WFS that offers GML only is read whole, and not again while only its time differs', {
  skip: lacks('gdal'),
}, async (t) => {
  const service = await openTestServer(t, inside)
  let count = 2
  const member = (id: number) =>
    `<wfs:member><city:trees gml:id="trees.${id}"><city:species>s${id}</city:species><city:geom><gml:Point srsName="urn:ogc:def:crs:EPSG::4326"><gml:pos>50 ${id}</gml:pos></gml:Point></city:geom></city:trees></wfs:member>`
  const url = await serve(t, (request, response) => {
    const { searchParams } = new URL(request.url!, 'http://localhost')
    response.setHeader('content-type', 'application/xml')
    if (searchParams.get('request') === 'GetCapabilities')
      return void response.end(CAPABILITIES.replace('<ows:Value>application/json</ows:Value>', ''))
    const isHits = searchParams.get('resultType') === 'hits'
    response.end(
      `<wfs:FeatureCollection xmlns:wfs="http://www.opengis.net/wfs/2.0" xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:city="http://city.example.org" timeStamp="${new Date().toISOString()}" numberMatched="2" numberReturned="${isHits ? 0 : count}">${isHits ? '' : member(7) + member(8)}</wfs:FeatureCollection>`,
    )
  })
  const address = `${url}/wfs?service=WFS&typeNames=city:trees`
  const published = await publishAddress(service, 'trees', address)
  assert.equal(published?.report.rows, 2)
  const features = await featuresOf(service, 'trees')
  const first = features.find(({ properties }) => properties['species'] === 's7')
  assert.deepEqual(first!.geometry, { type: 'Point', coordinates: [7, 50] })
  const { validators } = published!
  assert.equal(await publishAddress(service, 'trees', address, { validators }), null)
  count = 1
  await assert.rejects(publishAddress(service, 'trees', address), /has 2 features, and the service sends 1/)
})
