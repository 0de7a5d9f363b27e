import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { TimedWork } from '@wayleave/query'
import { tableFromIPC } from 'apache-arrow'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { type OgcService, openOgc } from '../testing/open-ogc.ts'
import { type Place, randomPlaces } from '../testing/random-places.ts'
import { arrowBody } from './aggregate-arrow.ts'
import { readSort } from './aggregate-request.ts'

const places = randomPlaces(3000, 41, false)
let service: OgcService
const cleanups: (() => unknown)[] = []

before(async () => {
  service = await openOgc({ after: (cleanup: () => unknown) => cleanups.push(cleanup) } as never)
  await service.publish('places', places)
})
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
})

function ask(query: Record<string, string>) {
  return service.get(`/collections/places/aggregate?${new URLSearchParams(query)}`)
}

function grouped<K>(of: (place: Place) => K): Map<K, Place[]> {
  return Map.groupBy(places, of)
}

test('groups have their values and measures in the order of the request', async () => {
  const { status, body } = await ask({ groupby: 'name,month(day)', measures: 'count,sum(size),max(day)' })
  assert.equal(status, 200)
  assert.deepEqual(body.columns, [
    { name: 'name', type: 'text' },
    { name: 'month(day)', type: 'date' },
    { name: 'count', type: 'integer' },
    { name: 'sum(size)', type: 'number' },
    { name: 'max(day)', type: 'date' },
  ])
  const expected = grouped(({ properties: { name, day } }) =>
    JSON.stringify([name, day && `${day.slice(0, 8)}01`]),
  )
  assert.equal(body.numberGroups, expected.size)
  for (const [name, month, count, sum, max] of body.rows) {
    const members = expected.get(JSON.stringify([name, month]))!.map(({ properties }) => properties)
    const sizes = members.flatMap(({ size }) => (size === null ? [] : [size]))
    const days = members.flatMap(({ day }) => (day === null ? [] : [day])).sort()
    assert.equal(count, members.length)
    assert.equal(sum, sizes.length === 0 ? null : sizes.reduce((all, size) => all + size, 0))
    assert.equal(max, days.at(-1) ?? null)
  }
})

test('without groupby there is one row, also if nothing matches, and sums of integers are exact', async () => {
  const { text } = await ask({ measures: 'count,sum(big)' })
  const sum = places.reduce((all, { properties }) => all + BigInt(properties.big), 0n)
  assert.ok(text.includes(`"rows":[[3000,${sum}]]`), text)
  const none = await ask({ measures: 'count,sum(big),distinct(name)', filter: 'i < 0' })
  assert.deepEqual(none.body.rows, [[0, null, 0]])
  assert.equal(none.body.numberGroups, 1)
})

test('groups are sorted by their values or by measures, nulls last, and paged by next links', async () => {
  const preset = (await ask({ groupby: 'name' })).body.rows.map(([name]: [string | null]) => name)
  assert.deepEqual(
    preset,
    [...grouped(({ properties }) => properties.name).keys()].sort((a, b) =>
      a === null ? 1 : b === null ? -1 : Buffer.compare(Buffer.from(a), Buffer.from(b)),
    ),
  )
  const query = {
    groupby: 'interval(i,7)',
    measures: 'percentile(size,90),count',
    sortby: '-percentile(size,90),i',
  }
  assert.equal((await ask(query)).status, 400)
  const sorted = { ...query, sortby: '-percentile(size,90),-count' }
  const whole = (await ask(sorted)).body
  const values = whole.rows.map(([, percentile]: number[]) => percentile)
  assert.deepEqual(
    values,
    values.toSorted((a: number, b: number) => b - a),
  )
  const read: unknown[] = []
  let pages = 0
  for (
    let path: string | undefined =
      `/collections/places/aggregate?${new URLSearchParams({ ...sorted, limit: '100' })}`;
    path;
    pages++
  ) {
    const { body } = await service.get(path)
    read.push(...body.rows)
    path = body.links
      .find(({ rel }: { rel: string }) => rel === 'next')
      ?.href.slice(`${service.url}/v1/ogc`.length)
  }
  assert.equal(pages, Math.ceil(whole.rows.length / 100))
  assert.deepEqual(read, whole.rows)
})

