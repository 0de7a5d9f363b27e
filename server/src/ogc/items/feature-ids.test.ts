import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type OgcService, openOgc, point } from '../testing/open-ogc.ts'

const idsOf = async (service: OgcService, path: string) => {
  const { status, body, text } = await service.get(path)
  assert.equal(status, 200, text)
  return (body.features as { id: string | number }[]).map(({ id }) => id)
}

test('features are filtered, sorted and selected by their ids, whatever the ids are', async (t) => {
  const service = await openOgc(t)
  const places = Array.from({ length: 40 }, (_, i) => ({ longitude: (i * 37) % 90, i }))
  const publish = (table: string, idOf: (i: number) => string | number | undefined) =>
    service.publish(
      table,
      places.map(({ longitude, i }) => point(longitude, 5, { i }, idOf(i))),
    )
  await publish('texts', (i) => `k-${String(i).padStart(2, '0')}`)
  await publish('integers', (i) => 1000 - i)
  await publish('row_numbers', () => undefined)
  await service.publish(
    'codes',
    places.map(({ longitude, i }) => point(longitude, 5, { code: `c${i + 10}` })),
    { idColumn: 'code' },
  )
  const filters: [table: string, filter: string, expected: (string | number)[]][] = [
    ['texts', "id = 'k-07'", ['k-07']],
    ['texts', "id LIKE 'k-1%' AND i < 12", ['k-10', 'k-11']],
    ['integers', 'id IN (1000, 990, 5)', [990, 1000]],
    ['integers', 'id > 998', [999, 1000]],
    ['row_numbers', 'id BETWEEN 3 AND 5', [3, 4, 5]],
    ['row_numbers', 'id = i + 1 AND i > 37', [39, 40]],
    ['codes', "id = 'c13'", ['c13']],
  ]
  for (const [table, filter, expected] of filters) {
    const path = `/collections/${table}/items?filter=${encodeURIComponent(filter)}`
    const found = (await idsOf(service, path)).sort((a, b) => (a < b ? -1 : 1))
    assert.deepEqual(found, expected, `${table}: ${filter}`)
    const parameter = /^id = '?([\w-]+)'?$/.exec(filter)
    if (parameter) {
      assert.deepEqual(await idsOf(service, `/collections/${table}/items?id=${parameter[1]}`), expected)
    }
  }
  for (const table of ['texts', 'integers', 'row_numbers', 'codes']) {
    const all = await idsOf(service, `/collections/${table}/items?limit=100`)
    const descending = [...all].sort((a, b) => (a < b ? 1 : -1))
    const sorted = await service.readAll(`/collections/${table}/items?sortby=-id&limit=7`)
    assert.deepEqual(
      sorted.map(({ id }: { id: string | number }) => id),
      descending,
      table,
    )
    const { properties } = (await service.get(`/collections/${table}/queryables`)).body
    assert.ok(properties.id, `id is a queryable of ${table}`)
    const [a, b, c] = [all[3]!, all[20]!, all[39]!]
    const chosen = `/collections/${table}/items?ids=${c},${a},none,${b}`
    assert.deepEqual(await idsOf(service, chosen), [a, b, c], 'in the order of the collection')
    const page = (await service.get(`${chosen}&limit=2`)).body
    assert.equal(page.numberMatched, 3)
    const next = page.links.find(({ rel }: { rel: string }) => rel === 'next').href
    assert.deepEqual(await idsOf(service, next.slice(`${service.url}/v1/ogc`.length)), [c])
    const sortedChoice = [a, b, c].sort((x, y) => (x < y ? 1 : -1))
    assert.deepEqual(await idsOf(service, `${chosen}&sortby=-id`), sortedChoice)
    const filter = encodeURIComponent(`id <> ${typeof b === 'string' ? `'${b}'` : b}`)
    assert.deepEqual(await idsOf(service, `${chosen}&filter=${filter}`), [a, c])
    assert.deepEqual(await idsOf(service, `${chosen}&bbox=100,0,110,10`), [])
  }
  for (const [ids, status] of [
    ['', 400],
    ['a,,b', 400],
    ['["a",{}]', 400],
    ['[9007199254740993,1]', 200],
    ['[1.5]', 400],
    [Array.from({ length: 1001 }, (_, i) => i).join(), 400],
    [Array.from({ length: 1000 }, (_, i) => i).join(), 200],
  ] as const) {
    assert.equal(
      (await service.get(`/collections/texts/items?ids=${encodeURIComponent(ids)}`)).status,
      status,
    )
  }
})

