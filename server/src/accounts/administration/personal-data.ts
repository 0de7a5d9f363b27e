import type { MemberPermission } from '@wayleave/contract/permissions'
import type { PersonalData } from '@wayleave/contract/records'
import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/database/open.ts'
import { readEvents, type StoredEvent } from '../../base/events/store.ts'
import { readBudgetsOf } from '../access/member-budget-store.ts'
import { readOrganizationsOf } from '../access/membership-store.ts'
import { readProfiles } from '../billing/invoices/profile-store.ts'
import { listOrders } from '../billing/orders/order-store.ts'
import { readSpendingOf } from '../credits/budget-store.ts'
import { readLedger } from '../credits/ledger-store.ts'
import { keyRecords } from '../keys/key-record.ts'
import { listKeysOfUser } from '../keys/store.ts'
import { listSessions } from '../users/session-store.ts'
import type { User } from '../users/user-store.ts'
import {
  readInvitationsTo,
  readNoticeSwitchesOf,
  readRequestLogOf,
  readRequestsOf,
  readSignOnOf,
  readUsageOf,
  readWebhooksBy,
} from './personal-data-store.ts'

/** Max rows of each list, the newest ones. */
const MAX_ROWS = 10_000

/** Everything that the service stores about a user. What it stores about others, such as their addresses, is left out. */
export async function readPersonalData(db: Db, clock: Clock, user: User): Promise<PersonalData> {
  const { id: userId, email } = user
  const now = clock()
  const organizations = (await readOrganizationsOf(db, [userId])).get(userId) ?? []
  const keys = await listKeysOfUser(db, userId)
  const events = await readEvents(db, { userId, limit: MAX_ROWS })
  // Also the organizations that the user has left.
  const organizationIds = new Set(
    [
      ...organizations.map(({ id }) => id),
      ...keys.map((key) => key.organization_id),
      ...events.map((event) => event.organizationId),
    ].filter((id) => id !== null),
  )
  const ledger = []
  for (const organizationId of organizationIds) {
    const rows = await readLedger(db, organizationId, { userId, limit: MAX_ROWS - ledger.length })
    ledger.push(...rows.map(({ id: _, balance: __, actor: ___, ...row }) => ({ ...row, organizationId })))
    if (ledger.length >= MAX_ROWS) break
  }
  const keyIds = keys.map((key) => key.id)
  const usageKeys = [...[...organizationIds].map((id) => `user:${userId}@${id}`), ...keyIds]
  // What belongs to an organization is shown to those of its members who may see it there.
  const idsWith = (permission: MemberPermission) =>
    organizations.filter(({ permissions }) => permissions.includes(permission)).map(({ id }) => id)
  const payingIds = idsWith('BILLING_VIEW')
  const orders = await listOrders(db, {
    organizationIds: payingIds,
    createdBy: `user:${userId}`,
    limit: MAX_ROWS,
  })
  return {
    exportedAt: now.toISOString(),
    user,
    signOn: await readSignOnOf(db, userId),
    organizations,
    sessions: await listSessions(db, userId, now),
    keys: await keyRecords(db, keys, now),
    invitations: await readInvitationsTo(db, email),
    accessRequests: await readRequestsOf(db, userId),
    budgets: await readBudgetsOf(db, userId),
    spending: await readSpendingOf(db, userId, MAX_ROWS),
    ledger,
    usage: await readUsageOf(db, usageKeys, MAX_ROWS),
    requests: await readRequestLogOf(db, keyIds, MAX_ROWS),
    noticesOff: await readNoticeSwitchesOf(db, email),
    webhooks: await readWebhooksBy(db, userId, idsWith('MEMBER_MANAGE')),
    orders: orders.map(({ organizationName: _, ...order }) => order),
    billingProfiles: await readProfiles(db, payingIds),
    events: events.map((event) => ownEvent(event, userId)),
  }
}

/** What others did to the user is shown without their addresses and reasons, which are not the user's data. */
function ownEvent(
  { at, action, actor, subject, organizationId, detail, address }: StoredEvent,
  userId: string,
) {
  const isOwn = actor === `user:${userId}`
  return {
    at,
    action,
    organizationId,
    subject,
    isOwn,
    detail: isOwn ? detail : {},
    address: isOwn ? address : null,
  }
}
