import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAccount } from './testing/account.ts'
import {
  CREATED,
  CSV,
  FORMATS,
  hasFields,
  ITEMS,
  isProblem,
  MAP,
  openContract,
  RECORD,
  type Row,
  SECRET,
  UTC,
} from './testing/contract.ts'
import { errors } from './testing/contract-errors.ts'
import { points, publishText } from './testing/publish.ts'
import { databaseKinds, openTestServer } from './testing/test-server.ts'

/**
 * The contract, row by row, over HTTP: endpoints, rules, states, errors, limits and versions. What a row says
 * is in the name of its test; what it leaves open is held elsewhere.
 */

const endpoints: Row[] = [
  [
    'GET /v1/api-keys/my-keys gives the records of the caller’s personal keys',
    async ({ call, create, shared }) => {
      const own = await create()
      const organizations = await create(MAP, shared)
      const { status, body } = await call('GET', '/v1/api-keys/my-keys')
      assert.equal(status, 200)
      for (const record of body.data) {
        hasFields(record, RECORD)
        assert.equal(record.scope, 'user')
      }
      const ids = body.data.map(({ id }: { id: string }) => id)
      assert.ok(ids.includes(own.id) && !ids.includes(organizations.id))
    },
  ],
  [
    'GET /v1/api-keys/accessible gives every key the caller can see',
    async ({ call, create, shared }) => {
      const made = [await create(), await create(MAP, shared)]
      const { status, body } = await call('GET', '/v1/api-keys/accessible')
      assert.equal(status, 200)
      for (const record of body.data) hasFields(record, RECORD)
      const ids = body.data.map(({ id }: { id: string }) => id)
      for (const { id } of made) assert.ok(ids.includes(id))
    },
  ],
  [
    'POST /v1/api-keys/personal makes a key of scope user and shows its secret',
    async ({ call }) => {
      const expiresAt = '2100-01-01T00:00:00Z'
      const { status, body } = await call('POST', '/v1/api-keys/personal', { ...MAP, expiresAt })
      assert.equal(status, 201)
      assert.deepEqual(Object.keys(body), CREATED)
      assert.equal(body.scope, 'user')
      assert.deepEqual(body.permissions, ['read'])
      assert.match(body.secret, SECRET)
      assert.equal(Date.parse(body.expiresAt), Date.parse(expiresAt))
      assert.match(body.expiresAt, UTC)
      assert.match(body.createdAt, UTC)
      assert.equal((await call('POST', '/v1/api-keys/personal', MAP)).body.expiresAt, null)
    },
  ],
  [
    'GET /v1/api-keys/<key_id> gives the key’s record',
    async ({ call, create }) => {
      const { id } = await create()
      const { status, body } = await call('GET', `/v1/api-keys/${id}`)
      assert.equal(status, 200)
      hasFields(body, RECORD)
      assert.equal(body.id, id)
    },
  ],
  [
    'PATCH /v1/api-keys/<key_id> changes name, permissions or expiry and leaves the secret',
    async ({ call, read, create }) => {
      const { id, secret } = await create()
      for (const body of [
        { name: 'Atlas' },
        { permissions: ['read', 'write'] },
        { expiresAt: '2100-01-01T00:00:00.000Z' },
      ]) {
        const answer = await call('PATCH', `/v1/api-keys/${id}`, body)
        assert.equal(answer.status, 200)
        assert.ok(!Object.hasOwn(answer.body, 'secret'))
        for (const [field, value] of Object.entries(body)) assert.deepEqual(answer.body[field], value)
      }
      assert.equal((await read(ITEMS, secret)).status, 200)
    },
  ],
  [
    'POST /v1/api-keys/<key_id>/rotate gives id, secret and rotatedAt',
    async ({ call, create }) => {
      const { id } = await create()
      const { status, body } = await call('POST', `/v1/api-keys/${id}/rotate`)
      assert.equal(status, 200)
      assert.deepEqual(Object.keys(body), ['id', 'secret', 'rotatedAt'])
      assert.equal(body.id, id)
      assert.match(body.secret, SECRET)
      assert.match(body.rotatedAt, UTC)
    },
  ],
  [
    'POST /v1/api-keys/<key_id>/revoke disables the key and keeps the record',
    async ({ call, read, create }) => {
      const { id, secret } = await create()
      assert.equal((await call('POST', `/v1/api-keys/${id}/revoke`)).status, 200)
      assert.equal((await read(ITEMS, secret)).status, 401)
      assert.equal((await call('GET', `/v1/api-keys/${id}`)).status, 200)
    },
  ],
  [
    'DELETE /v1/api-keys/<key_id> removes the key',
    async ({ call, create }) => {
      const { id } = await create()
      assert.equal((await call('DELETE', `/v1/api-keys/${id}`)).status, 204)
      assert.equal((await call('GET', `/v1/api-keys/${id}`)).status, 404)
    },
  ],
  [
    'GET /v1/api-keys/<key_id>/usage gives the calls and credits of that key over the range',
    async ({ service, call, read, create }) => {
      const { id, secret } = await create()
      assert.equal((await read(CSV, secret)).status, 200)
      assert.equal((await read(ITEMS, secret)).status, 200)
      await service.parts.meter.flush()
      const today = new Date().toISOString().slice(0, 10)
      const range = `?startDate=${today}&endDate=${today}`
      const { status, body } = await call('GET', `/v1/api-keys/${id}/usage${range}`)
      assert.equal(status, 200)
      assert.deepEqual(body.totals, { calls: 2, credits: 1 })
      const before = await call('GET', `/v1/api-keys/${id}/usage?startDate=2020-01-01&endDate=2020-01-31`)
      assert.deepEqual(before.body.totals, { calls: 0, credits: 0 })
    },
  ],
  [
    'GET /v1/api-keys/organization/<organizationId> gives the organization’s keys',
    async ({ call, create, shared }) => {
      const { id } = await create(MAP, shared)
      const { status, body } = await call('GET', shared)
      assert.equal(status, 200)
      assert.ok(body.data.some((record: { id: string }) => record.id === id))
      for (const record of body.data) {
        hasFields(record, RECORD)
        assert.equal(record.scope, 'organization')
      }
    },
  ],
  [
    'POST /v1/api-keys/organization/<organizationId> makes an organization key and shows its secret',
    async ({ call, read, shared }) => {
      const { status, body } = await call('POST', shared, MAP)
      assert.equal(status, 201)
      assert.deepEqual(Object.keys(body), CREATED)
      assert.equal(body.scope, 'organization')
      assert.equal((await read(ITEMS, body.secret)).status, 200)
    },
  ],
  [
    'GET /v1/organization/me gives the caller’s organization',
    async ({ ada, call }) => {
      const { status, body } = await call('GET', '/v1/organization/me')
      assert.equal(status, 200)
      assert.equal(body.id, ada.organizationId)
    },
  ],
  [
    'GET /v1/dataset/<table>/files/<format> gives the full export in every format, and costs credits',
    async ({ service, ada, read, create }) => {
      const balance = async () => (await service.parts.organizations.find(ada.organizationId)).credits
      const { secret } = await create()
      for (const format of FORMATS) {
        const before = await balance()
        const answer = await read(`/v1/dataset/places/files/${format}`, secret)
        assert.equal(answer.status, 200, format)
        assert.ok(answer.text.length > 0)
        assert.equal(await balance(), before - 1, format)
      }
      const csv = (await read(CSV, secret)).text.trimEnd().split('\n')
      assert.equal(csv.length, 51)
      const geojson = (await read('/v1/dataset/places/files/geojson', secret)).body
      assert.equal(geojson.features.length, 50)
    },
  ],
  [
    'GET /v1/dataset/<table>/sample/json gives free rows without a key',
    async ({ service, ada, read }) => {
      const before = (await service.parts.organizations.find(ada.organizationId)).credits
      const { status, body } = await read('/v1/dataset/places/sample/json')
      assert.equal(status, 200)
      assert.ok(Array.isArray(body) && body.length > 0)
      assert.equal((await service.parts.organizations.find(ada.organizationId)).credits, before)
    },
  ],
  [
    'GET /v1/ogc/collections/<table>/items gives features within limit and bbox, and next leads on',
    async ({ service, ada, read }) => {
      const seen = new Set<unknown>()
      let next: string | undefined = `${ITEMS}?limit=7&bbox=-180,-90,-140,-50`
      while (next) {
        const { status, body } = await read(next, ada.key)
        assert.equal(status, 200)
        assert.equal(body.type, 'FeatureCollection')
        assert.ok(body.features.length <= 7)
        for (const feature of body.features) {
          const [x, y] = feature.geometry.coordinates
          assert.ok(x >= -180 && x <= -140 && y >= -90 && y <= -50)
          assert.ok(!seen.has(feature.id))
          seen.add(feature.id)
        }
        const link = body.links.find(({ rel }: { rel: string }) => rel === 'next')
        next = link && (link.href as string).slice(service.url.length)
      }
      assert.equal(seen.size, 41)
    },
  ],
]

