import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { openAccount } from '../account.ts'
import { points, publishText } from '../publish.ts'
import { type Answer, type DatabaseKind, openTestServer } from '../test-server.ts'

export const RECORD = ['id', 'name', 'scope', 'permissions', 'prefix', 'expiresAt', 'createdAt']
export const CREATED = ['id', 'name', 'scope', 'permissions', 'secret', 'expiresAt', 'createdAt']
export const FORMATS = ['csv', 'json', 'geojson', 'kml', 'shp']
export const MAP = { name: 'Map', permissions: ['read'] }
export const SECRET = /^svc_[a-z0-9]+_[0-9A-Za-z]{32}$/
export const UTC = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/

export async function openContract(t: TestContext, database: DatabaseKind) {
  const settings = { keysPerUser: 1000, keysPerOrganization: 1000 }
  const service = await openTestServer(t, { database, settings })
  await publishText(service, 'places', 'places.geojson', points(50))
  const addOns = ['API_ACCESS', 'GIS_ACCESS', 'ARCHIVED_DATA'] as const
  const ada = await openAccount(service, 'ada@example.org', { addOns: [...addOns], credits: 1000 })
  const call = (method: string, path: string, body?: unknown, token = ada.token) =>
    service.request(method, path, { token, body })
  const read = (path: string, key?: string) => service.request('GET', path, key === undefined ? {} : { key })
  const create = async (body: unknown = MAP, path = '/v1/api-keys/personal') => {
    const answer = await call('POST', path, body)
    assert.equal(answer.status, 201, answer.text)
    return answer.body as { id: string; secret: string }
  }
  return { service, ada, call, read, create, shared: `/v1/api-keys/organization/${ada.organizationId}` }
}

export type Contract = Awaited<ReturnType<typeof openContract>>
export type Row = [name: string, check: (contract: Contract) => Promise<void>]

export const ITEMS = '/v1/ogc/collections/places/items'
export const CSV = '/v1/dataset/places/files/csv'

export function hasFields(record: object, fields: string[]): void {
  for (const field of fields) assert.ok(Object.hasOwn(record, field), `${field} is missing`)
}

export function isProblem(answer: Answer, status: number): void {
  assert.equal(answer.status, status, answer.text)
  assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/)
  hasFields(answer.body, ['type', 'title', 'status', 'detail', 'instance', 'code', 'requestId'])
  assert.equal(answer.body.status, status)
}
