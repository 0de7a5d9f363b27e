import type { KeyUsage, OrganizationUsage } from '@wayleave/contract/records'
import { requireMember } from '../access/membership.ts'
import type { Clock } from '../clock.ts'
import type { Db } from '../database/open.ts'
import { isId } from '../id.ts'
import { type KeyActor, requireKey } from '../keys/key-access.ts'
import { findKey, keyNames } from '../keys/store.ts'
import { groupUsage, usageRange, usageReport } from './usage.ts'
import { readKeyUsage, readOrganizationUsage } from './usage-store.ts'

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

  async ofKey(actor: KeyActor, keyId: string, given: GivenRange): Promise<KeyUsage> {
    const range = usageRange(given, this.#clock)
    const found = isId('key', keyId) ? await findKey(this.#db, keyId) : undefined
    await requireKey(this.#db, actor, found, 'view')
    return { keyId, ...usageReport(range, await readKeyUsage(this.#db, keyId, range)) }
  }

  async ofOrganization(
    userId: string,
    organizationId: string,
    given: GivenRange,
  ): Promise<OrganizationUsage> {
    const range = usageRange(given, this.#clock)
    await requireMember(this.#db, userId, organizationId, 'BILLING_VIEW')
    const rows = await readOrganizationUsage(this.#db, organizationId, range)
    const keys = groupUsage(rows, (row) => ({ keyId: row.key_id }))
    const names = await keyNames(
      this.#db,
      keys.map(({ keyId }) => keyId),
    )
    const ofDatasets = rows.filter((row) => row.table_name !== '')
    return {
      organizationId,
      ...usageReport(range, rows),
      keys: keys.map(({ keyId, ...count }) => ({ keyId, name: names.get(keyId) ?? null, ...count })),
      datasets: groupUsage(ofDatasets, (row) => ({ table: row.table_name })),
    }
  }
}