const rules: Row[] = [
  [
    'lists never give the secret, only the prefix',
    async ({ call, create, shared }) => {
      const made = [await create(), await create(MAP, shared)]
      for (const path of ['/v1/api-keys/my-keys', '/v1/api-keys/accessible', shared]) {
        const { text, body } = await call('GET', path)
        for (const { secret } of made) assert.ok(!text.includes(secret))
        for (const record of body.data) {
          assert.ok(!Object.hasOwn(record, 'secret'))
          assert.match(record.prefix, /^svc_live_[0-9A-Za-z]{8}$/)
        }
      }
    },
  ],
  [
    'the collection’s name is the dataset’s table name',
    async ({ ada, read }) => {
      const { status, body } = await read('/v1/ogc/collections/places', ada.key)
      assert.equal(status, 200)
      assert.equal(body.id, 'places')
    },
  ],
  [
    'a token opens no data, and a key opens no management',
    async ({ service, ada }) => {
      for (const path of [CSV, ITEMS]) {
        isProblem(await service.request('GET', path, { token: ada.token }), 401)
      }
      for (const path of ['/v1/api-keys/my-keys', '/v1/organization/me']) {
        isProblem(await service.request('GET', path, { key: ada.key }), 401)
        isProblem(await service.request('GET', path, { token: ada.key }), 401)
      }
    },
  ],
  [
    'data needs read on the dataset',
    async ({ read, create }) => {
      for (const [permissions, status] of [
        [['read'], 200],
        [['read:places'], 200],
        [['write'], 403],
        [['read:other'], 403],
        [['write:places'], 403],
      ] as const) {
        const { secret } = await create({ name: 'x', permissions })
        for (const path of [CSV, ITEMS]) {
          assert.equal((await read(path, secret)).status, status, `${permissions} ${path}`)
        }
      }
    },
  ],
  [
    'downloads need API_ACCESS and features GIS_ACCESS, each by itself',
    async ({ service }) => {
      for (const [addOn, open, closed] of [
        ['API_ACCESS', CSV, ITEMS],
        ['GIS_ACCESS', ITEMS, CSV],
      ] as const) {
        const email = `${addOn.toLowerCase()}@example.org`
        const { key } = await openAccount(service, email, { addOns: [addOn], credits: 5 })
        assert.equal((await service.request('GET', open, { key })).status, 200)
        const refused = await service.request('GET', closed, { key })
        isProblem(refused, 403)
        assert.match(refused.body.detail, addOn === 'API_ACCESS' ? /GIS_ACCESS/ : /API_ACCESS/)
      }
    },
  ],
]

