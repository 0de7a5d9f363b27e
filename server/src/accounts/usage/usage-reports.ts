import type { KeyUsage, OrganizationUsage, PublishedUsage } from '@wayleave/contract/records'
import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../base/database/open.ts'
import type { Acting } from '../../base/events/events.ts'
import { isId } from '../../base/id.ts'
import { requireMember } from '../access/membership.ts'
import { type KeyActor, requireKey } from '../keys/key-access.ts'
import { readPartyNames } from '../keys/party-name-store.ts'
import { existingKeys, findKey } from '../keys/store.ts'
import { groupUsage, usageRange, usageReport } from './usage.ts'
import { consoleUserOf } from './usage-key.ts'
import {
  readKeyUsage,
  readOrganizationUsage,
  readOwnedUsage,
  type UsageFilter,
  type UsageRow,
} from './usage-store.ts'

export interface GivenRange {
  startDate?: string
  endDate?: string
}

/** A row of the usage of an organization with the names of its caller. */
export interface NamedUsageRow extends UsageRow {
  /** Null for calls in the console. */
  keyId: string | null
  /** Null for a deleted key that is not in the audit log. */
  keyName: string | null
  /** The mail address of the member who called in the console, or the id of a deleted one. */
  member: string | null
}

/** Usage reports: by key for users who may see the key, by organization for users who may see its bills. */
export class UsageReports {
  readonly #db: Db
  readonly #clock: Clock

  constructor(db: Db, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  async ofKey(actor: KeyActor, keyId: string, dates: GivenRange): Promise<KeyUsage> {
    const range = usageRange(dates, this.#clock)
    const key = isId('key', keyId) ? await findKey(this.#db, keyId) : undefined
    await requireKey(this.#db, actor, key, 'view')
    return { keyId, ...usageReport(range, await readKeyUsage(this.#db, keyId, range)) }
  }

  async ofOrganization(
    caller: Acting,
    organizationId: string,
    query: GivenRange & UsageFilter,
  ): Promise<OrganizationUsage> {
    await requireMember(this.#db, caller, organizationId, 'BILLING_VIEW')
    return this.forOperator(organizationId, query)
  }

  /** What the report of the organization adds up: a row for each day, caller, operation, dataset and format. */
  async rowsOfOrganization(
    caller: Acting,
    organizationId: string,
    query: GivenRange & UsageFilter,
  ): Promise<NamedUsageRow[]> {
    await requireMember(this.#db, caller, organizationId, 'BILLING_VIEW')
    const range = usageRange(query, this.#clock)
    const rows = await readOrganizationUsage(this.#db, organizationId, range, query)
    const callers = new Set(rows.map(({ key_id }) => partyOf(key_id)))
    const names = await readPartyNames(this.#db, [...callers])
    return rows.map((row) => {
      const name = names.get(partyOf(row.key_id)) ?? null
      const userId = consoleUserOf(row.key_id)
      return userId === null
        ? { ...row, keyId: row.key_id, keyName: name, member: null }
        : { ...row, keyId: null, keyName: null, member: name ?? userId }
    })
  }

  /** What others called of the datasets that the organization owns, and the credits that they paid. */
  async ofOwnedDatasets(caller: Acting, organizationId: string, dates: GivenRange): Promise<PublishedUsage> {
    await requireMember(this.#db, caller, organizationId, 'DATASET_PUBLISH')
    const range = usageRange(dates, this.#clock)
    const rows = await readOwnedUsage(this.#db, organizationId, range)
    return {
      organizationId,
      ...usageReport(range, rows),
      datasets: groupUsage(rows, (row) => ({ table: row.table_name })),
    }
  }

  /** The usage of an organization without a check of the caller, for platform administrators. */
  async forOperator(organizationId: string, query: GivenRange & UsageFilter): Promise<OrganizationUsage> {
    const range = usageRange(query, this.#clock)
    const rows = await readOrganizationUsage(this.#db, organizationId, range, query)
    const ofDatasets = rows.filter((row) => row.table_name !== '')
    return {
      organizationId,
      ...usageReport(range, rows),
      ...(await this.#byCaller(rows)),
      datasets: groupUsage(ofDatasets, (row) => ({ table: row.table_name })),
    }
  }

  async #byCaller(rows: UsageRow[]): Promise<Pick<OrganizationUsage, 'keys' | 'members'>> {
    const keys = groupUsage(
      rows.filter((row) => consoleUserOf(row.key_id) === null),
      (row) => ({ keyId: row.key_id }),
    )
    const members = groupUsage(
      rows.filter((row) => consoleUserOf(row.key_id) !== null),
      (row) => ({ userId: consoleUserOf(row.key_id)! }),
    )
    const names = await readPartyNames(this.#db, [
      ...keys.map(({ keyId }) => `key:${keyId}`),
      ...members.map(({ userId }) => `user:${userId}`),
    ])
    const existing = await existingKeys(
      this.#db,
      keys.map(({ keyId }) => keyId),
    )
    return {
      keys: keys.map(({ keyId, ...count }) => ({
        keyId,
        name: names.get(`key:${keyId}`) ?? null,
        isDeleted: !existing.has(keyId),
        ...count,
      })),
      members: members.map(({ userId, ...count }) => ({
        userId,
        email: names.get(`user:${userId}`) ?? null,
        ...count,
      })),
    }
  }
}

/** Under which name the audit log knows a caller. */
function partyOf(usageKey: string): string {
  const userId = consoleUserOf(usageKey)
  return userId === null ? `key:${usageKey}` : `user:${userId}`
}
