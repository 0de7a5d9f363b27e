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
import { readKeyUsage, readOrganizationUsage, readOwnedUsage, type UsageRow } from './usage-store.ts'

export interface GivenRange {
  startDate?: string
  endDate?: string
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
    dates: GivenRange,
  ): Promise<OrganizationUsage> {
    await requireMember(this.#db, caller, organizationId, 'BILLING_VIEW')
    return this.forOperator(organizationId, dates)
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
  async forOperator(organizationId: string, dates: GivenRange): Promise<OrganizationUsage> {
    const range = usageRange(dates, this.#clock)
    const rows = await readOrganizationUsage(this.#db, organizationId, range)
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