const states: Row[] = [
  [
    '(none) → works: creation, personal or for the organization, shows the secret once',
    async ({ call, read, create, shared }) => {
      for (const path of ['/v1/api-keys/personal', shared]) {
        const { id, secret } = await create(MAP, path)
        assert.equal((await read(ITEMS, secret)).status, 200)
        assert.ok(!(await call('GET', `/v1/api-keys/${id}`)).text.includes(secret))
      }
    },
  ],
  [
    'works → works with a new secret: rotation ends the old one at once',
    async ({ call, read, create }) => {
      const { id, secret } = await create()
      assert.equal((await read(ITEMS, secret)).status, 200)
      const rotated = (await call('POST', `/v1/api-keys/${id}/rotate`)).body.secret
      isProblem(await read(ITEMS, secret), 401)
      isProblem(await read(CSV, secret), 401)
      assert.equal((await read(ITEMS, rotated)).status, 200)
    },
  ],
  [
    'works → disabled: revocation keeps the record and its history',
    async ({ service, call, read, create }) => {
      const { id, secret } = await create()
      assert.equal((await read(ITEMS, secret)).status, 200)
      await service.parts.meter.flush()
      const before = (await call('GET', `/v1/api-keys/${id}`)).body
      const revoked = (await call('POST', `/v1/api-keys/${id}/revoke`)).body
      isProblem(await read(ITEMS, secret), 401)
      assert.equal(revoked.name, before.name)
      assert.equal(revoked.createdAt, before.createdAt)
      assert.equal((await call('GET', `/v1/api-keys/${id}/usage`)).body.totals.calls, 1)
    },
  ],
  [
    'works or disabled → removed: the record no longer exists',
    async ({ call, read, create }) => {
      const [working, disabled] = [await create(), await create()]
      await call('POST', `/v1/api-keys/${disabled.id}/revoke`)
      for (const { id, secret } of [working, disabled]) {
        assert.equal((await call('DELETE', `/v1/api-keys/${id}`)).status, 204)
        isProblem(await call('GET', `/v1/api-keys/${id}`), 404)
        isProblem(await call('DELETE', `/v1/api-keys/${id}`), 404)
        isProblem(await read(ITEMS, secret), 401)
      }
    },
  ],
  [
    'works → unchanged: a change of name, permissions or expiry leaves secret and state',
    async ({ call, read, create }) => {
      const { id, secret } = await create()
      const body = { name: 'New', permissions: ['read:places'], expiresAt: '2100-01-01T00:00:00Z' }
      assert.equal((await call('PATCH', `/v1/api-keys/${id}`, body)).body.status, 'active')
      assert.equal((await read(ITEMS, secret)).status, 200)
    },
  ],
]

