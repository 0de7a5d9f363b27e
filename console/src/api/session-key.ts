import type { CreatedKey } from '@wayleave/contract/records'
import { call } from './call.ts'
import { session } from './session.ts'

const MARGIN_MS = 60_000

let held: { secret: string; endsAt: number } | null = null
let asking: Promise<string> | null = null

session.subscribe(() => {
  held = null
})

/** The current key if there is one, for calls that can use a key but do not need it. */
export function heldSessionKey(): string {
  return held && Date.now() < held.endsAt - MARGIN_MS ? held.secret : ''
}

/** The short-lived key for the console's maps and downloads: only in memory, renewed before it expires. */
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
  // Uses the service's clock, because this machine's clock may be wrong.
  const life = Date.parse(expiresAt!) - Date.parse(createdAt)
  held = { secret, endsAt: Date.now() + life }
  return secret
}
