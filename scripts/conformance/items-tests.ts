import assert from 'node:assert/strict'
import { type Found, parametersOf } from './core-tests.ts'
import {
  ask,
  type Collection,
  checkLinks,
  type Feature,
  GEOJSON,
  idsOf,
  linksOf,
  type Page,
  type Parameter,
  page,
  read,
  readAll,
  refused,
} from './documents.ts'
import { meetsBox, positionsOf } from './meets-box.ts'
import { type Api, Skipped, type Suite } from './suite.ts'

const ITEMS_TYPES = [GEOJSON, 'text/html']

/** The standard requires boxes that cross the meridian, the equator, the antimeridian and the poles. */
const BOXES = [
  [-1.5, 50, 1.5, 53],
  [-80, -5, -70, 5],
  [177, 65, -177, 70],
  [-180, 85, 180, 90],
  [-180, -90, 180, -85],
]

/** Part 1, annex A.2.7 and A.2.8: features. Every response is compared with the whole collection. */
export async function itemsTests(suite: Suite, api: Api, { definition, collections }: Found): Promise<void> {
  for (const path of Object.keys(definition.paths).filter((name) =>
    /^\/collections\/[^/]+\/items$/.test(name),
  )) {
    await suite.test(
      '/conf/core/fc-bbox-definition, fc-limit-definition, fc-time-definition',
      path,
      async () => checkParameters(parametersOf(definition, path)),
    )
  }
  const limit = definition.components.parameters['limit']!.schema
  for (const collection of collections) {
    const all = await readAll(api, collection, { limit: limit.maximum! })
    await pageTests(suite, api, collection, all, limit)
    await boxTests(suite, api, collection, all)
    await idTests(suite, api, collection, all)
    await timeTests(suite, api, collection, all)
    await featureTests(suite, api, collection, all)
    await suite.test('/conf/core/query-param-invalid, query-param-unknown', collection.id, async () => {
      const { origin, pathname } = new URL(ask(collection, {}))
      for (const query of [
        'limit=unlimited',
        'limit=0',
        'limit=-1',
        'bbox=1,2,3',
        'bbox=a,b,c,d',
        'datetime=x',
      ]) {
        await refused(api, `${origin}${pathname}?${query}`)
      }
      for (const query of ['unknown=1', 'limit=1&limit=2'])
        await refused(api, `${origin}${pathname}?${query}`)
    })
  }
}

function checkParameters(parameters: readonly Parameter[]): void {
  const named = (name: string) => {
    const parameter = parameters.find((one) => one.name === name)
    assert.ok(parameter, `has ${name}`)
    const { in: place, required = false, style, explode } = parameter
    assert.deepEqual(
      { place, required, style, explode },
      { place: 'query', required: false, style: 'form', explode: false },
    )
    return parameter.schema
  }
  const { type, minItems, maxItems, items } = named('bbox')
  assert.deepEqual([type, minItems, maxItems, items?.type], ['array', 4, 6, 'number'])
  const limit = named('limit')
  assert.equal(limit.type, 'integer')
  assert.ok(limit.minimum! >= 0 && limit.default! >= limit.minimum! && limit.maximum! >= limit.default!)
  assert.equal(named('datetime').type, 'string')
}