test('the groups after the page are one row, unless the format is a table', async () => {
  const query = { groupby: 'name', measures: 'count,sum(i),median(i)', sortby: '-count', limit: '2' }
  const { body } = await ask({ ...query, others: 'true' })
  const all = (await ask({ ...query, limit: '1000' })).body.rows as number[][]
  const total = (index: number) => all.slice(2).reduce((sum, row) => sum + row[index]!, 0)
  assert.deepEqual(body.rows, all.slice(0, 2))
  assert.deepEqual(body.others, [null, total(1), total(2), null])
  assert.equal((await ask({ ...query, limit: '1000', others: 'true' })).body.others, null)
  assert.ok(!('others' in (await ask(query)).body))
  const cells = await ask({ groupby: 'tile(2)', limit: '1', f: 'geojson', others: 'true' })
  assert.equal(cells.body.others[1] + cells.body.features[0].properties.count, places.length)
})

test('having keeps the groups whose measures meet a condition', async () => {
  const { body } = await ask({
    groupby: 'day',
    measures: 'count,sum(size)',
    having: 'sum(size) > 90 AND count < 40',
  })
  const all = (await ask({ groupby: 'day', measures: 'count,sum(size)' })).body.rows as [
    string,
    number,
    number,
  ][]
  assert.deepEqual(
    body.rows,
    all.filter(([, count, sum]) => sum > 90 && count < 40),
  )
  assert.ok(body.rows.length > 0 && body.rows.length < all.length)
  assert.equal(body.numberGroups, body.rows.length)
  const named = await ask({
    groupby: 'name',
    measures: 'percentile(size,50)',
    having: "percentile(size, 50) >= 2 OR name = 'Bay'",
  })
  assert.equal(named.status, 200)
})

test('filters, boxes and times select features as they do for items, in a URL and in a body', async () => {
  const selections: Record<string, string>[] = [
    { filter: 'size > 2 AND open = TRUE' },
    { filter: 'i % 10 = 3' },
    { bbox: '-60,-40,30,50' },
    { datetime: '2020-03-01/2020-06-30' },
    { name: 'Bay', bbox: '0,0,160,80' },
  ]
  for (const selection of selections) {
    const hits = await service.get(
      `/collections/places/items?${new URLSearchParams({ ...selection, resulttype: 'hits' })}`,
    )
    const { body } = await ask(selection)
    assert.deepEqual(body.rows, [[hits.body.numberMatched]], JSON.stringify(selection))
    const posted = await service.request('POST', '/v1/ogc/collections/places/aggregate', {
      key: service.key,
      body: { ...selection, groupby: ['i'], measures: ['count', 'percentile(size,95)'], limit: 2 },
    })
    const got = await ask({ ...selection, groupby: 'i', measures: 'count,percentile(size,95)', limit: '2' })
    assert.deepEqual([posted.status, posted.body.rows], [200, got.body.rows])
    const next = posted.body.links.find(({ rel }: { rel: string }) => rel === 'next')
    assert.deepEqual([next.method, next.body, next.merge], ['POST', { offset: 2 }, true])
  }
})

test('a table of groups is also CSV', async () => {
  const { status, text, headers } = await ask({
    groupby: 'name',
    measures: 'count,mean(size)',
    f: 'csv',
    limit: '3',
  })
  assert.equal(status, 200)
  assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8')
  assert.match(headers.get('link')!, /offset=3>; rel="next"/)
  const { body } = await ask({ groupby: 'name', measures: 'count,mean(size)', limit: '3' })
  const [head, ...lines] = text.trimEnd().split('\r\n')
  assert.equal(head, 'name,count,mean(size)')
  assert.deepEqual(
    lines.map((line) => line.split(',').slice(-2).map(Number)),
    body.rows.map((row: unknown[]) => row.slice(-2)),
  )
})

