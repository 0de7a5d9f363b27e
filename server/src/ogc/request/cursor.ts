import { hash, timingSafeEqual } from 'node:crypto'
import { Problem } from '../../base/problem.ts'
import { type SipKey, sipHash } from './sip-hash.ts'

/**
 * A paging position: the version, and the position of the last feature that was returned. A snapshot never
 * changes, so the position identifies that feature in any sort order. A signature binds both to the query.
 */
export interface Cursor {
  version: number
  position: number
}

/** The version (48 bits), the position (32 bits) and the signature (64 bits). */
const SIGNED_BYTES = 10
const BYTES = 18
/** The words of a message before its texts: the position, the version, and the length of the first text. */
const FIXED_WORDS = 4
/** Room for the block that ends a message. */
const BLOCK_WORDS = 4
/** Longer queries are rare; their SHA-256 is signed instead, which takes less time. */
const MAX_SIGNED_CHARACTERS = 2048
/** Stands in the place of the length of the first text if a SHA-256 is signed. */
const DIGESTED = 0xffff_ffff

/**
 * Writes and reads cursors. They are signed with a secret of the installation, so that only this service can
 * make one: a client continues reading a replaced version only from a page of that version.
 *
 * The signature is a SipHash of the cursor and the query. Every page has a cursor, and SHA-256 took a tenth of
 * the time of a page of ten features: calling it costs more than hashing so few bytes.
 */
export class Cursors {
  readonly #key: SipKey
  readonly #words = new Uint32Array(FIXED_WORDS + MAX_SIGNED_CHARACTERS / 2 + BLOCK_WORDS)
  readonly #units = new Uint16Array(this.#words.buffer)
  readonly #bytes = Buffer.alloc(BYTES)

  constructor(secret: string) {
    const digest = Buffer.from(hash('sha256', secret, 'hex'), 'hex')
    this.#key = [
      digest.readUInt32LE(0),
      digest.readUInt32LE(4),
      digest.readUInt32LE(8),
      digest.readUInt32LE(12),
    ]
  }

  /** The cursor of a query, which is a table and a selection of its features. */
  write(cursor: Cursor, table: string, selection: string): string {
    this.#fill(cursor, table, selection)
    return this.#bytes.toString('base64url')
  }

  /** Throws 400 if the cursor was forged or modified, or belongs to another query. */
  read(text: string, table: string, selection: string): Cursor {
    const bytes = text.length === (BYTES * 4) / 3 ? Buffer.from(text, 'base64url') : null
    if (bytes?.length !== BYTES || bytes.toString('base64url') !== text) throw new Problem('invalid-cursor')
    const cursor = { version: bytes.readUIntBE(0, 6), position: bytes.readUInt32BE(6) }
    this.#fill(cursor, table, selection)
    if (!timingSafeEqual(bytes, this.#bytes)) throw new Problem('invalid-cursor')
    return cursor
  }

  /** Puts the cursor and its signature into `#bytes`. */
  #fill({ version, position }: Cursor, table: string, selection: string): void {
    const words = this.#words
    words[0] = position
    words[1] = version
    words[2] = version / 2 ** 32
    let end = FIXED_WORDS * 2
    if (table.length + selection.length <= MAX_SIGNED_CHARACTERS) {
      words[3] = table.length
      end = this.#addText(selection, this.#addText(table, end))
    } else {
      words[3] = DIGESTED
      end = this.#addText(hash('sha256', JSON.stringify([table, selection]), 'hex'), end)
    }
    const [low, high] = sipHash(this.#key, words, end * 2)
    const bytes = this.#bytes
    bytes.writeUIntBE(version, 0, 6)
    bytes.writeUInt32BE(position, 6)
    bytes.writeUInt32LE(low, SIGNED_BYTES)
    bytes.writeUInt32LE(high, SIGNED_BYTES + 4)
  }

  /** Adds a text to the message and returns its end. */
  #addText(text: string, at: number): number {
    const units = this.#units
    for (let i = 0; i < text.length; i++) units[at + i] = text.charCodeAt(i)
    return at + text.length
  }
}
