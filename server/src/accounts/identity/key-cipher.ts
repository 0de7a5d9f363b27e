import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { SettingError } from '../../base/settings/config.ts'

const PREFIX = 'aes-256-gcm:'
const IV_BYTES = 12
const TAG_BYTES = 16

/**
 * Encrypts private keys in the control database with a key derived from WAYLEAVE_SECRET_KEY, so that a stolen
 * database or backup alone signs no tokens. Without that setting, texts are stored as they are. Texts that
 * were stored before the setting existed stay readable.
 */
export class KeyCipher {
  readonly #secret: string | null

  constructor(secret: string | null) {
    this.#secret = secret
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
    if (this.#secret === null) {
      throw new SettingError(
        'The signing keys in the database are encrypted, and WAYLEAVE_SECRET_KEY is not set. Set it, or run "wayleave rotate-signing-key" to make a new key.',
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
        'WAYLEAVE_SECRET_KEY is not the key with which the signing keys were encrypted. Set the right one, or run "wayleave rotate-signing-key" to make a new key.',
      )
    }
  }

  #derive(secret: string): Buffer {
    return Buffer.from(hkdfSync('sha256', secret, '', 'wayleave signing keys', 32))
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
