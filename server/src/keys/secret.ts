import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { randomBase62 } from '../id.ts'

/**
 * A secret is `svc_{env}_`, 26 random characters and six of checksum: the CRC-32 of all that precedes them,
 * in base 62. A mistyped or invented key is refused by arithmetic alone, and scanners for leaked secrets can
 * tell ours from noise.
 */
export interface SecretFormat {
  literal: string
  env: string
}

/** Every text that has the form of a secret, whatever its literal and label, wherever it stands. */
export const SECRET_LIKE = /\b[a-z][a-z0-9]{0,9}_[a-z][a-z0-9]{0,15}_[0-9A-Za-z]{32}\b/g

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_LENGTH = 26
const CHECKSUM_LENGTH = 6
const SHOWN_LENGTH = 8

export function newSecret(format: SecretFormat, random?: (size: number) => Uint8Array): string {
  const body = `${head(format)}${randomBase62(RANDOM_LENGTH, random)}`
  return body + checksum(body)
}

export function isWellFormed(secret: string, format: SecretFormat): boolean {
  const start = head(format)
  if (secret.length !== start.length + RANDOM_LENGTH + CHECKSUM_LENGTH || !secret.startsWith(start))
    return false
  const split = secret.length - CHECKSUM_LENGTH
  return (
    secret.slice(split) === checksum(secret.slice(0, split)) &&
    /^[0-9A-Za-z]+$/.test(secret.slice(start.length))
  )
}

/** The leading part that lists show. */
export function prefixOf(secret: string, format: SecretFormat): string {
  return secret.slice(0, head(format).length + SHOWN_LENGTH)
}

/** What is stored and looked up: the secret itself is nowhere. */
export function hashOf(secret: string): string {
  return hash('sha256', secret, 'base64url')
}

function head({ literal, env }: SecretFormat): string {
  return `${literal}_${env}_`
}

function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = DIGITS[rest % 62] + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
