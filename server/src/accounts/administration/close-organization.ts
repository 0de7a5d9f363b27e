import { type Origin, recordEvent } from '../../base/events/events.ts'
import { declineOpenRequests } from '../access-requests/access-request-store.ts'
import { endPlanOfOrganization } from '../billing/plan-periods.ts'
import { revokeOrganizationKeys } from '../keys/revoke-user-keys.ts'
import type { ControlChange } from '../organizations/organizations.ts'
import { findOrganization } from '../organizations/store.ts'
import { closeOrganizationRow, leaveDatasets } from './personal-data-store.ts'

/**
 * For an organization without members: ends its plan, revokes its keys, and removes its name, which may be a person's. Its
 * ledger and its events stay, and its datasets become the operator's. It is no longer listed.
 */
export async function closeOrganization(
  change: ControlChange,
  origin: Origin,
  organizationId: string,
  reason: string,
): Promise<void> {
  const { database, tx, changed, at } = change
  await endPlanOfOrganization(change, origin, organizationId)
  await revokeOrganizationKeys(database, tx, at, origin, organizationId)
  await declineOpenRequests(tx, organizationId, {
    note: 'The organization was closed.',
    decided_at: at.toISOString(),
    decided_by: origin.actor,
  })
  await leaveDatasets(tx, organizationId)
  const organization = await findOrganization(tx, organizationId)
  await closeOrganizationRow(tx, organizationId, organization!.name, at)
  await recordEvent(tx, at, origin, {
    action: 'organization.closed',
    organizationId,
    subject: `organization:${organizationId}`,
    detail: { reason },
  })
  changed('organization', organizationId)
}
