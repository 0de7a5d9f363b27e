import type { MemberPermission } from '@wayleave/contract/permissions'
import type { Tx } from '../../base/database/open.ts'
import { type Origin, recordEvent } from '../../base/events/events.ts'
import { mayInvite } from '../access/membership.ts'
import { deleteInvitation, readOpenInvitationsBy } from './invitation-store.ts'

/**
 * For the transaction in which a member loses permissions or leaves: deletes the open invitations that the
 * member could no longer make. `permissions` are those that remain; none after leaving. The organization must
 * be locked, so that no invitation is made or accepted meanwhile.
 */
export async function voidInvitations(
  tx: Tx,
  at: Date,
  origin: Origin,
  inviter: { userId: string; organizationId: string; permissions: readonly MemberPermission[] },
): Promise<void> {
  const { userId, organizationId, permissions } = inviter
  for (const invitation of await readOpenInvitationsBy(tx, organizationId, userId)) {
    if (mayInvite(permissions, invitation.permissions)) continue
    await deleteInvitation(tx, organizationId, invitation.id)
    await recordEvent(tx, at, origin, {
      action: 'invitation.voided',
      organizationId,
      subject: `invitation:${invitation.id}`,
      detail: { email: invitation.email, reason: 'the inviter no longer holds the permissions' },
    })
  }
}
