import type { AddOn } from '@wayleave/contract/add-ons'
import { MEMBER_PERMISSIONS, type MemberPermission } from '@wayleave/contract/permissions'
import type { OrganizationRecord } from '@wayleave/contract/records'
import type { Clock } from '../../base/clock.ts'
import type { Changed, Changes } from '../../base/database/changes/changes.ts'
import type { ControlDatabase, Tx } from '../../base/database/open.ts'
import { type Acting, type Origin, recordEvent, type UserOrigin } from '../../base/events/events.ts'
import { newId } from '../../base/id.ts'
import { invalidInput, notFound, Problem } from '../../base/problem.ts'
import { requireMember } from '../access/membership.ts'
import {
  findMembership,
  lockOrganizations,
  type Membership,
  putMember,
  readMemberships,
} from '../access/membership-store.ts'
import { lockUser } from '../users/user-store.ts'
import {
  deleteAddOns,
  findOrganization,
  insertAddOns,
  insertOrganization,
  type Organization,
  readAddOns,
  setOrganizationName,
  wasGivenCredits,
} from './store.ts'

/** The initial add-ons and credits of a new organization. */
export interface StartingGrant {
  addOns: readonly AddOn[]
  credits: number
}

export interface OrganizationsOptions {
  database: ControlDatabase
  changes: Changes
  clock: Clock
  starting: StartingGrant
  signUp: 'open' | 'invite'
}

const MAX_NAME_CHARACTERS = 100

export class Organizations {
  readonly #options: OrganizationsOptions

  constructor(options: OrganizationsOptions) {
    this.#options = options
  }

