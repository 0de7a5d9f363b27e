import type { MemberPermission } from '@wayleave/contract/permissions'
import type { InvitationPreview, Member } from '@wayleave/contract/records'
import { type Clock, DAY, plus } from '../../base/clock.ts'
import type { Changes } from '../../base/database/changes/changes.ts'
import type { ControlDatabase, Tx } from '../../base/database/open.ts'
import { normalEmail } from '../../base/email.ts'
import { type Acting, type MailedUser, recordEvent } from '../../base/events/events.ts'
import { isId, newId } from '../../base/id.ts'
import type { Limiter, Rate } from '../../base/limits/limiter.ts'
import type { Mailer } from '../../base/mail/mail.ts'
import { invitationMail } from '../../base/mail/mail-texts.ts'
import { invalidInput, notFound, Problem } from '../../base/problem.ts'
import { mayInvite, requireHeld, requireMember } from '../access/membership.ts'
import { lockOrganizations, readMembers } from '../access/membership-store.ts'
import { sortPermissions } from '../access/permissions.ts'
import { readPlanLimits } from '../access/plan-limits-store.ts'
import { hashToken, newToken } from '../access/random-token.ts'
import {
  deleteInvitation,
  findInvitation,
  type Invitation,
  lockInvitation,
  putInvitation,
  readOpenInvitations,
  setAccepted,
} from './invitation-store.ts'
import { joinOrganization } from './members.ts'
import { findOrganization, type Organization } from './store.ts'

const LIFETIME = 7 * DAY

export interface InvitationsOptions {
  database: ControlDatabase
  changes: Changes
  clock: Clock
  limiter: Limiter
  mailer: Mailer
  baseUrl: () => string
  /** Rate limits for mails of an organization to one address, and of all its mails, to prevent mail flooding. */
  rates: { mail: Rate; organization: Rate }
}

/**
 * New members join by a mailed invitation, which the address's user accepts while signed in. They stay members of their
 * other organizations.
 */
export class Invitations {
  readonly #options: InvitationsOptions

  constructor(options: InvitationsOptions) {
    this.#options = options
  }

  async list(caller: Acting, organizationId: string): Promise<Invitation[]> {
    const { database, clock } = this.#options
    await requireMember(database.db, caller, organizationId, 'MEMBER_MANAGE')
    return readOpenInvitations(database.db, organizationId, clock())
  }

  async invite(
    caller: MailedUser,
    organizationId: string,
    invitee: { email: string; permissions: readonly MemberPermission[] },
  ): Promise<Invitation> {
    const { database, clock, mailer, baseUrl } = this.#options
    const email = normalEmail(invitee.email)
    if (!email) throw invalidInput('/email', 'must be a mail address')
    await requireMember(database.db, caller, organizationId, 'MEMBER_MANAGE')
    await this.#limit(organizationId, email)
    const now = clock()
    const token = newToken()
    const invitation: Invitation = {
      id: newId('inv'),
      organizationId,
      email,
      permissions: sortPermissions(invitee.permissions),
      invitedBy: caller.userId,
      createdAt: now.toISOString(),
      expiresAt: plus(now, LIFETIME).toISOString(),
      acceptedAt: null,
    }
    const name = await database.db.transaction().execute(async (tx) => {
      await lockOrganizations(database, tx, [organizationId])
      const membership = await requireMember(tx, caller, organizationId, 'MEMBER_MANAGE')
      requireHeld(membership, invitation.permissions)
      if ((await readMembers(tx, organizationId)).some((member) => member.email === email)) {
        throw new Problem('conflict', 'This address is a member of the organization already.')
      }
      const invited = (await readOpenInvitations(tx, organizationId, now)).filter(
        (one) => one.email !== email,
      )
      await requireMembersOfPlan(tx, organizationId, invited.length + 1)
      await putInvitation(tx, invitation, hashToken(token))
      await recordEvent(tx, now, caller.origin, {
        action: 'invitation.created',
        organizationId,
        subject: `invitation:${invitation.id}`,
        detail: { email, permissions: invitation.permissions },
      })
      const organization = (await findOrganization(tx, organizationId))!
      if (organization.suspendedAt !== null) {
        throw new Problem('conflict', 'The organization is suspended and cannot invite members.')
      }
      return organization.name
    })
    mailer.post(invitationMail(email, `${baseUrl()}/invitation#${token}`, name, caller.email))
    return invitation
  }

  async withdraw(caller: MailedUser, organizationId: string, invitationId: string): Promise<void> {
    const { database, clock } = this.#options
    await database.db.transaction().execute(async (tx) => {
      await requireMember(tx, caller, organizationId, 'MEMBER_MANAGE')
      const email = isId('inv', invitationId)
        ? await deleteInvitation(tx, organizationId, invitationId)
        : undefined
      if (email === undefined) throw notFound('such invitation')
      await recordEvent(tx, clock(), caller.origin, {
        action: 'invitation.withdrawn',
        organizationId,
        subject: `invitation:${invitationId}`,
        detail: { email },
      })
    })
  }

