import { hash, randomBytes } from 'node:crypto'

/** A refresh, sign-in or invitation token: 32 random bytes, which cannot be guessed. */
export function newToken(): string {
  return randomBytes(32).toString('base64url')
}

/** The hash that is stored. A plain one is sufficient for 32 random bytes. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'base64url')
}
