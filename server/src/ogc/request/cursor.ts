import { hash, timingSafeEqual } from 'node:crypto'
import { Problem } from '../../problem.ts'

/**
 * A paging position: the version, and the position of the last feature that was returned. A snapshot never
 * changes, so the position identifies that feature in any sort order. A signature binds both to the query.
 */
export interface Cursor {
  version: number
  position: number
}

/** The version (48 bits), the position (32 bits) and the first 64 bits of the signature. */
const SIGNED_BYTES = 10
const BYTES = 18
/** Longer queries need a buffer of their own. */
const MAX_ROOM_BYTES = 1024

/**
 * Writes and reads cursors. They are signed with a secret of the installation, so that only this service can
 * make one: a client continues reading a replaced version only from a page of that version.
 *
 * The signature is the first quarter of the SHA-256 of the secret and the message. HMAC would hash twice, which
 * is noticeable on a page of ten features. HMAC prevents length-extension attacks, which need the whole hash and
 * are impossible with a quarter of it.
 */
export class Cursors {
  readonly #secret: Buffer
  /** The secret followed by room for a message. */
  readonly #room: Buffer

  constructor(secret: string) {
    this.#secret = Buffer.from(hash('sha256', secret, 'binary'), 'latin1')
    this.#room = Buffer.concat([this.#secret, Buffer.alloc(SIGNED_BYTES + MAX_ROOM_BYTES)])
  }

  write({ version, position }: Cursor, query: string): string {
    const bytes = Buffer.allocUnsafe(BYTES)
    bytes.writeUIntBE(version, 0, 6)
    bytes.writeUInt32BE(position, 6)
    bytes.write(this.#signature(bytes, query), SIGNED_BYTES, 'latin1')
    return bytes.toString('base64url')
  }

  /** Throws 400 if the cursor was forged or modified, or belongs to another query. */
  read(text: string, query: string): Cursor {
    const bytes = text.length === (BYTES * 4) / 3 ? Buffer.from(text, 'base64url') : null
    if (bytes?.length !== BYTES || bytes.toString('base64url') !== text) throw new Problem('invalid-cursor')
    const signature = Buffer.from(this.#signature(bytes, query), 'latin1')
    if (!timingSafeEqual(bytes.subarray(SIGNED_BYTES), signature)) throw new Problem('invalid-cursor')
    return { version: bytes.readUIntBE(0, 6), position: bytes.readUInt32BE(6) }
  }

  /** As latin1 text. */
  #signature(bytes: Buffer, query: string): string {
    const start = this.#secret.length + SIGNED_BYTES
    const queryBytes = Buffer.byteLength(query)
    const message =
      queryBytes <= MAX_ROOM_BYTES
        ? this.#room
        : Buffer.concat([this.#room.subarray(0, start), Buffer.from(query)])
    bytes.copy(message, this.#secret.length, 0, SIGNED_BYTES)
    message.write(query, start)
    return hash('sha256', message.subarray(0, start + queryBytes), 'binary').slice(0, BYTES - SIGNED_BYTES)
  }
}
