import assert from 'node:assert/strict'
import type { AddOn } from '@wayleave/contract/add-ons'
import type { Grant } from '../accounts/access/grant.ts'
import { operator } from '../base/events/events.ts'
import { type SignedInUser, signIn } from './sign-in.ts'
import type { TestServer } from './test-server.ts'

export interface Account extends SignedInUser {
  key: string
  keyId: string
}

export interface AccountWishes {
  addOns?: AddOn[]
  credits?: number
  permissions?: string[]
}

/** A signed-in user whose organization has the requested add-ons and credits, with a key. */
export async function openAccount(
  service: TestServer,
  email: string,
  wishes: AccountWishes = {},
): Promise<Account> {
  const user = await signIn(service, email)
  const { administration } = service.parts
  await administration.setAddOns(operator, user.organizationId, () => wishes.addOns ?? [])
  if (wishes.credits) await service.parts.ledger.setCredits(operator, user.organizationId, wishes.credits)
  const { secret, id } = await createKey(service, user, wishes.permissions ?? ['read'])
  return { ...user, key: secret, keyId: id }
}

export async function createKey(
  service: TestServer,
  user: { token: string; organizationId: string },
  permissions: string[],
  scope: 'personal' | 'organization' = 'personal',
): Promise<{ secret: string; id: string }> {
  const path =
    scope === 'personal' ? '/v1/api-keys/personal' : `/v1/api-keys/organization/${user.organizationId}`
  const answer = await service.request('POST', path, {
    token: user.token,
    body: { name: 'Test', permissions },
  })
  assert.equal(answer.status, 201, answer.text)
  return answer.body
}

/** The balance, and every row of the ledger, oldest first. */
export async function readAccountLedger(service: TestServer, { token, organizationId }: SignedInUser) {
  const me = await service.request('GET', '/v1/organization/me', { token })
  const ledger = await service.request('GET', `/v1/organization/${organizationId}/ledger?limit=1000`, {
    token,
  })
  const rows = (ledger.body.data as { amount: number; balance: number; kind: string }[]).reverse()
  return { balance: me.body.credits.balance as number, rows }
}

/** The grant of an account's key, as the verifier makes it. */
export function grantOf({ keyId, organizationId }: Account): Grant {
  return {
    keyId,
    secretHash: '',
    scope: 'organization',
    kind: 'key',
    organizationId,
    userId: null,
    permissions: new Set(['read']),
    isTest: false,
    addOns: new Set(['API_ACCESS']),
    datasetGrants: new Map(),
    seesHidden: false,
    publishes: false,
    expiresAt: null,
    allowedCallers: null,
    creditLimit: null,
    memberCreditLimit: null,
    dailyFeatures: null,
    bucket: { name: `key:${keyId}`, rate: { requests: 1, burst: 1 } },
    payer: keyId,
    owner: keyId,
    ownerBucket: null,
  }
}