test('an aggregate that cannot be computed is a 400 that names the parameter', async () => {
  const cases: [query: Record<string, string>, parameter: string][] = [
    [{ groupby: 'nothing' }, 'groupby'],
    [{ groupby: 'name,day,at,open' }, 'groupby'],
    [{ groupby: 'name,name' }, 'groupby'],
    [{ groupby: 'decade(day)' }, 'groupby'],
    [{ groupby: 'month(name)' }, 'groupby'],
    [{ groupby: 'hour(day)' }, 'groupby'],
    [{ groupby: 'interval(size)' }, 'groupby'],
    [{ groupby: 'interval(size,0)' }, 'groupby'],
    [{ groupby: 'interval(i,0.5)' }, 'groupby'],
    [{ groupby: 'tile(23)' }, 'groupby'],
    [{ groupby: 'name(' }, 'groupby'],
    [{ measures: 'sum(name)' }, 'measures'],
    [{ measures: 'sum' }, 'measures'],
    [{ measures: 'average(size)' }, 'measures'],
    [{ measures: 'percentile(size,101)' }, 'measures'],
    [{ measures: 'first(name,size)' }, 'measures'],
    [{ sortby: 'name' }, 'sortby'],
    [{ having: 'size > 3' }, 'having'],
    [{ having: 'count >' }, 'having'],
    [{ limit: '0' }, 'limit'],
    [{ offset: '-1' }, 'offset'],
    [{ f: 'geojson' }, 'f'],
    [{ others: 'yes' }, 'others'],
    [{ others: 'true', f: 'csv' }, 'others'],
    [{ others: 'true', f: 'arrow' }, 'others'],
    [{ cursor: 'x' }, 'cursor'],
  ]
  for (const [query, parameter] of cases) {
    const { status, body } = await ask(query)
    assert.deepEqual([status, body.errors?.[0].path], [400, parameter], JSON.stringify(query))
  }
})

/** Two squares of which each has its own name. */
const squares = [-100, 0].map((west, i) => ({
  type: 'Feature',
  id: `square-${i}`,
  properties: { code: i, name: `Square ${i}` },
  geometry: {
    type: 'Polygon',
    coordinates: [[[west, -50], [west + 80, -50], [west + 80, 60], [west, 60], [west, -50]]], // biome-ignore format: one line
  },
}))

test('features are counted in the areas of another dataset, with their ids, labels and geometries', async () => {
  await service.publish('squares', squares)
  const { body } = await ask({ groupby: 'within(squares)', measures: 'count,mean(size)' })
  assert.deepEqual(
    body.columns.map(({ name, type }: { name: string; type: string }) => [name, type]),
    [['within(squares)', 'text'], ['within(squares).name', 'text'], ['count', 'integer'], ['mean(size)', 'number']], // biome-ignore format: one line
  )
  const isIn = ({ geometry }: Place, west: number) => {
    const [x, y] = (geometry as { coordinates: number[] } | null)?.coordinates ?? []
    return x! >= west && x! <= west + 80 && y! >= -50 && y! <= 60
  }
  const counts = [-100, 0].map((west) => places.filter((place) => isIn(place, west)).length)
  assert.deepEqual(
    body.rows.map((row: unknown[]) => row.slice(0, 3)),
    [
      ['square-0', 'Square 0', counts[0]],
      ['square-1', 'Square 1', counts[1]],
      [null, null, places.length - counts[0]! - counts[1]!],
    ],
  )
  const geojson = await ask({ groupby: 'within(squares,code)', f: 'geojson', sortby: '-count' })
  assert.equal(geojson.body.type, 'FeatureCollection')
  assert.equal(geojson.body.features[0].geometry, null)
  const first = geojson.body.features.find((each: never) => each['properties']['within(squares).code'] === 0)
  assert.deepEqual(first.geometry, squares[0]!.geometry)
})

