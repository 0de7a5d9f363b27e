import type { AddOn } from '@wayleave/contract/add-ons'
import type { AccessRequest } from '@wayleave/contract/records'
import type { ControlDatabase, Db, Tx } from '../../base/database/open.ts'
import type { Tables } from '../../base/database/schema.ts'

type RequestRow = Tables['access_requests']

export interface RequestListing {
  id?: string
  organizationId?: string
  state?: RequestRow['state'] | undefined
  after?: string | undefined
  limit: number
}

export async function insertRequest(tx: Tx, row: RequestRow): Promise<void> {
  await tx.insertInto('access_requests').values(row).execute()
}

/** Newest first. */
export async function listRequests(db: Db, listing: RequestListing): Promise<AccessRequest[]> {
  const { id, organizationId, state, after, limit } = listing
  let query = db
    .selectFrom('access_requests')
    .innerJoin('organizations', 'organizations.id', 'access_requests.organization_id')
    .innerJoin('users', 'users.id', 'access_requests.user_id')
    .selectAll('access_requests')
    .select(['organizations.name', 'users.email'])
    .orderBy('access_requests.created_at', 'desc')
    .orderBy('access_requests.id', 'desc')
    .limit(limit)
  if (id !== undefined) query = query.where('access_requests.id', '=', id)
  if (organizationId !== undefined) query = query.where('organization_id', '=', organizationId)
  if (state !== undefined) query = query.where('state', '=', state)
  if (after !== undefined) {
    const last = db.selectFrom('access_requests').where('id', '=', after)
    query = query.where(({ eb, or, and }) =>
      or([
        eb('access_requests.created_at', '<', last.select('created_at')),
        and([
          eb('access_requests.created_at', '=', last.select('created_at')),
          eb('access_requests.id', '<', after),
        ]),
      ]),
    )
  }
  return (await query.execute()).map((row) => ({
    id: row.id,
    organizationId: row.organization_id,
    organizationName: row.name,
    requestedBy: row.email,
    addOns: JSON.parse(row.add_ons) as AddOn[],
    credits: row.credits,
    message: row.message,
    state: row.state,
    note: row.note,
    createdAt: row.created_at,
    decidedAt: row.decided_at,
  }))
}

/** Locked until the transaction ends: of two decisions at once, the second sees the first. */
export function lockRequest(
  database: ControlDatabase,
  tx: Tx,
  id: string,
): Promise<{ organization_id: string; state: RequestRow['state'] } | undefined> {
  const query = tx.selectFrom('access_requests').select(['organization_id', 'state']).where('id', '=', id)
  return database.forUpdate(query).executeTakeFirst()
}

export async function setDecision(
  tx: Tx,
  id: string,
  decision: Pick<RequestRow, 'state' | 'note' | 'decided_at' | 'decided_by'>,
): Promise<void> {
  await tx.updateTable('access_requests').set(decision).where('id', '=', id).execute()
}

/** For an organization that is closed: nobody can grant it anything. */
export async function declineOpenRequests(
  tx: Tx,
  organizationId: string,
  decision: Pick<RequestRow, 'note' | 'decided_at' | 'decided_by'>,
): Promise<void> {
  await tx
    .updateTable('access_requests')
    .set({ ...decision, state: 'declined' })
    .where('organization_id', '=', organizationId)
    .where('state', '=', 'open')
    .execute()
}

export async function countOpenRequests(db: Db): Promise<number> {
  const { count } = await db
    .selectFrom('access_requests')
    .where('state', '=', 'open')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}
