import { SourceError } from '../../source-error.ts'

/** Complete elements of a GeoJSON file, separated only by whitespace, commas or record separators. */
export interface GeojsonBlock {
  bytes: Uint8Array<ArrayBuffer>
  /** Start and end of each element in `bytes`, alternating. */
  ranges: Uint32Array<ArrayBuffer>
  /** The row number of the first element, starting at 1. */
  firstRow: number
  /** Whether there are commas between the elements, so that the block can be parsed as one array. */
  commas: boolean
}

const OPEN = 1
const CLOSE = 2
const STRING = 3
/** The meaning of a byte for a scan that only looks for the end of a value. */
const MEANING = new Uint8Array(256)
MEANING[0x7b] = MEANING[0x5b] = OPEN
MEANING[0x7d] = MEANING[0x5d] = CLOSE
MEANING[0x22] = STRING

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_BRACE = 0x7b
const CLOSE_BRACKET = 0x5d
const RECORD_SEPARATOR = 0x1e

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/**
 * Finds the start and end of objects, without parsing them, in bytes that arrive in pieces. Its state between
 * pieces is a few numbers, so a large feature is never scanned twice.
 */
export class ElementScanner {
  readonly #file: string
  readonly #inArray: boolean
  readonly #maxDepth: number
  #depth = 0
  #inString = false
  #needsComma = false
  #start = -1
  /** The number of elements found so far. */
  count = 0
  /** The offset of the array's closing bracket, once found. */
  arrayEnd = -1
  /** Start and end of each element found since the last `shift`. */
  ranges: number[] = []

  constructor(file: string, inArray: boolean, maxDepth: number) {
    this.#file = file
    this.#inArray = inArray
    this.#maxDepth = maxDepth
  }

  /** The start of an element that is not complete yet, or -1. */
  get openStart(): number {
    return this.#start
  }

