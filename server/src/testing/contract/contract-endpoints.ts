import assert from 'node:assert/strict'
import { CREATED, CSV, FORMATS, hasFields, ITEMS, MAP, RECORD, type Row, SECRET, UTC } from './contract.ts'

/** Every endpoint and its response. */
export const endpoints: Row[] = [
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
