import type { AddOn } from '@wayleave/contract/add-ons'
import type { AdminOrganization, AdminUser } from '@wayleave/contract/records'
import type { Db } from '../../base/database/open.ts'
import type { Origin } from '../../base/events/events.ts'
import { isId } from '../../base/id.ts'
import { notFound } from '../../base/problem.ts'
import type { Ledger } from '../credits/ledger.ts'
import type { Organizations } from '../organizations/organizations.ts'
import { type Listing, listOrganizations, listUsers } from './administration-store.ts'

export interface AdministrationOptions {
  db: Db
  organizations: Organizations
  ledger: Ledger
}

/** Operations reserved for the operator, for the command line and the routes of platform administrators. */
export class Administration {
  readonly #options: AdministrationOptions

  constructor(options: AdministrationOptions) {
    this.#options = options
  }

  organizations(listing?: Listing): Promise<AdminOrganization[]> {
    return listOrganizations(this.#options.db, listing)
  }

  users(listing?: Listing): Promise<AdminUser[]> {
    return listUsers(this.#options.db, listing)
  }

  async createOrganization(origin: Origin, name: string): Promise<AdminOrganization> {
    const { id } = await this.#options.organizations.create(origin, name)
    return this.organization(id)
  }

  /** `choose` receives the current add-ons and returns the new ones. */
  async setAddOns(
    origin: Origin,
    id: string,
    choose: (current: readonly AddOn[]) => readonly AddOn[],
  ): Promise<AdminOrganization> {
    requireId(id)
    await this.#options.organizations.setAddOns(origin, id, choose)
    return this.organization(id)
  }

  /** Adds credits, or sets the balance. */
  async setCredits(
    origin: Origin,
    id: string,
    change: { add: number } | { set: number },
  ): Promise<AdminOrganization> {
    const { ledger } = this.#options
    if ('add' in change) await ledger.grantCredits(origin, id, change.add)
    else await ledger.setCredits(origin, id, change.set)
    return this.organization(id)
  }

  async organization(id: string): Promise<AdminOrganization> {
    requireId(id)
    const [organization] = await this.organizations({ id })
    if (!organization) throw notFound('such organization')
    return organization
  }
}

function requireId(id: string): void {
  if (!isId('org', id)) throw notFound('such organization')
}
