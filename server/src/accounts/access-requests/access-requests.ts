import type { AddOn } from '@wayleave/contract/add-ons'
import type { AccessRequest, NewAccessRequest } from '@wayleave/contract/records'
import type { Clock } from '../../base/clock.ts'
import type { Changed, Changes } from '../../base/database/changes/changes.ts'
import { type ControlDatabase, type Db, isUniqueViolation, type Tx } from '../../base/database/open.ts'
import { type Acting, type MailedUser, type Origin, recordEvent } from '../../base/events/events.ts'
import { isId, newId } from '../../base/id.ts'
import type { Mailer } from '../../base/mail/mail.ts'
import { accessDecisionMail } from '../../base/mail/mail-texts.ts'
import { invalidInput, notFound, Problem } from '../../base/problem.ts'
import { requireMember } from '../access/membership.ts'
import { lockOrganizations, readMembers } from '../access/membership-store.ts'
import type { Ledger } from '../credits/ledger.ts'
import { changeAddOns } from '../organizations/organizations.ts'
import { lockUser } from '../users/user-store.ts'
import {
  insertRequest,
  listRequests,
  lockRequest,
  type RequestListing,
  setDecision,
} from './access-request-store.ts'

export interface AccessRequestsOptions {
  database: ControlDatabase
  changes: Changes
  clock: Clock
  ledger: Ledger
  mailer: Mailer
  baseUrl: () => string
}

export interface Decision {
  addOns?: readonly AddOn[] | undefined
  credits?: number | undefined
  note?: string | undefined
}

/** Members ask the operator for add-ons and credits; a platform administrator grants or declines. */
export class AccessRequests {
  readonly #options: AccessRequestsOptions

  constructor(options: AccessRequestsOptions) {
    this.#options = options
  }

  /** The requests of an organization, for its members. */
  async list(caller: Acting, organizationId: string): Promise<AccessRequest[]> {
    const { db } = this.#options.database
    await requireMember(db, caller, organizationId)
    return listRequests(db, { organizationId, limit: 100 })
  }

  /** All requests, for administrators. */
  all(listing: RequestListing): Promise<AccessRequest[]> {
    return listRequests(this.#options.database.db, listing)
  }

  async create(
    caller: MailedUser,
    organizationId: string,
    newRequest: NewAccessRequest,
  ): Promise<AccessRequest> {
    const { database, clock } = this.#options
    const { addOns = [], credits = 0 } = newRequest
    const message = (newRequest.message ?? '').trim()
    if (addOns.length === 0 && credits === 0) {
      throw invalidInput('/addOns', 'must name an add-on, or credits must be above 0')
    }
    const id = newId('req')
    const at = clock()
    await this.#onlyOpen(() =>
      database.db.transaction().execute(async (tx) => {
        // Neither is removed before the request is in.
        await lockUser(database, tx, caller.userId)
        await lockOrganizations(database, tx, [organizationId])
        await requireMember(tx, caller, organizationId)
        await insertRequest(tx, {
          id,
          organization_id: organizationId,
          user_id: caller.userId,
          add_ons: JSON.stringify([...new Set(addOns)]),
          credits,
          message,
          state: 'open',
          note: '',
          created_at: at.toISOString(),
          decided_at: null,
          decided_by: null,
        })
        await recordEvent(tx, at, caller.origin, {
          action: 'access.requested',
          organizationId,
          subject: `organization:${organizationId}`,
          // A notice to the operator is made of it.
          detail: { addOns, credits, requestId: id },
        })
      }),
    )
    return this.#find(id)
  }

  /** Grants what the decision names, or all that was asked for. All of it happens, or nothing. */
  grant(origin: Origin, id: string, decision: Decision): Promise<AccessRequest> {
    return this.#decide(origin, id, 'granted', decision.note, async (tx, changed, request) => {
      const { database, clock, ledger } = this.#options
      const addOns = decision.addOns ?? request.addOns
      const credits = decision.credits ?? request.credits
      const { organizationId } = request
      await changeAddOns({ database, tx, changed, at: clock() }, origin, organizationId, (current) => [
        ...new Set([...current, ...addOns]),
      ])
      if (credits > 0) await ledger.grantIn(tx, origin, organizationId, credits)
      return { addOns, credits }
    })
  }

  decline(origin: Origin, id: string, note: string | undefined): Promise<AccessRequest> {
    return this.#decide(origin, id, 'declined', note, async () => ({}))
  }

  async #decide(
    origin: Origin,
    id: string,
    state: 'granted' | 'declined',
    note = '',
    apply: (tx: Tx, changed: Changed, request: AccessRequest) => Promise<Record<string, unknown>>,
  ): Promise<AccessRequest> {
    const { database, changes, clock, mailer, baseUrl } = this.#options
    const request = await this.#find(id)
    const { organizationId } = request
    const { decided, isMember } = await changes.commit(async (tx, changed) => {
      // First the organization, as the deletion of the user who asked does, which removes the request.
      await lockOrganizations(database, tx, [organizationId])
      const locked = await lockRequest(database, tx, id)
      if (!locked) throw notFound('such request')
      if (locked.state !== 'open') throw new Problem('conflict', `The request was ${locked.state} already.`)
      const detail = await apply(tx, changed, request)
      await setDecision(tx, id, {
        state,
        note: note.trim(),
        decided_at: clock().toISOString(),
        decided_by: origin.actor,
      })
      await recordEvent(tx, clock(), origin, {
        action: `access.${state}`,
        organizationId,
        subject: `organization:${organizationId}`,
        detail,
      })
      const members = await readMembers(tx, organizationId)
      const isMember = members.some(({ email }) => email === request.requestedBy)
      return { decided: await findRequest(tx, id), isMember }
    })
    // Who has left the organization need not know what it was granted.
    if (isMember) {
      mailer.post(accessDecisionMail(decided.requestedBy, `${baseUrl()}/organization/access`, decided))
    }
    return decided
  }

  #find(id: string): Promise<AccessRequest> {
    return findRequest(this.#options.database.db, id)
  }

  /** The unique index decides: of two requests at once, one is refused. */
  async #onlyOpen(insert: () => Promise<void>): Promise<void> {
    try {
      await insert()
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
      throw new Problem(
        'conflict',
        'The organization has an open request already. The operator decides on it first.',
      )
    }
  }
}

async function findRequest(db: Db, id: string): Promise<AccessRequest> {
  const [request] = isId('req', id) ? await listRequests(db, { id, limit: 1 }) : []
  if (!request) throw notFound('such request')
  return request
}
