import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { MemberPermission } from '@wayleave/contract/permissions'
import { operator } from '../base/events/events.ts'
import { type SignedInUser, signIn } from './sign-in.ts'
import { openTestServer, type TestServer, type TestSettings } from './test-server.ts'

/** The fields of a key's record, and of the response to its creation. */
export const RECORD = [
  'id',
  'name',
  'scope',
  'permissions',
  'prefix',
  'status',
  'organizationId',
  'expiresAt',
  'createdAt',
  'rotatedAt',
  'revokedAt',
  'lastUsedAt',
  'allowedOrigins',
  'allowedAddresses',
  'creditLimit',
  'creditsUsed',
  'previousSecret',
  'test',
]
export const CREATED = ['id', 'name', 'scope', 'permissions', 'secret', 'expiresAt', 'createdAt']
export const MAP = { name: 'Map', permissions: ['read'] }

/** Starts a service with one user, and returns functions that create keys. */
export async function openKeyHolder(t: TestContext, settings: TestSettings) {
  const service = await openTestServer(t, settings)
  const ada = await signIn(service, 'ada@example.org')
  const create = async (path: string, body: unknown = MAP, token = ada.token) => {
    const answer = await service.request('POST', path, { token, body })
    assert.equal(answer.status, 201, answer.text)
    return answer.body as { id: string; secret: string; expiresAt: string | null; createdAt: string }
  }
  const call = (method: string, path: string, body?: unknown, token = ada.token) =>
    service.request(method, path, { token, body })
  return { service, ada, create, call, shared: `/v1/api-keys/organization/${ada.organizationId}` }
}

/** Adds a user to an organization as the operator does. */
export async function addMember(
  { service }: { service: TestServer },
  organizationId: string,
  email: string,
  permissions: MemberPermission[],
): Promise<SignedInUser> {
  await service.parts.members.add(operator, organizationId, email, permissions)
  return signIn(service, email)
}

/** Every call that takes a key's id. */
export function verbsOf(id: string): { method: string; path: string; body: unknown }[] {
  const path = `/v1/api-keys/${id}`
  return [
    { method: 'GET', path, body: undefined },
    { method: 'GET', path: `${path}/usage`, body: undefined },
    { method: 'PATCH', path, body: { name: 'Mine now' } },
    { method: 'POST', path: `${path}/rotate`, body: undefined },
    { method: 'POST', path: `${path}/revoke`, body: undefined },
    { method: 'DELETE', path, body: undefined },
  ]
}
