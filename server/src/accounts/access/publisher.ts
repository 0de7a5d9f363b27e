import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ControlDatabase } from '../../base/database/open.ts'
import type { Origin } from '../../base/events/events.ts'
import { notFound, Problem } from '../../base/problem.ts'
import type { Authenticate } from './authenticate.ts'
import { type AccessedDataset, isHidden } from './dataset-access.ts'
import { type Grant, mayAdminister, mayUse, requirePermission } from './grant.ts'
import { findPublishingOrganization } from './membership-store.ts'

/** A caller of a publishing route: a platform administrator, a member who may publish, or a key. */
export interface Publisher {
  origin: Origin
  /** Null for a signed-in user. */
  grant: Grant | null
  /** The organization whose datasets the caller may publish; null for the operator, who may publish all. */
  organizationId: string | null
}

export interface PublisherDeps {
  authenticate: Authenticate
  database: Pick<ControlDatabase, 'db'>
}

/**
 * Accepts every key: what it may do is checked by the functions below. `checkAddress` runs once the caller is
 * authenticated, so that a wrong address is 404 for all of them.
 */
export async function authenticatePublisher(
  { authenticate, database }: PublisherDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  checkAddress: () => void = () => {},
): Promise<Publisher> {
  if (/^bearer /i.test(request.headers.authorization ?? '')) {
    await authenticate.user(request, reply)
    checkAddress()
    const user = authenticate.userOf(request)
    const { administrator, origin } = user
    if (administrator) return { origin, grant: null, organizationId: null }
    const organizationId = await findPublishingOrganization(database.db, user)
    if (organizationId === null) throw new Problem('not-administrator')
    return { origin, grant: null, organizationId }
  }
  const grant = await authenticate.key(request, reply)
  checkAddress()
  const origin = authenticate.setOrigin(request, `key:${grant.keyId}`)
  return { origin, grant, organizationId: grant.scope === 'platform' ? null : grant.organizationId }
}

/** Throws 403 unless the caller may publish datasets with this name, if they are theirs. */
export function requireWrite({ grant }: Publisher, table: string): void {
  if (grant === null) return
  if (grant.scope !== 'platform' && !grant.publishes) throw noPublisher()
  requirePermission(grant, 'write', table)
}

/** Throws 403 unless the caller may decide who gets datasets with this name: publishers and systems that administer. */
export function requireGranting(publisher: Publisher, table: string): void {
  if (publisher.grant === null || !mayAdminister(publisher.grant)) requireWrite(publisher, table)
}

/** Throws unless the dataset belongs to the caller: 404 if the caller may not know of it. */
export function requireOwned({ organizationId }: Publisher, table: string, dataset: AccessedDataset): void {
  if (organizationId === null || dataset.owner?.organizationId === organizationId) return
  if (isHidden(dataset)) throw notFound(`dataset named "${table}"`)
  throw new Problem('permission-missing', `The dataset "${table}" belongs to another publisher.`)
}

/** The table names that the caller's key is limited to; null for all. Throws 403 if it cannot write. */
export function writableTables({ grant }: Publisher): string[] | null {
  if (grant === null) return null
  if (grant.scope !== 'platform' && !grant.publishes) throw noPublisher()
  if (grant.permissions.has('write')) return null
  const tables = [...grant.permissions].flatMap((permission) =>
    permission.startsWith('write:') ? [permission.slice('write:'.length)] : [],
  )
  if (tables.length === 0) throw noPublisher()
  return tables
}

/** Whether a job exists for the caller: the same rule as for the list. */
export function maySeeJob(
  { grant, organizationId }: Publisher,
  { table, ownerId }: { table: string; ownerId: string | null },
): boolean {
  if (organizationId !== null && ownerId !== organizationId) return false
  if (grant === null) return true
  return (grant.scope === 'platform' || grant.publishes) && mayUse(grant, 'write', table)
}

function noPublisher(): Problem {
  return new Problem(
    'permission-missing',
    'Publishing needs the permission "write", of a platform key or in an organization that the operator allows to publish.',
  )
}