async function pageTests(
  suite: Suite,
  api: Api,
  collection: Collection,
  all: readonly Feature[],
  limit: Parameter['schema'],
): Promise<void> {
  const { id } = collection
  await suite.test(
    '/conf/core/fc-op, fc-response, fc-links, fc-numberReturned, fc-timeStamp',
    id,
    async () => {
      const before = Date.now()
      const { type, features, links, numberReturned, timeStamp } = await page(api, collection, {})
      assert.equal(type, 'FeatureCollection')
      checkLinks(links, ITEMS_TYPES)
      assert.equal(numberReturned, features.length)
      const time = Date.parse(timeStamp ?? '')
      assert.ok(time >= before - 1 && time <= Date.now() + 1, `${timeStamp} is now`)
    },
  )
  await suite.test('/conf/core/fc-numberMatched', id, async () => {
    const { numberMatched } = await page(api, collection, {})
    if (numberMatched === undefined) throw new Skipped('It is not told.')
    assert.equal(all.length, numberMatched)
    assert.equal(new Set(idsOf(all)).size, all.length, 'no feature comes twice')
  })
  await suite.test('/conf/core/fc-limit-response', id, async () => {
    for (const size of [limit.minimum!, 100, limit.maximum!, limit.maximum! + 1]) {
      const { features } = await page(api, collection, { limit: size })
      assert.equal(features.length, Math.min(size, limit.maximum!, all.length), `limit=${size}`)
    }
  })
  await suite.test('paging with another limit on the way', id, async () => {
    const first = await page(api, collection, { limit: 1 })
    const next = linksOf(first.links, 'next')[0]
    if (!next) throw new Skipped('There is one page.')
    const url = new URL(next.href)
    url.searchParams.set('limit', '7')
    const second = await read<Page>(api, url.href, GEOJSON)
    assert.deepEqual(
      [...first.features, ...second.features].map((feature) => feature.id),
      all.slice(0, 8).map((feature) => feature.id),
    )
  })
  await suite.test('/conf/core/crs84, /conf/core/fc-md-extent', id, async () => {
    const [west, south, east, north] = collection.extent?.spatial?.bbox[0] ?? [-180, -90, 180, 90]
    for (const { geometry } of all) {
      for (const [x, y] of geometry ? positionsOf(geometry) : []) {
        assert.ok(
          x! >= west! && x! <= east! && y! >= south! && y! <= north!,
          `${x},${y} is within the extent`,
        )
        assert.ok(Math.abs(x!) <= 180 && Math.abs(y!) <= 90, `${x},${y} is in CRS84`)
      }
    }
  })
}

async function boxTests(
  suite: Suite,
  api: Api,
  collection: Collection,
  all: readonly Feature[],
): Promise<void> {
  const extent = collection.extent?.spatial?.bbox[0]
  for (const box of extent ? [extent, ...BOXES] : []) {
    await suite.test('/conf/core/fc-bbox-response', `${collection.id} ${box}`, async () => {
      const features = await readAll(api, collection, { bbox: box.join(','), limit: 10_000 })
      // Features without a geometry match every box (sentence C of the requirement).
      const expected = all.filter(({ geometry }) => geometry === null || meetsBox(geometry, box))
      assert.deepEqual(idsOf(features), idsOf(expected))
    })
  }
}

/** Part 3 (filter), Part 5 (schemas) and what this service adds to them for ids. */
async function idTests(
  suite: Suite,
  api: Api,
  collection: Collection,
  all: readonly Feature[],
): Promise<void> {
  const { id } = collection
  const some = [all[0], all.at(-1)].filter((feature) => feature !== undefined)
  const ids = [...new Set(some.map((feature) => String(feature.id)))]
  await suite.test('ids', id, async () => {
    const features = await readAll(api, collection, { ids: JSON.stringify([...ids, 'no such id']) })
    assert.deepEqual(idsOf(features).map(String).sort(), [...ids].sort())
  })
  await suite.test('/conf/queryables, the id', id, async () => {
    const { properties } = await read<{
      properties: Record<string, { 'x-ogc-role'?: string; type?: string }>
    }>(api, `/collections/${id}/queryables`)
    const name = Object.keys(properties).find((each) => properties[each]!['x-ogc-role'] === 'id')
    if (!name || !some[0]) throw new Skipped('It has no id to filter by.')
    const value = typeof some[0].id === 'string' ? `'${some[0].id.replaceAll("'", "''")}'` : some[0].id
    const matchingPage = await page(api, collection, { filter: `"${name}" = ${value}` })
    assert.deepEqual(idsOf(matchingPage.features), idsOf([some[0]]))
    assert.equal(matchingPage.numberMatched, 1)
  })
  await suite.test('resulttype=hits', id, async () => {
    const { features, numberMatched, numberReturned } = await page(api, collection, { resulttype: 'hits' })
    assert.deepEqual([features.length, numberReturned, numberMatched], [0, 0, all.length])
  })
  await suite.test('/conf/schemas, the schema of a feature at describedby', id, async () => {
    const [link] = linksOf(collection.links, 'describedby')
    const { properties } = await read<{
      properties: { properties: { properties: Record<string, { type?: string }> } }
    }>(api, link!.href)
    const columns = properties.properties.properties
    for (const feature of all) {
      for (const [name, value] of Object.entries(feature.properties)) {
        const { type } = columns[name] ?? assert.fail(`${name} is not in the schema`)
        if (value === null || type === undefined) continue
        const isRight = type === 'integer' ? Number.isInteger(value) : typeof value === type
        assert.ok(isRight, `${name}: ${value} is of the type ${type}`)
      }
    }
    assert.equal(linksOf(collection.links, 'http://www.opengis.net/def/rel/ogc/1.0/schema').length, 1)
  })
}

