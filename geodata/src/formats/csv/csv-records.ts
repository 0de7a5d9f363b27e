import { doubled } from '../../bytes/doubled.ts'

/**
 * Splits records according to RFC 4180, directly in the bytes of the source: quoted values may contain
 * delimiters, line ends and doubled quotes. The bytes are UTF-8 or ASCII, so none of these can be part of
 * another character.
 */

const QUOTE = 34
const NEWLINE = 10
const RETURN = 13

const AT_RECORD = 0
const AT_RECORD_RETURN = 1
const AT_FIELD = 2
const IN_PLAIN = 3
const IN_QUOTES = 4
/** After a quote inside quotes: it ends the value or, followed by another, is a quote in the value. */
const AT_SECOND_QUOTE = 5

/** Finds the ends of records. It keeps its state, so that bytes may arrive in pieces. */
export class RecordScanner {
  /** The number of complete records; empty lines are not counted. */
  records = 0
  readonly #delimiter: number
  #state = AT_RECORD

  constructor(delimiter: string) {
    this.#delimiter = delimiter.charCodeAt(0)
  }

  /** Whether the bytes so far end inside quotes. */
  get isQuoted(): boolean {
    return this.#state === IN_QUOTES
  }

  /** Continues from `from` to the end of the bytes; returns the end of the last complete record, or -1. */
  scan(bytes: Uint8Array, from: number, limit = Infinity): number {
    const delimiter = this.#delimiter
    const end = bytes.length
    let state = this.#state
    let ended = -1
    let at = from
    while (at < end) {
      if (state === IN_QUOTES) {
        at = bytes.indexOf(QUOTE, at)
        if (at < 0) break
        state = AT_SECOND_QUOTE
        at++
        continue
      }
      const byte = bytes[at]!
      if (byte === NEWLINE) {
        at++
        ended = at
        if (state !== AT_RECORD && state !== AT_RECORD_RETURN && ++this.records >= limit) break
        state = AT_RECORD
      } else if (byte === QUOTE && state !== IN_PLAIN) {
        // A quote that is not the first byte of a value is part of the value.
        state = state === AT_RECORD_RETURN ? IN_PLAIN : IN_QUOTES
        at++
      } else if (state === AT_RECORD && byte === RETURN) {
        state = AT_RECORD_RETURN
        at++
      } else if (byte === delimiter) {
        state = AT_FIELD
        at++
      } else {
        state = IN_PLAIN
        do at++
        while (at < end && bytes[at] !== delimiter && bytes[at] !== NEWLINE)
      }
    }
    this.#state = state
    return ended
  }

  /** Call this at the end of the file, where the last record may have no line end. */
  finish(): void {
    if (this.#state !== AT_RECORD && this.#state !== AT_RECORD_RETURN) this.records++
    this.#state = AT_RECORD
  }
}

/** Reads complete records one after the other; each value is a range of the bytes. */
export class RecordReader {
  readonly bytes: Buffer
  at = 0
  /** For the most recent record: the number of its values, and its problem ('' if there is none). */
  count = 0
  problem = ''
  starts = new Int32Array(64)
  ends = new Int32Array(64)
  /** 1 if doubled quotes in the range represent single ones. */
  escaped = new Uint8Array(64)
  readonly #delimiter: number

  constructor(bytes: Uint8Array, delimiter: string) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#delimiter = delimiter.charCodeAt(0)
  }

  /** Reads the next record; returns false if there is none. */
  next(): boolean {
    const { bytes } = this
    const end = bytes.length
    let at = this.at
    while (at < end && isEmptyLine(bytes, at)) at += bytes[at] === NEWLINE ? 1 : 2
    this.count = 0
    this.problem = ''
    if (at >= end) {
      this.at = end
      return false
    }
    const delimiter = this.#delimiter
    for (;;) {
      if (at < end && bytes[at] === QUOTE) at = this.#quoted(at + 1)
      else {
        const start = at
        while (at < end && bytes[at] !== delimiter && bytes[at] !== NEWLINE) at++
        const isLast = at >= end || bytes[at] === NEWLINE
        this.#value(start, isLast && at > start && bytes[at - 1] === RETURN ? at - 1 : at, 0)
      }
      if (at >= end) break
      if (bytes[at++] === NEWLINE) break
    }
    this.at = at
    return true
  }

  /** The text of a value. */
  text(index: number): string {
    const text = this.bytes.toString('utf8', this.starts[index]!, this.ends[index]!)
    return this.escaped[index] === 1 ? text.replaceAll('""', '"') : text
  }

  texts(): string[] {
    const texts: string[] = new Array(this.count)
    for (let i = 0; i < this.count; i++) texts[i] = this.text(i)
    return texts
  }

  #quoted(start: number): number {
    const { bytes } = this
    const end = bytes.length
    let escaped = 0
    let at = start
    for (;;) {
      while (at < end && bytes[at] !== QUOTE) at++
      if (at + 1 >= end || bytes[at + 1] !== QUOTE) break
      escaped = 1
      at += 2
    }
    this.#value(start, at, escaped)
    const stray = at + 1
    at = stray
    while (at < end && bytes[at] !== this.#delimiter && bytes[at] !== NEWLINE) at++
    if (at > stray && this.problem === '') {
      const after = bytes.toString('utf8', stray, at).trim()
      if (after !== '') this.problem = `a quoted value is followed by ${JSON.stringify(after.slice(0, 20))}`
    }
    return at
  }

  #value(start: number, end: number, escaped: number): void {
    if (this.count === this.starts.length) this.#grow()
    this.starts[this.count] = start
    this.ends[this.count] = end
    this.escaped[this.count++] = escaped
  }

  #grow(): void {
    this.starts = doubled(this.starts)
    this.ends = doubled(this.ends)
    this.escaped = doubled(this.escaped)
  }
}

function isEmptyLine(bytes: Buffer, at: number): boolean {
  if (bytes[at] === NEWLINE) return true
  return bytes[at] === RETURN && (at + 1 === bytes.length || bytes[at + 1] === NEWLINE)
}

export interface SampleRecords {
  /** The texts of the well-formed records. */
  records: string[][]
  /** The total number of records, and whether the sample ends inside quotes. */
  count: number
  isQuoted: boolean
}

/** Reads the first records. `isWhole`: this is the whole file, so the last record may have no line end. */
export function sampleRecords(
  bytes: Uint8Array,
  delimiter: string,
  isWhole: boolean,
  limit = Infinity,
): SampleRecords {
  const scanner = new RecordScanner(delimiter)
  let end = Math.max(0, scanner.scan(bytes, 0, limit))
  const { isQuoted } = scanner
  if (isWhole && scanner.records < limit && !isQuoted) {
    end = bytes.length
    scanner.finish()
  }
  const reader = new RecordReader(bytes.subarray(0, end), delimiter)
  const records: string[][] = []
  while (reader.next()) if (reader.problem === '') records.push(reader.texts())
  return { records, count: scanner.records, isQuoted }
}
