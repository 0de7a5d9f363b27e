import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { SettingError } from '../../base/settings/config.ts'

const PREFIX = 'aes-256-gcm:'
const IV_BYTES = 12
const TAG_BYTES = 16

/** What is encrypted, and what to do if it cannot be decrypted. */
interface Purpose {
  what: string
  remedy: string
}

const SIGNING_KEYS: Purpose = {
  what: 'signing keys',
  remedy: 'or run "wayleave rotate-signing-key" to make a new key',
}

/**
 * Encrypts private keys in the control database with a key derived from WAYLEAVE_SECRET_KEY, so that a stolen
 * database or backup alone signs no tokens. Without that setting, texts are stored as they are. Texts that
 * were stored before the setting existed stay readable.
 */
export class KeyCipher {
  readonly #secret: string | null
  readonly #purpose: Purpose

  constructor(secret: string | null, purpose = SIGNING_KEYS) {
    this.#secret = secret
    this.#purpose = purpose
  }

  get isOn(): boolean {
    return this.#secret !== null
  }

  isEncrypted(text: string): boolean {
    return text.startsWith(PREFIX)
  }

  /** `name` is authenticated too: an encrypted text cannot be moved to another row. */
  encrypt(text: string, name: string): string {
    if (this.#secret === null) return text
    const iv = randomBytes(IV_BYTES)
    const cipher = createCipheriv('aes-256-gcm', this.#derive(this.#secret), iv).setAAD(Buffer.from(name))
    const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return PREFIX + sealed.toString('base64url')
  }

  decrypt(text: string, name: string): string {
    if (!this.isEncrypted(text)) return text
    const { what, remedy } = this.#purpose
    if (this.#secret === null) {
      throw new SettingError(
        `The ${what} in the database are encrypted, and WAYLEAVE_SECRET_KEY is not set. Set it, ${remedy}.`,
      )
    }
    const sealed = Buffer.from(text.slice(PREFIX.length), 'base64url')
    try {
      const cipher = createDecipheriv('aes-256-gcm', this.#derive(this.#secret), sealed.subarray(0, IV_BYTES))
        .setAAD(Buffer.from(name))
        .setAuthTag(sealed.subarray(-TAG_BYTES))
      return cipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES)).toString('utf8') + cipher.final('utf8')
    } catch {
      throw new SettingError(
        `WAYLEAVE_SECRET_KEY is not the key with which the ${what} were encrypted. Set the right one, ${remedy}.`,
      )
    }
  }

  #derive(secret: string): Buffer {
    return Buffer.from(hkdfSync('sha256', secret, '', `wayleave ${this.#purpose.what}`, 32))
  }
}

/**
 * The secret that is used in place of a stored one: with WAYLEAVE_SECRET_KEY it depends on both, so that the stored
 * value alone, from a stolen database or backup, signs no cursor and derives no refresh token.
 */
export function usedSecret(storedValue: string, name: string, secretKey: string | null): string {
  if (secretKey === null) return storedValue
  return Buffer.from(hkdfSync('sha256', secretKey, storedValue, `wayleave ${name}`, 32)).toString('base64url')
}
