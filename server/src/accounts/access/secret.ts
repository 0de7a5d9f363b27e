import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { BASE62, randomBase62 } from '../../base/id.ts'

/**
 * A secret is `{literal}_{env}_`, 26 random characters and six characters of checksum: the CRC-32 of everything
 * before it, in base 62. A mistyped or invented key is rejected without a lookup, and scanners for leaked
 * secrets can recognise ours.
 */
export interface SecretFormat {
  literal: string
  env: string
}

/** The environment label of keys that get samples only, whatever the label of the others is. */
const TEST_ENV = 'test'

export function testFormat({ literal }: SecretFormat): SecretFormat {
  return { literal, env: TEST_ENV }
}

const NO_DIGIT = 255
/** Base 62 digit values, indexed by character code. */
const DIGIT_VALUES = Uint8Array.from({ length: 128 }, (_, code) => {
  const value = BASE62.indexOf(String.fromCharCode(code))
  return value === -1 ? NO_DIGIT : value
})
const RANDOM_LENGTH = 26
const CHECKSUM_LENGTH = 6
/** The random characters that lists show. */
export const SHOWN_LENGTH = 8

export function newSecret(format: SecretFormat, random?: (size: number) => Uint8Array): string {
  const body = `${head(format)}${randomBase62(RANDOM_LENGTH, random)}`
  return body + checksum(body)
}

/** Whether the text can be the secret of a key or of a test key. Called for every request with a key that is not cached. */
export function isWellFormed(secret: string, { literal, env }: SecretFormat): boolean {
  return hasForm(secret, literal, env) || (env !== TEST_ENV && hasForm(secret, literal, TEST_ENV))
}

/** Compares character codes. */
function hasForm(secret: string, literal: string, env: string): boolean {
  const start = literal.length + env.length + 2
  const split = start + RANDOM_LENGTH
  if (secret.length !== split + CHECKSUM_LENGTH || !secret.startsWith(`${literal}_${env}_`)) return false
  let checksum = 0
  for (let i = start; i < secret.length; i++) {
    const digit = DIGIT_VALUES[secret.charCodeAt(i)] ?? NO_DIGIT
    if (digit === NO_DIGIT) return false
    if (i >= split) checksum = checksum * 62 + digit
  }
  return checksum === crc32(secret.slice(0, split))
}

/** The leading part of a secret, which lists show. */
export function prefixOf(secret: string): string {
  return secret.slice(0, secret.lastIndexOf('_') + 1 + SHOWN_LENGTH)
}

/** The hash that is stored and looked up; the secret itself is never stored. */
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
    digits = BASE62[rest % 62] + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
