import assert from 'node:assert/strict'
import { CSV, ITEMS, isProblem, MAP, type Row } from './contract.ts'

/** The life cycle of a key, transition by transition. */
export const states: Row[] = [
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