test('cells are GeoJSON, and two kinds of areas in one request are not', async () => {
  const { body } = await ask({ groupby: 'h3(2)', f: 'geojson', limit: '5' })
  assert.equal(body.features.length, 5)
  for (const { geometry, properties } of body.features) {
    assert.match(properties['h3(2)'], /^82/)
    assert.match(geometry.type, /Polygon/)
  }
  assert.ok(body.links.some(({ rel }: { rel: string }) => rel === 'next'))
  assert.equal((await ask({ groupby: 'h3(2),tile(3)', f: 'geojson' })).status, 400)
  assert.equal((await ask({ groupby: 'h3(2),tile(3)' })).status, 200)
})

test('zones that are unknown, are not areas or have no such label are refused', async () => {
  assert.equal((await ask({ groupby: 'within(nothing)' })).status, 404)
  assert.equal((await ask({ groupby: 'within("../x")' })).status, 404)
  for (const groupby of ['within(places)', 'within(squares,nothing)', 'within()'])
    assert.equal((await ask({ groupby })).status, 400, groupby)
})

test('a caller who may not read the zones gets the response for a dataset that does not exist', async () => {
  await service.publish('open_places', places.slice(0, 50), { description: { visibility: 'open' } })
  for (const visibility of ['public', 'private', 'draft'] as const) {
    await service.publish(`${visibility}_squares`, squares, { description: { visibility } })
    const path = `/v1/ogc/collections/open_places/aggregate?groupby=within(${visibility}_squares)`
    const { status } = await service.request('GET', path)
    assert.ok([401, 403, 404].includes(status), `${visibility}: ${status}`)
    if (visibility !== 'public') assert.equal(status, 404)
  }
  await service.publish('open_squares', squares, { description: { visibility: 'open' } })
  const open = await service.request(
    'GET',
    '/v1/ogc/collections/open_places/aggregate?groupby=within(open_squares)',
  )
  assert.equal(open.status, 200)
})

test('a table of groups is also Parquet with its types, and areas are GeoParquet', async () => {
  const query = { groupby: 'day,hour(at),open', measures: 'count,sum(big),mean(size),max(name)' }
  const { body } = await ask({ ...query, limit: '2000' })
  const response = await service.fetch(
    `/collections/places/aggregate?${new URLSearchParams({ ...query, limit: '2000', f: 'parquet' })}`,
  )
  assert.equal(response.headers.get('content-type'), 'application/vnd.apache.parquet')
  const rows = await readParquet(await response.arrayBuffer())
  assert.equal(rows.length, body.rows.length)
  for (const [i, [day, hour, open, count, , mean, name]] of body.rows.entries()) {
    const row = rows[i]!
    assert.equal((row['day'] as Date | null)?.toISOString().slice(0, 10) ?? null, day)
    assert.equal((row['hour(at)'] as Date | null)?.toISOString().replace('.000', '') ?? null, hour)
    assert.deepEqual(
      [row['open'], row['count'], row['mean(size)'], row['max(name)']],
      [open, BigInt(count), mean, name],
    )
  }
  const sum = rows.reduce((all, row) => all + BigInt(row['sum(big)'] as bigint), 0n)
  assert.equal(
    sum,
    places.reduce((all, { properties }) => all + BigInt(properties.big), 0n),
  )
  const cells = await service.fetch('/collections/places/aggregate?groupby=tile(3)&f=parquet')
  const bytes = await cells.arrayBuffer()
  const metadata = parquetMetadata(bytes)
  const geo = JSON.parse(metadata.key_value_metadata!.find(({ key }) => key === 'geo')!.value!)
  assert.equal(geo.primary_column, 'geometry')
  assert.deepEqual(geo.columns.geometry, { encoding: 'WKB', geometry_types: ['Polygon'] })
})