async function timeTests(
  suite: Suite,
  api: Api,
  collection: Collection,
  all: readonly Feature[],
): Promise<void> {
  const { properties } = await read<{
    properties: Record<string, { 'x-ogc-role'?: string; format?: string }>
  }>(api, `/collections/${collection.id}/schema`)
  const column = Object.keys(properties).find((name) => properties[name]!['x-ogc-role'] === 'primary-instant')
  await suite.test('/conf/core/fc-md-extent, in time', collection.id, async () => {
    const interval = collection.extent?.temporal?.interval[0]
    if (!interval || !column) throw new Skipped('The collection tells no time.')
    const [start, end] = interval.map((moment) => (moment === null ? null : Date.parse(moment)))
    for (const { properties } of all) {
      const time = properties[column] as string | null
      if (time === null) continue
      const isWithin =
        (start === null || Date.parse(time) >= start!) && (end === null || Date.parse(time) <= end!)
      assert.ok(isWithin, `${time} is within the extent`)
    }
  })
  await suite.test('/conf/core/fc-time-response', collection.id, async () => {
    const times = column ? all.map((feature) => feature.properties[column] as string | null) : []
    const moments = times.filter((time) => time !== null).sort()
    const [from, to] = [
      moments[Math.floor(moments.length / 4)] ?? '2020-01-01',
      moments[Math.floor(moments.length / 2)] ?? '2021-01-01',
    ]
    for (const [start, end] of [
      [from, to],
      [from, null],
      [null, to],
      [from, from],
    ] as const) {
      const datetime = start === end ? from : `${start ?? '..'}/${end ?? '..'}`
      const features = await readAll(api, collection, { datetime, limit: 10_000 })
      // Features that have no time match every time.
      const expected = all.filter((_, i) => {
        const time = times[i] ?? null
        return time === null || ((start === null || time >= start) && (end === null || time <= end))
      })
      assert.deepEqual(idsOf(features), idsOf(expected), datetime)
    }
  })
}

async function featureTests(
  suite: Suite,
  api: Api,
  collection: Collection,
  all: readonly Feature[],
): Promise<void> {
  const some = [all[0], all[Math.floor(all.length / 2)], all.at(-1)]
  for (const feature of some) {
    if (!feature) continue
    await suite.test('/conf/core/f-op, f-success, f-links', `${collection.id} ${feature.id}`, async () => {
      const { origin, pathname } = new URL(ask(collection, {}))
      const one = await read<Feature>(api, `${origin}${pathname}/${encodeURIComponent(feature.id)}`, GEOJSON)
      const { links, ...rest } = one
      assert.deepEqual(rest, feature)
      checkLinks(links, ITEMS_TYPES)
      assert.equal(linksOf(links, 'collection').length, 1)
    })
  }
}
