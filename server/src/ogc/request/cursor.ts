import { Problem } from '../../problem.ts'

/**
 * A paging position: the version, and the position of the last feature that was returned. A snapshot never
 * changes, so the position identifies that feature in any sort order. A checksum binds both to the query.
 */
export interface Cursor {
  version: number
  position: number
}

/** The version (48 bits), the position (32 bits) and the two halves of the checksum (32 bits each). */
const BYTES = 18

export function writeCursor({ version, position }: Cursor, query: string): string {
  const bytes = Buffer.allocUnsafe(BYTES)
  bytes.writeUIntBE(version, 0, 6)
  bytes.writeUInt32BE(position, 6)
  putCheck(bytes, query)
  return bytes.toString('base64url')
}

/** Throws 400 if the cursor was modified or belongs to another query. */
export function readCursor(text: string, query: string): Cursor {
  const bytes = text.length === (BYTES * 4) / 3 ? Buffer.from(text, 'base64url') : null
  if (bytes?.length !== BYTES || bytes.toString('base64url') !== text) throw new Problem('invalid-cursor')
  const high = bytes.readUInt32BE(10)
  const low = bytes.readUInt32BE(14)
  putCheck(bytes, query)
  if (bytes.readUInt32BE(10) !== high || bytes.readUInt32BE(14) !== low) throw new Problem('invalid-cursor')
  return { version: bytes.readUIntBE(0, 6), position: bytes.readUInt32BE(6) }
}

function putCheck(bytes: Buffer, query: string): void {
  const version = bytes.readUInt32BE(2) ^ Math.imul(bytes.readUInt16BE(0), 0x9e3779b1)
  const [high, low] = hash64(query, version, bytes.readUInt32BE(6))
  bytes.writeUInt32BE(high, 10)
  bytes.writeUInt32BE(low, 14)
}

/** A fast non-cryptographic hash: two multiplicative chains, mixed at the end. */
export function hash64(text: string, seed = 0, second = 0): [high: number, low: number] {
  let a = 0xdeadbeef ^ seed
  let b = 0x41c6ce57 ^ second
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    a = Math.imul(a ^ code, 0x9e3779b1)
    b = Math.imul(b ^ code, 0x5f356495)
  }
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35)
  b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35)
  return [a >>> 0, b >>> 0]
}
