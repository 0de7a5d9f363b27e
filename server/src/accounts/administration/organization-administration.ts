import type { AdminOrganization, KeyRecord, Member } from '@wayleave/contract/records'
import type { Clock } from '../../base/clock.ts'
import type { Changed, Changes } from '../../base/database/changes/changes.ts'
import type { ControlDatabase, Tx } from '../../base/database/open.ts'
import { type Acting, type Origin, recordEvent } from '../../base/events/events.ts'
import { notFound } from '../../base/problem.ts'
import { requireMember } from '../access/membership.ts'
import { deleteMember, lockOrganizations, readMembers } from '../access/membership-store.ts'
import { keyRecords } from '../keys/key-record.ts'
import { revokeUserKeys } from '../keys/revoke-user-keys.ts'
import { listKeysIn } from '../keys/store.ts'
import { checkOrganizationName } from '../organizations/organizations.ts'
import { setOrganizationName, setPublishing, setSuspended } from '../organizations/store.ts'
import { voidInvitations } from '../organizations/void-invitations.ts'
import type { Administration } from './administration.ts'
import { closeOrganization } from './close-organization.ts'

export interface OrganizationAdministrationOptions {
  database: ControlDatabase
  changes: Changes
  clock: Clock
  administration: Administration
}

/** What the operator may see of an organization and do to it. Takes effect on every node before it returns. */
export class OrganizationAdministration {
  readonly #options: OrganizationAdministrationOptions

  constructor(options: OrganizationAdministrationOptions) {
    this.#options = options
  }

  find(id: string): Promise<AdminOrganization> {
    return this.#options.administration.organization(id)
  }

  async members(id: string): Promise<Member[]> {
    await this.find(id)
    return readMembers(this.#options.database.db, id)
  }

  /** The organization's keys and the personal keys of its members, newest first. */
  async keys(id: string): Promise<KeyRecord[]> {
    await this.find(id)
    const { database, clock } = this.#options
    return keyRecords(database.db, await listKeysIn(database.db, id), clock())
  }

  async rename(origin: Origin, id: string, rawName: string): Promise<AdminOrganization> {
    const name = checkOrganizationName(rawName)
    return this.#change(id, async (tx, changed, at) => {
      await setOrganizationName(tx, id, name)
      changed('organization', id)
      await record(tx, at, origin, id, 'organization.renamed', { name })
    })
  }

  /** Allows the organization to publish datasets, or forbids it; what it has published stays. */
  async setPublishing(origin: Origin, id: string, isAllowed: boolean): Promise<AdminOrganization> {
    return this.#change(id, async (tx, changed, at) => {
      await setPublishing(tx, id, isAllowed)
      await record(
        tx,
        at,
        origin,
        id,
        isAllowed ? 'organization.publishing-allowed' : 'organization.publishing-ended',
      )
      changed('organization', id)
    })
  }

  /** All keys are refused until the suspension ends. Members can still sign in and see why. */
  async suspend(origin: Origin, id: string, reason: string): Promise<AdminOrganization> {
    return this.#change(id, async (tx, changed, at) => {
      await setSuspended(tx, id, { suspended_at: at.toISOString(), suspend_reason: reason })
      await record(tx, at, origin, id, 'organization.suspended', { reason })
      changed('organization', id)
    })
  }

  async resume(origin: Origin, id: string): Promise<AdminOrganization> {
    return this.#change(id, async (tx, changed, at) => {
      await setSuspended(tx, id, { suspended_at: null, suspend_reason: null })
      await record(tx, at, origin, id, 'organization.resumed')
      changed('organization', id)
    })
  }

  /**
   * Removes all members and revokes all keys. The users stay, without an organization. The ledger and the
   * events are kept, without the organization's name. A caller who is not the operator needs MEMBER_MANAGE.
   */
  async delete(origin: Origin, id: string, caller?: Acting): Promise<void> {
    const { database } = this.#options
    await this.#change(id, async (tx, changed, at) => {
      if (caller) await requireMember(tx, caller, id, 'MEMBER_MANAGE')
      for (const { userId } of await readMembers(tx, id)) {
        await voidInvitations(tx, at, origin, { userId, organizationId: id, permissions: [] })
        await revokeUserKeys(database, tx, at, origin, { userId, organizationId: id })
        await deleteMember(tx, userId, id)
        changed('user', userId)
      }
      const reason = caller ? 'a member deleted it' : 'the operator deleted it'
      await closeOrganization({ database, tx, changed, at }, origin, id, reason)
    })
  }

  async #change(
    id: string,
    work: (tx: Tx, changed: Changed, at: Date) => Promise<void>,
  ): Promise<AdminOrganization> {
    const { database, changes, clock } = this.#options
    await changes.commit(async (tx, changed) => {
      const locked = await lockOrganizations(database, tx, [id])
      if (!locked.has(id)) throw notFound('such organization')
      await work(tx, changed, clock())
    })
    return this.find(id)
  }
}

function record(
  tx: Tx,
  at: Date,
  origin: Origin,
  id: string,
  action: string,
  detail: Record<string, unknown> = {},
): Promise<void> {
  return recordEvent(tx, at, origin, { action, organizationId: id, subject: `organization:${id}`, detail })
}
