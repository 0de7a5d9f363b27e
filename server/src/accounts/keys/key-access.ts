import type { Db } from '../../base/database/open.ts'
import type { Acting, Origin } from '../../base/events/events.ts'
import { notFound } from '../../base/problem.ts'
import { requireMember } from '../access/membership.ts'
import { findMembership, isPublishing } from '../access/membership-store.ts'
import type { StoredKey } from './store.ts'

/**
 * Who accesses a key: a signed-in user, for their own keys and those of the organization that they act for;
 * a platform
 * administrator, for the platform's keys only; the operator on the command line, for any key.
 */
export type KeyActor = { origin: Origin } & (
  | ({ reach: 'own' } & Acting)
  | { reach: 'platform' }
  | { reach: 'any' }
)

/** Returns the key if the actor may see or change it. A key they cannot see is treated as unknown. */
export async function requireKey(
  db: Db,
  actor: KeyActor,
  key: StoredKey | undefined,
  purpose: 'view' | 'change',
): Promise<StoredKey> {
  if (!key || !(await isVisible(db, actor, key))) throw notFound('such key')
  if (actor.reach === 'own' && key.scope === 'organization') {
    const permission = purpose === 'view' ? 'APIKEY_VIEW' : 'APIKEY_CREATE'
    await requireMember(db, actor, key.organization_id!, permission)
  }
  return key
}

/**
 * Throws 403 for a member who may not publish, and would get or make a key of the organization that does. If the
 * operator does not let the organization publish, `write` opens nothing.
 */
export async function requirePublishing(
  db: Db,
  actor: KeyActor,
  { scope, organization_id: organizationId }: Pick<StoredKey, 'scope' | 'organization_id'>,
  permissions: readonly string[],
): Promise<void> {
  if (actor.reach !== 'own' || scope !== 'organization') return
  const writes = permissions.some((permission) => /^write(:|$)/.test(permission))
  if (writes && (await isPublishing(db, organizationId!)))
    await requireMember(db, actor, organizationId!, 'DATASET_PUBLISH')
}

async function isVisible(db: Db, actor: KeyActor, key: StoredKey): Promise<boolean> {
  if (actor.reach === 'any') return true
  if (actor.reach === 'platform' || key.scope === 'platform') {
    return actor.reach === 'platform' && key.scope === 'platform'
  }
  if (key.organization_id !== actor.organizationId) return false
  if (key.scope === 'user') return key.user_id === actor.userId
  return (await findMembership(db, actor)) !== undefined
}
