import assert from 'node:assert/strict'
import { operator } from '../../base/events/events.ts'
import { newId } from '../../base/id.ts'
import { openAccount } from '../account.ts'
import { signIn } from '../sign-in.ts'
import { CSV, ITEMS, isProblem, MAP, type Row } from './contract.ts'

/** The table of errors, row by row. */
export const errors: Row[] = [
  [
    '401: a missing or invalid token on every management endpoint',
    async ({ service, create, shared }) => {
      const { id } = await create()
      const key = `/v1/api-keys/${id}`
      for (const [method, path] of [
        ['GET', '/v1/api-keys/my-keys'],
        ['GET', '/v1/api-keys/accessible'],
        ['POST', '/v1/api-keys/personal'],
        ['GET', key],
        ['PATCH', key],
        ['POST', `${key}/rotate`],
        ['POST', `${key}/revoke`],
        ['DELETE', key],
        ['GET', `${key}/usage`],
        ['GET', shared],
        ['POST', shared],
        ['GET', '/v1/organization/me'],
      ] as const) {
        for (const token of [undefined, 'x', 'eyJhbGciOiJub25lIn0.e30.']) {
          const answer = await service.request(method, path, token === undefined ? {} : { token })
          isProblem(answer, 401)
          assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer/)
        }
      }
    },
  ],
  [
    '401: a missing, malformed, unknown or rotated-away key on every data endpoint',
    async ({ ada, call, read, create }) => {
      const { id, secret } = await create()
      await call('POST', `/v1/api-keys/${id}/rotate`)
      const last = ada.key.at(-1) === '0' ? '1' : '0'
      for (const path of [CSV, ITEMS]) {
        for (const key of [undefined, 'nonsense', ada.key.slice(0, -1) + last, secret]) {
          const answer = await read(path, key)
          isProblem(answer, 401)
          assert.ok(answer.headers.get('www-authenticate'))
        }
      }
    },
  ],
  [
    '403: the caller lacks APIKEY_VIEW or APIKEY_CREATE, or is not a member',
    async ({ service, ada, call, shared }) => {
      await service.parts.members.add(operator, ada.organizationId, 'plain@example.org', [])
      const plain = await signIn(service, 'plain@example.org')
      const stranger = await signIn(service, 'stranger@example.org')
      for (const { token } of [plain, stranger]) {
        isProblem(await call('GET', shared, undefined, token), 403)
        isProblem(await call('POST', shared, MAP, token), 403)
      }
    },
  ],
  [
    '403: the key’s organization lacks API_ACCESS for downloads or GIS_ACCESS for items',
    async ({ service }) => {
      const { key } = await openAccount(service, 'poor@example.org', { credits: 5 })
      isProblem(await service.request('GET', CSV, { key }), 403)
      isProblem(await service.request('GET', ITEMS, { key }), 403)
    },
  ],
  [
    '404: a key or organization that does not exist',
    async ({ call }) => {
      for (const id of [newId('key'), 'nonsense']) {
        isProblem(await call('GET', `/v1/api-keys/${id}`), 404)
        isProblem(await call('PATCH', `/v1/api-keys/${id}`, { name: 'x' }), 404)
        isProblem(await call('POST', `/v1/api-keys/${id}/rotate`), 404)
        isProblem(await call('POST', `/v1/api-keys/${id}/revoke`), 404)
        isProblem(await call('DELETE', `/v1/api-keys/${id}`), 404)
        isProblem(await call('GET', `/v1/api-keys/${id}/usage`), 404)
      }
      for (const id of [newId('org'), 'nonsense']) {
        isProblem(await call('GET', `/v1/api-keys/organization/${id}`), 404)
        isProblem(await call('POST', `/v1/api-keys/organization/${id}`, MAP), 404)
      }
    },
  ],
  [
    '404: an unknown table or collection, and an unsupported format',
    async ({ ada, read }) => {
      for (const path of [
        '/v1/dataset/nowhere/files/csv',
        '/v1/dataset/NO!/files/csv',
        '/v1/dataset/places/files/docx',
        '/v1/dataset/places/files/CSV',
        '/v1/ogc/collections/nowhere/items',
      ]) {
        isProblem(await read(path, ada.key), 404)
      }
      isProblem(await read('/v1/dataset/nowhere/sample/json'), 404)
    },
  ],
]