test('a table of groups is also an Arrow stream, with sums of any size, nulls and areas', async () => {
  const query = {
    groupby: 'day,hour(at),open',
    measures: 'count,sum(big),mean(size),max(name)',
    limit: '2000',
  }
  const { body } = await ask(query)
  const fetched = (more: object) =>
    service.fetch(`/collections/places/aggregate?${new URLSearchParams({ ...query, ...more, f: 'arrow' })}`)
  const response = await fetched({})
  assert.equal(response.headers.get('content-type'), 'application/vnd.apache.arrow.stream')
  const table = tableFromIPC(new Uint8Array(await response.arrayBuffer()))
  assert.deepEqual(
    table.schema.fields.map(({ type }) => String(type)),
    ['Date32<DAY>', 'Timestamp<MICROSECOND, UTC>', 'Bool', 'Int64', 'Int64', 'Float64', 'Utf8'],
  )
  assert.equal(table.numRows, body.rows.length)
  const [days, hours] = [table.getChildAt(0)!, table.getChildAt(1)!]
  for (const [i, [day, hour, open, count, , mean, name]] of body.rows.entries()) {
    assert.equal(days.get(i), day === null ? null : Date.parse(day))
    assert.equal(hours.get(i), hour === null ? null : Date.parse(hour))
    const own = [2, 3, 5, 6].map((column) => table.getChildAt(column)!.get(i))
    assert.deepEqual(own, [open, BigInt(count), mean, name])
  }
  assert.equal(
    [...table.getChildAt(4)!].reduce((all: bigint, sum: bigint | null) => all + (sum ?? 0n), 0n),
    places.reduce((all, { properties }) => all + BigInt(properties.big), 0n),
  )
  const empty = await fetched({ filter: 'i < 0' })
  assert.equal(tableFromIPC(new Uint8Array(await empty.arrayBuffer())).numRows, 0)
  const cells = await fetched({ groupby: 'tile(3)', measures: 'count' })
  const areas = tableFromIPC(new Uint8Array(await cells.arrayBuffer()))
  const field = areas.schema.fields.at(-1)!
  assert.equal(field.metadata.get('ARROW:extension:name'), 'geoarrow.wkb')
  assert.equal(areas.getChildAt(2)!.get(0)[0], 1)
})

test('integers beyond 64 bits are decimals in Arrow, and those of more than 38 digits texts', async () => {
  const work = new TimedWork({ owner: 'test', maxMs: 60_000 })
  const read = async (...values: (bigint | number | null)[]) => {
    const columns = [{ name: 'sum', type: 'integer' as const, unit: 'm' }]
    const rows = values.map((value) => [value])
    const shown = {
      columns,
      rows,
      geometries: null,
      numberGroups: 2,
      others: null,
      hasOthers: false,
      links: [],
    }
    return tableFromIPC(new Uint8Array(await arrowBody(shown, work)))
  }
  for (const values of [
    [2n ** 63n, null, -(2n ** 100n), -1],
    [10n ** 38n, null],
  ]) {
    const table = await read(...values)
    const column = table.getChildAt(0)!
    assert.deepEqual(
      values.map((_, i) => (column.get(i) === null ? null : String(column.get(i)))),
      values.map((value) => (value === null ? null : String(value))),
    )
    assert.equal(table.schema.fields[0]!.metadata.get('unit'), 'm')
  }
})

test('a name in sortby counts once, because each takes memory for every group', async () => {
  const parts = [{ name: 'name' }, { name: 'count' }]
  assert.deepEqual(readSort(`-count,name,${'count,'.repeat(5000)}+count`, parts), [
    { name: 'count', isDescending: true },
    { name: 'name', isDescending: false },
  ])
  const [once, often] = await Promise.all(
    ['-count', '-count,count,name'].map((sortby) => ask({ groupby: 'name', sortby })),
  )
  assert.deepEqual(often!.body.rows, once!.body.rows)
})

function readParquet(file: ArrayBuffer): Promise<Record<string, unknown>[]> {
  return parquetReadObjects({ file })
}
