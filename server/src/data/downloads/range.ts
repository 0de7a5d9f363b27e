import { isDateOf } from '../../http/headers.ts'

/** Bytes from `start` (inclusive) to `end` (exclusive). */
export interface ByteRange {
  start: number
  end: number
}

/**
 * The range that a request asks for (RFC 9110, section 14). Returns null to send everything: a header with
 * another unit, a malformed header and a list of ranges may be ignored. `unsatisfiable` is a 416.
 */
export function parseRange(header: string | undefined, bytes: number): ByteRange | null | 'unsatisfiable' {
  const match = header === undefined ? null : /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(header.trim())
  if (!match || (match[1] === '' && match[2] === '')) return null
  if (match[1] === '') {
    const length = Math.min(Number(match[2]), bytes)
    return length === 0 ? 'unsatisfiable' : { start: bytes - length, end: bytes }
  }
  const start = Number(match[1])
  const last = match[2] === '' ? Number.POSITIVE_INFINITY : Number(match[2])
  if (last < start) return null
  if (start >= bytes) return 'unsatisfiable'
  return { start, end: Math.min(last, bytes - 1) + 1 }
}

/**
 * Evaluates `If-Range`, a strong tag or a date. Anything but an exact match of the current state means "send
 * everything".
 */
export function rangeStillHolds(header: string | undefined, etag: string, lastModified: Date): boolean {
  if (header === undefined) return true
  const validator = header.trim()
  if (validator.startsWith('"')) return validator === etag
  return isDateOf(validator, lastModified)
}
