import type { DatasetGrantRecord } from '@wayleave/contract/records'
import { DATASET_ACCESS, type DatasetAccess } from '@wayleave/contract/visibilities'
import { lockOrganizations } from '../../accounts/access/membership-store.ts'
import { type Clock, isStorableTime } from '../../base/clock.ts'
import type { Changes } from '../../base/database/changes/changes.ts'
import type { ControlDatabase, Tx } from '../../base/database/open.ts'
import { type Origin, recordEvent } from '../../base/events/events.ts'
import { isId, newId } from '../../base/id.ts'
import { invalidInput, notFound } from '../../base/problem.ts'
import { datasetExists } from '../catalog/store.ts'
import { deleteGrant, putGrant, readGrants } from './store.ts'

export interface NewGrant {
  organizationId: string
  expiresAt?: Date | null
  /** What it is limited to; null for everything. */
  access?: readonly DatasetAccess[] | null
  credits?: number | null
}

interface GrantsDeps {
  database: ControlDatabase
  changes: Changes
  clock: Clock
}

/**
 * The rights of organizations to single datasets. A change holds on every node before the call returns, because the
 * grants are part of what caches hold of an organization's keys.
 */
export class Grants {
  readonly #parts: GrantsDeps

  constructor(parts: GrantsDeps) {
    this.#parts = parts
  }

  list(table: string): Promise<DatasetGrantRecord[]> {
    return readGrants(this.#parts.database.db, table)
  }

  /** Replaces the grant that the organization has on the dataset. */
  async give(origin: Origin, table: string, grant: NewGrant): Promise<DatasetGrantRecord> {
    const { database, changes, clock } = this.#parts
    const { organizationId, expiresAt = null, credits = null } = grant
    requireFuture(expiresAt, clock())
    const access = grant.access == null ? null : DATASET_ACCESS.filter((one) => grant.access?.includes(one))
    if (access?.length === 0) throw invalidInput('/access', `must name one of ${DATASET_ACCESS.join(', ')}`)
    return changes.commit(async (tx, changed) => {
      await requireDataset(tx, table)
      const locked = await lockOrganizations(database, tx, [organizationId])
      if (!locked.has(organizationId)) throw notFound(`organization with the id "${organizationId}"`)
      const at = clock().toISOString()
      const until = expiresAt?.toISOString() ?? null
      await putGrant(tx, {
        ...{ id: newId('grt'), table, organizationId, access, credits },
        ...{ expiresAt: until, createdBy: origin.actor, createdAt: at },
      })
      await recordEvent(tx, clock(), origin, {
        action: 'dataset.access-given',
        organizationId,
        subject: `dataset:${table}`,
        detail: { access, credits, expiresAt: until },
      })
      changed('organization', organizationId)
      return (await readGrants(tx, table)).find((one) => one.organizationId === organizationId)!
    })
  }

  async end(origin: Origin, table: string, id: string): Promise<void> {
    await this.#end(origin, table, (grant) => isId('grt', id) && grant.id === id)
  }

  async endFor(origin: Origin, table: string, organizationId: string): Promise<void> {
    await this.#end(origin, table, (grant) => grant.organizationId === organizationId)
  }

  async #end(origin: Origin, table: string, isMeant: (grant: DatasetGrantRecord) => boolean): Promise<void> {
    const { changes, clock } = this.#parts
    await changes.commit(async (tx, changed) => {
      await requireDataset(tx, table)
      const grant = (await readGrants(tx, table)).find(isMeant)
      if (grant === undefined || !(await deleteGrant(tx, grant.id))) throw notFound('such grant')
      await recordEvent(tx, clock(), origin, {
        action: 'dataset.access-ended',
        organizationId: grant.organizationId,
        subject: `dataset:${table}`,
      })
      changed('organization', grant.organizationId)
    })
  }
}

function requireFuture(expiresAt: Date | null, now: Date): void {
  if (expiresAt === null) return
  if (!isStorableTime(expiresAt)) throw invalidInput('/expiresAt', 'must be a time before the year 10000')
  if (expiresAt <= now) throw invalidInput('/expiresAt', 'must be in the future')
}

async function requireDataset(tx: Tx, table: string): Promise<void> {
  if (!(await datasetExists(tx, table))) throw notFound(`dataset named "${table.slice(0, 80)}"`)
}
