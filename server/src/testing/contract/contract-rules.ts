import assert from 'node:assert/strict'
import { openAccount } from '../account.ts'
import { CSV, ITEMS, isProblem, MAP, type Row } from './contract.ts'

/** Rules for all endpoints: secrets, names, the two ways to authenticate, permissions and add-ons. */
export const rules: Row[] = [
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