  /** Discards the bytes before `by`: offsets become relative to it, and the ranges found are cleared. */
  shift(by: number): void {
    this.ranges = []
    if (this.#start >= 0) this.#start -= by
  }

  /** Scans from `from`; returns where to continue, which may be one past `end` (after a backslash). */
  scan(bytes: Uint8Array, from: number, end: number): number {
    let at = from
    while (at < end) {
      if (this.#start < 0) {
        at = this.#between(bytes, at, end)
        if (this.arrayEnd >= 0 || at >= end) return at
      }
      at = this.#inside(bytes, at, end)
    }
    return at
  }

  #inside(bytes: Uint8Array, from: number, end: number): number {
    let at = this.#inString ? this.#afterString(bytes, from, end) : from
    if (this.#inString) return at
    let depth = this.#depth
    while (at < end) {
      let meaning = MEANING[bytes[at]!]!
      // Four bytes at a time, if none of them has a meaning, as in numbers.
      if (at < end - 3) {
        if (
          (meaning | MEANING[bytes[at + 1]!]! | MEANING[bytes[at + 2]!]! | MEANING[bytes[at + 3]!]!) ===
          0
        ) {
          at += 4
          continue
        }
        while (meaning === 0) meaning = MEANING[bytes[++at]!]!
      }
      at++
      if (meaning === 0) continue
      if (meaning === STRING) {
        for (;;) {
          if (at >= end) {
            this.#depth = depth
            this.#inString = true
            return at
          }
          const byte = bytes[at++]!
          if (byte === QUOTE) break
          if (byte === BACKSLASH) at++
        }
      } else if (meaning === OPEN) {
        if (++depth > this.#maxDepth)
          throw new SourceError(
            `${this.#file}: feature ${this.count + 1} is nested more than ${this.#maxDepth} deep.`,
          )
      } else if (--depth === 0) {
        this.ranges.push(this.#start, at)
        this.#start = -1
        this.#needsComma = this.#inArray
        this.count++
        break
      }
    }
    this.#depth = depth
    return at
  }

  /** The end of the string that an earlier piece began, unless it is not in this piece either. */
  #afterString(bytes: Uint8Array, from: number, end: number): number {
    let at = from
    while (at < end) {
      const byte = bytes[at++]!
      if (byte === QUOTE) {
        this.#inString = false
        break
      }
      if (byte === BACKSLASH) at++
    }
    return at
  }

  #between(bytes: Uint8Array, from: number, end: number): number {
    for (let at = from; at < end; at++) {
      const byte = bytes[at]!
      if (isSpace(byte)) continue
      if (byte === OPEN_BRACE && !this.#needsComma) {
        this.#start = at
        return at
      }
      if (this.#inArray) {
        if (byte === COMMA && this.#needsComma) {
          this.#needsComma = false
          continue
        }
        if (byte === CLOSE_BRACKET && (this.#needsComma || this.count === 0)) {
          this.arrayEnd = at
          return at
        }
      } else if (byte === RECORD_SEPARATOR) continue
      const character = JSON.stringify(String.fromCharCode(byte))
      throw new SourceError(
        this.#needsComma
          ? `${this.#file}: expected a comma or the end of the array after feature ${this.count}, found ${character}.`
          : `${this.#file}: expected feature ${this.count + 1}, found ${character}.`,
      )
    }
    return end
  }
}

export interface GeojsonHead {
  /** The offset of the elements: after the bracket of `features`, or at the first element of a sequence. */
  at: number
  isCollection: boolean
  /** The members of the collection that precede its features. */
  members: { [name: string]: unknown }
}

/**
 * Reads the beginning of the first object. It is a collection if it has a member `features` that is an array,
 * otherwise the first element of a sequence. Returns null if there are not enough bytes to decide.
 */
export function readHead(bytes: Uint8Array, from: number, end: number, isAll: boolean): GeojsonHead | null {
  const members: { [name: string]: unknown } = {}
  const text = (start: number, stop: number) => Buffer.from(bytes.subarray(start, stop)).toString('utf8')
  const space = (at: number) => {
    let next = at
    while (next < end && isSpace(bytes[next]!)) next++
    return next
  }
  let at = space(from + 1)
  for (;;) {
    if (at >= end) return isAll ? { at: from, isCollection: false, members } : null
    // Not a member name: either the object ends here, or the parser will report what is wrong.
    if (bytes[at] !== QUOTE) return { at: from, isCollection: false, members }
    const nameEnd = skipValue(bytes, at, end)
    const colon = space(nameEnd)
    const start = space(colon + 1)
    if (start >= end) return isAll ? { at: from, isCollection: false, members } : null
    const name = parseOr(text(at, nameEnd))
    if (name === 'features' && bytes[start] === 0x5b) return { at: start + 1, isCollection: true, members }
    const stop = skipValue(bytes, start, end)
    if (stop >= end) return isAll ? { at: from, isCollection: false, members } : null
    if (typeof name === 'string' && (name === 'type' || name === 'crs' || name === 'coordRefSys'))
      members[name] = parseOr(text(start, stop))
    at = space(stop)
    if (bytes[at] !== COMMA) {
      if (at >= end && !isAll) return null
      return { at: from, isCollection: false, members }
    }
    at = space(at + 1)
  }
}

function parseOr(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The end of the JSON value that starts at `from`, or `end` if it does not end before that. */
function skipValue(bytes: Uint8Array, from: number, end: number): number {
  let depth = 0
  let at = from
  while (at < end) {
    const byte = bytes[at]!
    const meaning = MEANING[byte]
    if (meaning === STRING) {
      at++
      while (at < end && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
      at++
      if (depth === 0) return Math.min(at, end)
      continue
    }
    if (meaning === OPEN) depth++
    else if (meaning === CLOSE) {
      if (depth === 0) return at
      if (--depth === 0) return at + 1
    } else if (depth === 0 && byte === COMMA) return at
    at++
  }
  return end
}