test('CSV and FlatGeobuf pages and the sample have the ids that are more than row numbers', async (t) => {
  const service = await openOgc(t)
  const features = [point(1, 2, { n: 1 }, 'a"b'), point(3, 4, { n: 2 }, 'c,d')]
  await service.publish('texts', features)
  await service.publish(
    'own',
    features.map((feature, i) => ({ ...feature, id: i + 7, properties: { id: `x${i}` } })),
  )
  await service.publish(
    'same',
    features.map((feature) => ({ ...feature, properties: { id: feature.id } })),
  )
  await service.publish('plain', [point(1, 2, { n: 1 })])
  const csv = async (table: string, more = '') =>
    (await (await service.fetch(`/collections/${table}/items?f=csv${more}`)).text()).split('\r\n')
  assert.deepEqual(await csv('texts'), ['id,n,longitude,latitude', '"a""b",1,1,2', '"c,d",2,3,4', ''])
  assert.deepEqual(await csv('texts', '&properties='), [
    'id,longitude,latitude',
    '"a""b",1,2',
    '"c,d",3,4',
    '',
  ])
  assert.deepEqual(await csv('own'), ['feature_id,id,longitude,latitude', '7,x0,1,2', '8,x1,3,4', ''])
  assert.equal((await csv('same'))[0], 'id,longitude,latitude')
  assert.equal((await csv('plain'))[0], 'n,longitude,latitude')
  const days = [
    point(1, 2, { day: '2020-01-02', share: 0.5 }),
    point(3, 4, { day: '2020-01-03', share: 1.5 }),
  ]
  for (const [idColumn, ids] of [
    ['day', ['2020-01-02', '2020-01-03']],
    ['share', ['0.5', '1.5']],
  ] as const) {
    await service.publish(idColumn, days, { idColumn })
    const lines = await csv(idColumn)
    assert.equal(lines[0], 'id,day,share,longitude,latitude')
    assert.deepEqual([lines[1]!.split(',')[0], lines[2]!.split(',')[0]], ids)
    const filter = `/collections/${idColumn}/items?filter=id='${ids[1]}'&sortby=-id`
    assert.deepEqual(await idsOf(service, filter), [ids[1]])
  }
  const fgb = Buffer.from(await (await service.fetch('/collections/texts/items?f=fgb')).arrayBuffer())
  assert.ok(fgb.includes('a"b') && fgb.includes('c,d'))
  const sample = await service.request('GET', '/v1/dataset/texts/sample/json')
  assert.deepEqual(Object.keys(sample.body[0]), ['id', 'n', 'longitude', 'latitude'])
  // A column of the dataset takes precedence over the id.
  const { body } = await service.get("/collections/own/items?filter=id='x1' AND feature_id=8")
  assert.equal(body.numberMatched, 1)
})

test('a snapshot from before ids could be queried serves as before', async (t) => {
  const service = await openOgc(t)
  await service.publish('places', [point(1, 2, { n: 1 }, 'a')])
  const { manifest } = await service.parts.catalog.find('places')
  delete manifest.id.name
  delete manifest.id.isRowNumber
  assert.equal((await service.get("/collections/places/items?filter=id='a'")).status, 400)
  assert.equal((await service.get('/collections/places/items?sortby=id')).status, 400)
  const { properties } = (await service.get('/collections/places/queryables')).body
  assert.deepEqual(Object.keys(properties), ['n', 'geometry'])
  const csv = await (await service.fetch('/collections/places/items?f=csv')).text()
  assert.equal(csv, 'n,longitude,latitude\r\n1,1,2\r\n')
  assert.deepEqual(await idsOf(service, '/collections/places/items?ids=a'), ['a'])
})
