import type { MemberPermission } from '@wayleave/contract/permissions'
import type { ControlDatabase, Db, Tx } from '../../base/database/open.ts'
import { mayInvite } from '../access/membership.ts'
import { findMembership } from '../access/membership-store.ts'
import { sortPermissions } from '../access/permissions.ts'

export interface Invitation {
  id: string
  organizationId: string
  email: string
  permissions: MemberPermission[]
  /** The inviter's user id. */
  invitedBy: string
  createdAt: string
  expiresAt: string
  acceptedAt: string | null
}

/** An address has at most one open invitation to an organization: a new one replaces the older. */
export async function putInvitation(tx: Tx, invitation: Invitation, tokenHash: string): Promise<void> {
  await tx
    .deleteFrom('invitations')
    .where('organization_id', '=', invitation.organizationId)
    .where('email', '=', invitation.email)
    .where('accepted_at', 'is', null)
    .execute()
  await tx
    .insertInto('invitations')
    .values({
      id: invitation.id,
      organization_id: invitation.organizationId,
      email: invitation.email,
      permissions: JSON.stringify(invitation.permissions),
      token_hash: tokenHash,
      invited_by: invitation.invitedBy,
      created_at: invitation.createdAt,
      expires_at: invitation.expiresAt,
      accepted_at: null,
    })
    .execute()
}

/** Invitations that can still be accepted, newest first. */
export async function readOpenInvitations(db: Db, organizationId: string, now: Date): Promise<Invitation[]> {
  const rows = await selectInvitations(db)
    .where('organization_id', '=', organizationId)
    .where('accepted_at', 'is', null)
    .where('expires_at', '>', now.toISOString())
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute()
  return rows.map(toInvitation)
}

/** Invitations by one member that were not accepted yet, expired ones included. */
export async function readOpenInvitationsBy(
  tx: Tx,
  organizationId: string,
  userId: string,
): Promise<Invitation[]> {
  const rows = await selectInvitations(tx)
    .where('organization_id', '=', organizationId)
    .where('invited_by', '=', userId)
    .where('accepted_at', 'is', null)
    .execute()
  return rows.map(toInvitation)
}

/** Whether the address has an invitation that can still be accepted. */
export async function hasOpenInvitation(db: Db, email: string, now: Date): Promise<boolean> {
  const rows = await db
    .selectFrom('invitations')
    .innerJoin('organizations', 'organizations.id', 'invitations.organization_id')
    .select(['organizations.id as organizationId', 'invited_by as userId', 'permissions as invited'])
    .where('invitations.email', '=', email)
    .where('organizations.suspended_at', 'is', null)
    .where('invitations.accepted_at', 'is', null)
    .where('invitations.expires_at', '>', now.toISOString())
    .execute()
  for (const { invited, ...inviter } of rows) {
    const membership = await findMembership(db, inviter)
    if (membership && mayInvite(membership.permissions, JSON.parse(invited) as MemberPermission[]))
      return true
  }
  return false
}

export async function findInvitation(db: Db, tokenHash: string): Promise<Invitation | undefined> {
  const row = await selectInvitations(db).where('token_hash', '=', tokenHash).executeTakeFirst()
  return row && toInvitation(row)
}

/** Locked until the transaction ends, so that an invitation is accepted only once. */
export async function lockInvitation(
  database: ControlDatabase,
  tx: Tx,
  tokenHash: string,
): Promise<Invitation | undefined> {
  const row = await database
    .forUpdate(selectInvitations(tx).where('token_hash', '=', tokenHash))
    .executeTakeFirst()
  return row && toInvitation(row)
}

export async function setAccepted(tx: Tx, id: string, at: Date): Promise<void> {
  await tx.updateTable('invitations').set({ accepted_at: at.toISOString() }).where('id', '=', id).execute()
}

/** Returns the withdrawn invitation's address; undefined if there was no such invitation. */
export async function deleteInvitation(
  tx: Tx,
  organizationId: string,
  id: string,
): Promise<string | undefined> {
  const row = await tx
    .deleteFrom('invitations')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('accepted_at', 'is', null)
    .returning('email')
    .executeTakeFirst()
  return row?.email
}

function selectInvitations(db: Db) {
  return db
    .selectFrom('invitations')
    .select([
      'id',
      'organization_id as organizationId',
      'email',
      'permissions',
      'invited_by as invitedBy',
      'created_at as createdAt',
      'expires_at as expiresAt',
      'accepted_at as acceptedAt',
    ])
}

function toInvitation(row: Omit<Invitation, 'permissions'> & { permissions: string }): Invitation {
  return { ...row, permissions: sortPermissions(JSON.parse(row.permissions) as MemberPermission[]) }
}
