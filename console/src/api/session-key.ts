import { call } from './call.ts'
import type { CreatedKey } from './records.ts'
import { session } from './session.ts'

const MARGIN_MS = 60_000

let held: { secret: string; endsAt: number } | null = null
let asking: Promise<string> | null = null

session.subscribe(() => {
  held = null
})

/** The key that is held already, for calls that are better with one and work without. */
export function heldSessionKey(): string {
  return held && Date.now() < held.endsAt - MARGIN_MS ? held.secret : ''
}

/** The short-lived key for the console's own maps and downloads: in memory alone, renewed before it ends. */
export function sessionKey(refused?: string): Promise<string> {
  const secret = heldSessionKey()
  if (secret && secret !== refused) return Promise.resolve(secret)
  asking ??= ask().finally(() => {
    asking = null
  })
  return asking
}

async function ask(): Promise<string> {
  const { secret, createdAt, expiresAt } = await call<CreatedKey>('POST', '/v1/auth/session-key')
  // By the service's own clock, for this machine's may be wrong.
  const life = Date.parse(expiresAt!) - Date.parse(createdAt)
  held = { secret, endsAt: Date.now() + life }
  return secret
}