for (const database of databaseKinds) {
  test(`the contract holds on ${database}`, async (t) => {
    const contract = await openContract(t, database)
    for (const [part, rows] of Object.entries({ endpoints, rules, states, errors })) {
      for (const [name, check] of rows) await t.test(`${part}: ${name}`, () => check(contract))
    }

    await t.test('limits: the secret has 32 characters after the environment label', async () => {
      const { secret } = await contract.create()
      assert.equal(secret.slice('svc_live_'.length).length, 32)
    })
    await t.test('versions: every endpoint of the contract begins with /v1', () => {
      const paths = contract.service.routes.rows.map(({ url }) => url)
      for (const path of [
        '/v1/api-keys/my-keys',
        '/v1/api-keys/accessible',
        '/v1/api-keys/personal',
        '/v1/api-keys/:keyId',
        '/v1/api-keys/:keyId/rotate',
        '/v1/api-keys/:keyId/revoke',
        '/v1/api-keys/:keyId/usage',
        '/v1/api-keys/organization/:organizationId',
        '/v1/organization/me',
        '/v1/dataset/:table/files/:format',
        '/v1/dataset/:table/sample/json',
      ]) {
        assert.ok(paths.includes(path), path)
      }
    })
  })

  test(`errors: 429 past the rate, for keys and for users (${database})`, async (t) => {
    const clock = () => new Date('2026-11-15T12:00:00Z')
    const service = await openTestServer(t, {
      database,
      clock,
      settings: { keyRate: 60, keyBurst: 2, userRate: 5 },
    })
    const ada = await openAccount(service, 'ada@example.org', { addOns: ['GIS_ACCESS'] })
    await publishText(service, 'places', 'places.geojson', points(3))
    const items = () => service.request('GET', ITEMS, { key: ada.key })
    assert.deepEqual([(await items()).status, (await items()).status], [200, 200])
    isProblem(await items(), 429)
    // Signing in and making the key took two of the five.
    const list = () => service.request('GET', '/v1/api-keys/my-keys', { token: ada.token })
    for (let i = 0; i < 3; i++) assert.equal((await list()).status, 200)
    const refused = await list()
    isProblem(refused, 429)
    assert.ok(Number(refused.headers.get('retry-after')) >= 1)
  })
}