  /** What an invitation offers, for the person who has its link and may not have signed in yet. */
  async preview(token: string): Promise<InvitationPreview> {
    const { database, clock } = this.#options
    const invitation = requireOpen(await findInvitation(database.db, hashToken(token)), clock())
    const { organizationId, email, permissions, expiresAt } = invitation
    const members = await readMembers(database.db, organizationId)
    requireInviter(invitation, members)
    const organization = requireWorking(await findOrganization(database.db, organizationId))
    return {
      organizationName: organization.name,
      invitedBy: members.find(({ userId }) => userId === invitation.invitedBy)!.email,
      email,
      permissions,
      expiresAt,
    }
  }

  /**
   * A caller who is already a member of the organization keeps their permissions there. The inviter's
   * permissions are checked again under the organization's lock: an invitation grants nothing that the inviter
   * could not grant now. Returns the organization's id.
   */
  async accept(caller: MailedUser, token: string): Promise<string> {
    const { database, changes, clock } = this.#options
    return changes.commit(async (tx, changed) => {
      const now = clock()
      const invitation = requireOpen(await findInvitation(tx, hashToken(token)), now)
      if (invitation.email !== caller.email) {
        throw new Problem('invitation-invalid', 'The invitation is for another mail address.')
      }
      const { id, organizationId, permissions } = invitation
      const joining = { database, tx, at: now, origin: caller.origin }
      await joinOrganization(joining, caller.userId, organizationId, (members) => {
        requireInviter(invitation, members)
        const already = members.find((member) => member.userId === caller.userId)
        return already?.permissions ?? permissions
      })
      await requireMembersOfPlan(tx, organizationId, 0)
      requireWorking(await findOrganization(tx, organizationId))
      // Lock order: inviting locks the organization before the invitation, so use the same order here.
      requireOpen(await lockInvitation(database, tx, hashToken(token)), now)
      await setAccepted(tx, id, now)
      await recordEvent(tx, now, caller.origin, {
        action: 'invitation.accepted',
        organizationId,
        subject: `invitation:${id}`,
        detail: { email: invitation.email },
      })
      changed('user', caller.userId)
      return organizationId
    })
  }

  /**
   * Invitations have buckets of their own: they must not use up the sign-in mails of the address. Nor can one
   * organization keep others from inviting an address: the first invitation of each is always sent, and only
   * repeated ones share a bucket. So an address gets at most one mail more for each organization.
   */
  async #limit(organizationId: string, email: string): Promise<void> {
    const { limiter, rates } = this.#options
    const pair = `${organizationId}:${email}`
    const decisions = [
      await limiter.take(`invitations:${organizationId}`, rates.organization),
      await limiter.take(`invitation-mail:${pair}`, rates.mail),
    ]
    const { allowed: isFirst } = await limiter.take(`first-invitation:${pair}`, {
      ...rates.mail,
      requests: 1,
      burst: 1,
    })
    if (!isFirst) decisions.push(await limiter.take(`repeated-invitations:${email}`, rates.mail))
    const refusal = decisions.find((decision) => !decision.allowed)
    if (!refusal) return
    throw new Problem('rate-limited', `Too many invitations. Try again in ${refusal.retryAfter} s.`, {
      headers: { 'retry-after': String(refusal.retryAfter) },
      limit: 'invitation-rate',
    })
  }
}

/** Throws if the plan of the organization, whose row is locked, has no room for its members and so many more. */
async function requireMembersOfPlan(tx: Tx, organizationId: string, more: number): Promise<void> {
  const { members: limit } = await readPlanLimits(tx, organizationId)
  if (limit === undefined || (await readMembers(tx, organizationId)).length + more <= limit) return
  const detail = `The plan of the organization includes ${limit} members, with those who are invited.`
  throw new Problem('member-limit-reached', detail)
}

function requireInviter({ invitedBy, permissions }: Invitation, members: readonly Member[]): void {
  const inviter = members.find((member) => member.userId === invitedBy)
  if (inviter && mayInvite(inviter.permissions, permissions)) return
  throw new Problem('invitation-invalid', 'The inviter may no longer invite members with these permissions.')
}

/** The keys of a suspended organization are refused, so there is nothing to join it for. */
function requireWorking(organization: Organization | undefined): Organization {
  if (organization && organization.suspendedAt === null) return organization
  throw new Problem('invitation-invalid', 'The organization is suspended at present.')
}

function requireOpen(invitation: Invitation | undefined, now: Date): Invitation {
  if (invitation && invitation.acceptedAt === null && Date.parse(invitation.expiresAt) > now.getTime()) {
    return invitation
  }
  throw new Problem('invitation-invalid', 'The invitation was used or withdrawn, or has expired.')
}
