import type { Grant } from '../access/grant.ts'

/**
 * The name under which the calls of a grant are counted: the key's id. The keys of the console last for 15
 * minutes, so their calls are counted for their user instead, separately for each organization: a user may
 * move to another one on the same day.
 */
export function usageKeyOf({ kind, keyId, userId, organizationId }: Grant): string {
  return kind === 'session' ? `user:${userId}@${organizationId}` : keyId
}

/** The user whose calls in the console a usage key counts; null for the id of a key. */
export function consoleUserOf(usageKey: string): string | null {
  return usageKey.startsWith('user:') ? usageKey.slice('user:'.length).split('@', 1)[0]! : null
}
