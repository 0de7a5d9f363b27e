import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operator } from '../../../base/events/events.ts'
import { createKey, openAccount, readAccountLedger } from '../../../testing/account.ts'
import { getBytes } from '../../../testing/get-bytes.ts'
import { publishText } from '../../../testing/publish.ts'
import { databaseKinds, openTestServer, type TestServer } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'

type Place = [code: string, name: string, x: number]

const FIRST: Place[] = [
  ['a', 'Aarau', 1],
  ['b', 'Basel', 2],
  ['c', 'Chur', 3],
]
const SECOND: Place[] = [
  ['b', 'Basel', 2],
  ['c', 'Chur', 4],
  ['d', 'Davos', 5],
]

async function publish(service: TestServer, places: Place[], options = {}): Promise<void> {
  const features = places.map(([code, name, x]) => ({
    type: 'Feature',
    properties: { code, name },
    geometry: { type: 'Point', coordinates: [x, 0] },
  }))
  const text = JSON.stringify({ type: 'FeatureCollection', features })
  await publishText(service, 'places', 'places.geojson', text, {
    idColumn: 'code',
    description: { credits: 2 },
    ...options,
  })
}

const lines = (bytes: Buffer) =>
  bytes
    .toString()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

for (const database of databaseKinds) {
  test(`changes are counted after publishing, and lists of versions have the counts, on ${database}`, async (t) => {
    const service = await openTestServer(t, { database })
    await publish(service, FIRST)
    await publish(service, SECOND)
    const archives = async () => (await service.request('GET', '/v1/dataset/places/archives')).body.data
    await until('the second version is compared', async () => (await archives())[0].changes !== null)
    const [second, first] = await archives()
    assert.deepEqual(second.changes, { from: 1, added: 1, removed: 1, changed: 1 })
    assert.equal(first.changes, null)

    // Between the versions that are left.
    await publish(service, [...SECOND, ['e', 'Elm', 6]])
    await until('the third version is compared', async () => (await archives())[0].changes !== null)
    await service.parts.versions.delete({ table: 'places', version: 2, origin: operator })
    await until('it is compared again', async () => (await archives())[0].changes?.from === 1)
    assert.deepEqual((await archives())[0].changes, { from: 1, added: 2, removed: 1, changed: 1 })
    await service.parts.versions.delete({ table: 'places', version: 1, origin: operator })
    await until('there is no version before it', async () => (await archives())[0].changes === null)
  })

  test(`the buyer of a version gets the changes since then without ARCHIVED_DATA, for one price, on ${database}`, async (t) => {
    const service = await openTestServer(t, { database })
    await publish(service, FIRST)
    const account = await openAccount(service, 'ada@example.org', { addOns: ['API_ACCESS'], credits: 10 })
    await getBytes(service, '/v1/dataset/places/files/csv', account.key)
    await publish(service, SECOND)
    await publish(service, [...SECOND, ['e', 'Elm', 6]])
    const path = '/v1/dataset/places/changes?from=1'
    const changes = await getBytes(service, path, account.key)
    assert.equal(changes.status, 200)
    assert.equal(changes.headers.get('credits-charged'), '2')
    assert.equal(changes.headers.get('content-type'), 'application/x-ndjson')
    assert.equal(changes.headers.get('content-disposition'), 'attachment; filename="places-v1-v3.ndjson"')
    const rows = lines(changes.bytes).map(({ change, id, feature, before }) => [
      change,
      id,
      feature.geometry.coordinates[0],
      before?.geometry.coordinates[0] ?? null,
    ])
    assert.deepEqual(rows.toSorted(), [
      ['added', 'd', 5, null],
      ['added', 'e', 6, null],
      ['changed', 'c', 4, 3],
      ['removed', 'a', 1, null],
    ])
    const again = await getBytes(service, path, account.key, {
      'if-none-match': changes.headers.get('etag')!,
    })
    assert.equal(again.status, 304)
    const parquet = await getBytes(service, `${path}&f=geoparquet`, account.key)
    assert.equal(parquet.bytes.subarray(0, 4).toString(), 'PAR1')
    assert.equal((await readAccountLedger(service, account)).balance, 4)
    // Only the version that was bought, and only up to the current one.
    for (const query of ['from=2', 'from=1&to=2']) {
      const { status, body } = await service.request('GET', `/v1/dataset/places/changes?${query}`, {
        key: account.key,
      })
      assert.deepEqual([status, body.code, body.addOn], [403, 'add-on-missing', 'ARCHIVED_DATA'], query)
    }
    // The organization has bought it, so that all its keys may.
    const other = await createKey(service, account, ['read'], 'organization')
    assert.equal((await getBytes(service, path, other.secret, {}, 'HEAD')).status, 200)
  })
}

test('those who may read archives get the changes between any two versions', async (t) => {
  const service = await openTestServer(t)
  for (const places of [FIRST, SECOND, FIRST]) await publish(service, places)
  const { key } = await openAccount(service, 'ada@example.org', { addOns: ['ARCHIVED_DATA'], credits: 9 })
  const get = (query: string) => getBytes(service, `/v1/dataset/places/changes?${query}`, key)
  assert.equal(lines((await get('from=1&to=2')).bytes).length, 3)
  assert.equal((await get('from=1&to=3')).bytes.length, 0)
  const places = await get('from=1&to=2&f=places')
  assert.equal(places.headers.get('credits-charged'), '0')
  assert.deepEqual(JSON.parse(places.bytes.toString()), {
    counts: { added: 1, removed: 1, changed: 1 },
    added: [[5, 0]],
    removed: [[1, 0]],
    changed: [[4, 0]],
  })
  const { key: reader } = await openAccount(service, 'eve@example.org', {
    addOns: ['GIS_ACCESS'],
    credits: 9,
  })
  const { key: buyer } = await openAccount(service, 'bob@example.org', { addOns: ['API_ACCESS'], credits: 9 })
  const placesFor = async (secret: string, query: string) =>
    (await getBytes(service, `/v1/dataset/places/changes?f=places&${query}`, secret)).status
  await until('the versions are compared', async () => (await placesFor(reader, 'from=2&to=3')) === 200)
  assert.equal(await placesFor(reader, 'from=1&to=3'), 403)
  assert.equal(await placesFor(buyer, 'from=2&to=3'), 403)
  const same = await get('from=2&to=2')
  assert.deepEqual([same.status, same.bytes.length, same.headers.get('credits-charged')], [200, 0, '0'])
  const status = async (query: string) => (await get(query)).status
  assert.equal(await status('from=3&to=2'), 400)
  assert.equal(await status('from=9'), 404)
  assert.equal(await status('from=x'), 400)
  assert.equal(await status('to=2'), 400)
  assert.equal(await status('from=1&f=csv'), 400)
})

test('datasets whose ids are row numbers say so, and nothing is charged', async (t) => {
  const service = await openTestServer(t)
  await publish(service, FIRST, { idColumn: undefined })
  await publish(service, SECOND)
  const account = await openAccount(service, 'ada@example.org', { addOns: ['ARCHIVED_DATA'], credits: 5 })
  const { status, body } = await service.request('GET', '/v1/dataset/places/changes?from=1', {
    key: account.key,
  })
  assert.deepEqual([status, body.code], [409, 'no-stable-ids'])
  assert.match(body.detail, /version 1 of "places" are row numbers/)
  assert.equal((await readAccountLedger(service, account)).balance, 5)
  await until('the second version was looked at', async () => {
    const [version] = await service.parts.database.db
      .selectFrom('versions')
      .select('changes')
      .where('version', '=', 2)
      .execute()
    return version?.changes === 'null'
  })
})
