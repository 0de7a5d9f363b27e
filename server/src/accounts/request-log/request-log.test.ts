import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADD_ONS } from '@wayleave/contract/add-ons'
import { operator } from '../../base/events/events.ts'
import { openAccount } from '../../testing/account.ts'
import { points, publishText } from '../../testing/publish.ts'
import { signIn } from '../../testing/sign-in.ts'
import { databaseKinds, openTestServer } from '../../testing/test-server.ts'
import { operationOf, tableIn } from './request-operation.ts'
import { trimRequestLog } from './store.ts'

const ITEMS = '/v1/ogc/collections/places/items'

for (const database of databaseKinds) {
  test(`only the owner of a key sees its requests, filtered and as CSV (${database})`, async (t) => {
    const service = await openTestServer(t, { database, settings: { admins: ['root@example.org'] } })
    await publishText(service, 'places', 'a.geojson', points(30), { description: { credits: 3 } })
    const ada = await openAccount(service, 'ada@example.org', { credits: 5, addOns: [...ADD_ONS] })
    const bob = await openAccount(service, 'bob@example.org')
    const { key } = ada
    const ask = (path: string) => service.request('GET', path, { key })
    // From memory the second time, and so by the other transport.
    for (let i = 0; i < 2; i++) assert.equal((await ask(`${ITEMS}?nope=secret-person`)).status, 400)
    const pages = [await ask(ITEMS), await ask(ITEMS)]
    for (const { status } of pages) assert.equal(status, 200)
    assert.equal((await ask('/v1/dataset/places/files/csv')).status, 200)
    assert.equal((await ask('/v1/dataset/places/files/json')).status, 402)
    assert.equal((await ask('/v1/dataset/nowhere')).status, 404)
    const session = await service.request('POST', '/v1/auth/session-key', { token: ada.token })
    await service.request('GET', ITEMS, { key: session.body.secret })
    await service.parts.keyRequestLog!.flush()

    const path = `/v1/api-keys/${ada.keyId}/requests`
    const list = async (query = '', token = ada.token) => {
      const answer = await service.request('GET', `${path}${query}`, { token })
      assert.equal(answer.status, 200, answer.text)
      // biome-ignore lint/suspicious/noExplicitAny: rows of a response.
      return answer.body.data as any[]
    }
    const rows = await list()
    assert.deepEqual(
      rows.map(({ operation, table, status, credits }) => [operation, table, status, credits]).reverse(),
      [
        ['items', 'places', 400, 0],
        ['items', 'places', 400, 0],
        ['items', 'places', 200, 0],
        ['items', 'places', 200, 0],
        ['download', 'places', 200, 3],
        ['download', 'places', 402, 0],
        ['metadata', 'nowhere', 404, 0],
      ],
    )
    const bytes = Buffer.byteLength(pages[0]!.text)
    assert.deepEqual([rows[3].bytes, rows[4].bytes], [bytes, bytes])
    assert.ok(!JSON.stringify(rows).includes('secret-person'))
    assert.equal((await list('?status=4xx')).length, 4)
    assert.equal((await list('?status=402')).length, 1)
    assert.equal((await list('?operation=download')).length, 2)
    assert.equal((await list('?table=nowhere')).length, 1)
    const latest = rows.filter(({ at }) => at === rows[0].at).length
    assert.equal((await list(`?since=${rows[0].at}`)).length, latest)
    assert.equal((await list(`?until=${rows[0].at}`)).length, 7 - latest)
    assert.equal((await list('?limit=3')).length, 3)
    const csv = await service.request('GET', `${path}.csv?table=places`, { token: ada.token })
    assert.equal(csv.text.split('\r\n').length, 1 + 6 + 1)
    assert.match(csv.text, /,download,places,200,\d+,\d+,3,1\r\n/)
    for (const form of [path, `${path}.csv`]) {
      assert.equal((await service.request('GET', form, { token: bob.token })).status, 404)
      assert.equal((await service.request('GET', `${form}?status=x`, { token: ada.token })).status, 400)
    }
    const root = await signIn(service, 'root@example.org')
    const admin = `/v1/admin/keys/${ada.keyId}/requests`
    assert.equal((await service.request('GET', admin, { token: root.token })).status, 404)

    const { database: control } = service.parts
    await trimRequestLog(control, { before: '2001', maxRows: 2 })
    assert.equal((await list()).length, 2)
    await trimRequestLog(control, { before: '9', maxRows: 2 })
    assert.equal((await list()).length, 0)
  })
}

test('a key that sends many requests is sampled, and the weights add up', async (t) => {
  const service = await openTestServer(t)
  const { id } = await service.parts.keys.createPlatform(operator, { name: 'Busy', permissions: ['read'] })
  const log = service.parts.keyRequestLog!
  const request = { keyId: id, method: 'GET', route: ITEMS, url: ITEMS, status: 200, milliseconds: 1 }
  for (let i = 0; i < 6460; i++) {
    const weight = log.weightOf(id)
    if (weight > 0) log.add({ ...request, bytes: 10, credits: 0, weight })
  }
  await log.flush()
  const rows = await service.parts.database.db.selectFrom('request_log').select('weight').execute()
  assert.equal(rows.length, 60 + 100)
  assert.equal(
    rows.reduce((sum, { weight }) => sum + weight, 0),
    6460,
  )
  // While nothing can be saved, memory stays bounded.
  for (let i = 0; i < 20_000; i++) log.add({ ...request, bytes: null, credits: 0, weight: 1 })
  await log.flush()
  const { count } = await service.parts.database.db
    .selectFrom('request_log')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  assert.equal(Number(count), 160 + 5000)
})

test('without days nothing is recorded', async (t) => {
  const service = await openTestServer(t, { settings: { requestLogDays: 0 } })
  assert.equal(service.parts.keyRequestLog, null)
})

test('operations have the names of usage, and of an address only the dataset is kept', () => {
  const names = [
    ['GET', '/v1/dataset/:table/files/:format', 'download'],
    ['GET', '/v1/dataset/:table/archives/:version/files/:format', 'archive'],
    ['GET', '/v1/dataset/:table/sample/json', 'sample'],
    ['PUT', '/v1/dataset/:table', 'publish'],
    ['GET', '/v1/dataset/:table', 'metadata'],
    ['GET', '/v1/ogc/collections/:table/items', 'items'],
    ['GET', '/v1/ogc/collections/:table/items/:id', 'item'],
    ['GET', '/v1/ogc/collections/:table/facets', 'facets'],
    ['GET', '/v1/ogc/collections', 'collections'],
    ['POST', '/v1/admin/organizations', 'administration'],
    ['GET', 'unmatched', 'other'],
  ] as const
  for (const [method, route, name] of names) assert.equal(operationOf(method, route), name, route)
  assert.equal(tableIn('/v1/dataset/places?x=1'), 'places')
  assert.equal(tableIn('/v1/ogc/collections/places/items/7'), 'places')
  assert.equal(tableIn(`/v1/dataset/${'x'.repeat(80)}`), '')
  assert.equal(tableIn('/v1/records/search?q=places'), '')
})