  /** See `requireMember`: throws 404 or 403 if the caller may not do this in this organization. */
  requireMember(caller: Acting, organizationId: string, permission?: MemberPermission): Promise<Membership> {
    return requireMember(this.#options.database.db, caller, organizationId, permission)
  }

  /** The organization that the caller acts for; null if they are not a member of it, or of any. */
  async recordOf(caller: Acting): Promise<OrganizationRecord | null> {
    const membership = await findMembership(this.#options.database.db, caller)
    return membership ? this.#record(membership) : null
  }

  /** All organizations of a user, the oldest membership first. */
  async recordsOf(userId: string): Promise<OrganizationRecord[]> {
    const memberships = await readMemberships(this.#options.database.db, userId)
    return Promise.all(memberships.map((membership) => this.#record(membership)))
  }

  async record(caller: Acting, organizationId: string): Promise<OrganizationRecord> {
    return this.#record(await this.requireMember(caller, organizationId))
  }

  async find(organizationId: string): Promise<Organization> {
    const organization = await findOrganization(this.#options.database.db, organizationId)
    if (!organization) throw notFound('such organization')
    return organization
  }

  /** For the operator: creates an organization without members, with the settings' add-ons and credits. */
  async create(origin: Origin, name: string): Promise<Organization> {
    const { database, clock, starting } = this.#options
    return database.db
      .transaction()
      .execute((tx) => createOrganization(tx, clock(), origin, { name, ...starting }))
  }

  /**
   * Creates an organization for a user who has none. A user gets the initial credits only once, not with
   * every new organization.
   */
  async createOwn({ userId, origin }: UserOrigin, rawName: string): Promise<OrganizationRecord> {
    const { database, changes, clock, starting, signUp } = this.#options
    const name = checkOrganizationName(rawName)
    if (signUp === 'invite') {
      throw new Problem(
        'permission-missing',
        'Here only the operator makes organizations. Ask to be invited.',
      )
    }
    const { id } = await changes.commit(async (tx, changed) => {
      await lockUser(database, tx, userId)
      if ((await readMemberships(tx, userId)).length > 0) {
        throw new Problem('conflict', 'The caller is in an organization already. Leave it first.')
      }
      const credits = (await wasGivenCredits(tx, origin.actor)) ? 0 : starting.credits
      changed('user', userId)
      const grant = { name, addOns: starting.addOns, credits }
      return foundOrganization(tx, clock(), origin, userId, grant)
    })
    return this.record({ userId, organizationId: id }, id)
  }

  async rename(caller: UserOrigin, organizationId: string, rawName: string) {
    const { changes, clock } = this.#options
    const name = checkOrganizationName(rawName)
    await changes.commit(async (tx, changed) => {
      await requireMember(tx, caller, organizationId, 'MEMBER_MANAGE')
      await setOrganizationName(tx, organizationId, name)
      changed('organization', organizationId)
      await recordEvent(tx, clock(), caller.origin, {
        action: 'organization.renamed',
        organizationId,
        subject: `organization:${organizationId}`,
        detail: { name },
      })
    })
    return this.record(caller, organizationId)
  }

  /** See `changeAddOns`. */
  async setAddOns(
    origin: Origin,
    organizationId: string,
    choose: (current: readonly AddOn[]) => readonly AddOn[],
  ): Promise<AddOn[]> {
    const { database, changes, clock } = this.#options
    return changes.commit((tx, changed) =>
      changeAddOns({ database, tx, changed, at: clock() }, origin, organizationId, choose),
    )
  }

  async #record({ organizationId, permissions }: Membership): Promise<OrganizationRecord> {
    const { id, name, addOns, credits, createdAt, suspendedAt, publishing } = await this.find(organizationId)
    return {
      id,
      name,
      addOns,
      credits: { balance: credits },
      permissions,
      createdAt,
      suspendedAt,
      publishing,
    }
  }
}

/** A transaction whose changes are told to every node. */
export interface ControlChange {
  database: ControlDatabase
  tx: Tx
  changed: Changed
  at: Date
}

/** `choose` receives the current add-ons, under lock, and returns the new ones. */
export async function changeAddOns(
  { database, tx, changed, at }: ControlChange,
  origin: Origin,
  organizationId: string,
  choose: (current: readonly AddOn[]) => readonly AddOn[],
): Promise<AddOn[]> {
  const locked = await lockOrganizations(database, tx, [organizationId])
  if (locked.size === 0) throw notFound('such organization')
  const current = await readAddOns(tx, organizationId)
  const addOns = choose(current)
  const added = addOns.filter((addOn) => !current.includes(addOn))
  const removed = current.filter((addOn) => !addOns.includes(addOn))
  if (added.length === 0 && removed.length === 0) return current
  await insertAddOns(tx, organizationId, added, at.toISOString())
  await deleteAddOns(tx, organizationId, removed)
  await recordEvent(tx, at, origin, {
    action: 'organization.add-ons-changed',
    organizationId,
    subject: `organization:${organizationId}`,
    detail: { added, removed },
  })
  changed('organization', organizationId)
  return readAddOns(tx, organizationId)
}

async function createOrganization(
  tx: Tx,
  at: Date,
  origin: Origin,
  grant: StartingGrant & { name: string },
): Promise<Organization> {
  const organization: Organization = {
    id: newId('org'),
    name: checkOrganizationName(grant.name),
    addOns: [...grant.addOns],
    credits: grant.credits,
    createdAt: at.toISOString(),
    suspendedAt: null,
    publishing: false,
  }
  await insertOrganization(tx, organization, origin.actor)
  await recordEvent(tx, at, origin, {
    action: 'organization.created',
    organizationId: organization.id,
    subject: `organization:${organization.id}`,
    detail: { name: organization.name, addOns: organization.addOns, credits: organization.credits },
  })
  return organization
}

/** Creates an organization with its first member, who has every permission. */
export async function foundOrganization(
  tx: Tx,
  at: Date,
  origin: Origin,
  userId: string,
  grant: StartingGrant & { name: string },
): Promise<Organization> {
  const organization = await createOrganization(tx, at, origin, grant)
  const permissions = [...MEMBER_PERMISSIONS]
  await putMember(tx, userId, { organizationId: organization.id, permissions }, at)
  await recordEvent(tx, at, origin, {
    action: 'member.added',
    organizationId: organization.id,
    subject: `user:${userId}`,
    detail: { permissions },
  })
  return organization
}

/** A name appears in mails and pages, so it must be one line of text. */
export function checkOrganizationName(rawName: string): string {
  const name = rawName.trim()
  if (name === '') throw invalidInput('/name', 'must not be empty')
  if ([...name].length > MAX_NAME_CHARACTERS) {
    throw invalidInput('/name', `must be at most ${MAX_NAME_CHARACTERS} characters long`)
  }
  if (!name.isWellFormed() || /\p{Cc}|\p{Zl}|\p{Zp}/u.test(name))
    throw invalidInput('/name', 'must be one line of text')
  return name
}
