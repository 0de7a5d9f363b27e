import type { CreatedKey } from '@wayleave/contract/records'
import { call } from './call.ts'
import { hasOrganization } from './me.ts'
import { session } from './session.ts'

const MARGIN_MS = 60_000

let held: { secret: string; endsAt: number } | null = null
let asking: Promise<string> | null = null

/** The key of another user or organization opens what is not the user's. */
export function forgetKey(): void {
  held = null
}

session.subscribe(forgetKey)

/** The current key if there is one. */
function heldSessionKey(): string {
  return held && Date.now() < held.endsAt - MARGIN_MS ? held.secret : ''
}

/** The short-lived key for the console's maps and downloads: only in memory, renewed before it expires. */
function sessionKey(refused?: string): Promise<string> {
  const secret = heldSessionKey()
  if (secret && secret !== refused) return Promise.resolve(secret)
  asking ??= ask().finally(() => {
    asking = null
  })
  return asking
}

/**
 * The key of a signed-in user; empty for others, who read open datasets and what everybody may know. Users without an
 * organization have no key.
 */
export async function readerKey(refused?: string): Promise<string> {
  if (session.state !== 'signed-in' || !(await hasOrganization())) return ''
  return sessionKey(refused)
}

async function ask(): Promise<string> {
  const { secret, createdAt, expiresAt } = await call<CreatedKey>('POST', '/v1/auth/session-key')
  // Uses the service's clock, because this machine's clock may be wrong.
  const life = Date.parse(expiresAt!) - Date.parse(createdAt)
  held = { secret, endsAt: Date.now() + life }
  return secret
}
