import { hash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'

/** Six digits, for typing on another device. */
export function newCode(): string {
  return String(randomInt(1_000_000)).padStart(6, '0')
}

/** Salted, so that equal codes of two links have different hashes. */
export function hashCode(code: string, salt = randomBytes(12).toString('base64url')): string {
  return `${salt}.${hash('sha256', `${salt}.${code}`, 'base64url')}`
}

export function matchesCode(code: string, hashed: string): boolean {
  const expected = Buffer.from(hashed)
  const actual = Buffer.from(hashCode(code, hashed.slice(0, hashed.indexOf('.'))))
  return actual.length === expected.length && timingSafeEqual(actual, expected)
}
