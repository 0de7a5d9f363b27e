import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Origin } from '../../base/events/events.ts'
import { Problem } from '../../base/problem.ts'
import type { Authenticate } from './authenticate.ts'
import { type Grant, mayUse, requirePublisher } from './grant.ts'

/** A caller of a publishing route: a platform administrator, or a key. */
export interface Publisher {
  origin: Origin
  /** Null for an administrator, who may publish everything. */
  grant: Grant | null
}

/**
 * Accepts every key: what it may do is checked by the functions below. `checkAddress` runs once the caller is
 * authenticated, so that a wrong address is 404 for all of them.
 */
export async function authenticatePublisher(
  authenticate: Authenticate,
  request: FastifyRequest,
  reply: FastifyReply,
  checkAddress: () => void = () => {},
): Promise<Publisher> {
  if (/^bearer /i.test(request.headers.authorization ?? '')) {
    await authenticate.user(request, reply)
    checkAddress()
    const { administrator, origin } = authenticate.userOf(request)
    if (!administrator) throw new Problem('not-administrator')
    return { origin, grant: null }
  }
  const grant = await authenticate.key(request, reply)
  checkAddress()
  const origin = { actor: `key:${grant.keyId}`, address: request.ip, requestId: request.id }
  return { origin, grant }
}

/** Throws 403 unless the caller may publish this table. */
export function requireTable({ grant }: Publisher, table: string): void {
  if (grant !== null) requirePublisher(grant, table)
}

/** Whether the jobs of a table exist for the caller: the same rule as for the list. */
export function maySeeJobs({ grant }: Publisher, table: string): boolean {
  return grant === null || (grant.scope === 'platform' && mayUse(grant, 'write', table))
}

/** The tables whose jobs the caller may list; null for all of them. Throws 403 if there are none. */
export function writableTables({ grant }: Publisher): string[] | null {
  if (grant === null) return null
  if (grant.scope === 'platform' && grant.permissions.has('write')) return null
  const tables =
    grant.scope === 'platform'
      ? [...grant.permissions].flatMap((permission) =>
          permission.startsWith('write:') ? [permission.slice('write:'.length)] : [],
        )
      : []
  if (tables.length === 0) {
    throw new Problem('permission-missing', 'Listing jobs needs a platform key with the permission "write".')
  }
  return tables
}
