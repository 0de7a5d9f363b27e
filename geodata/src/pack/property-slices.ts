import { ExportError } from '../export-error.ts'
import type { Column } from '../feature.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const COMMA = 0x2c
const BRACE = 0x7b
const BRACKET = 0x5b
const CLOSING_BRACE = 0x7d
const CLOSING_BRACKET = 0x5d
const N = 0x6e

/**
 * The byte ranges of one feature's property values. All features of a pack have the same columns in the same
 * order and with the same bytes for their names, so values are located without parsing the names.
 */
export class PropertySlices {
  readonly starts: Int32Array
  readonly ends: Int32Array
  /** 1 if the value is a string with an escape sequence, so that its bytes differ from its text. */
  readonly escaped: Uint8Array
  #count: number
  readonly #first: number
  #keyLengths: Int32Array | null = null

  /** The values begin at the index `first`. */
  constructor(columns: readonly Column[], first = 0) {
    const length = first + columns.length
    this.#count = columns.length
    this.#first = first
    this.starts = new Int32Array(length)
    this.ends = new Int32Array(length)
    this.escaped = new Uint8Array(length)
  }

  locate(bytes: Buffer, start: number, end: number): void {
    const keyLengths = this.#keyLengths
    if (!keyLengths) {
      this.#learnKeys(bytes, start)
      return
    }
    let p = start
    for (let i = 0; i < this.#count; i++) {
      p += keyLengths[i]!
      if (bytes[p - 1] !== COLON) throw damaged()
      p = this.#value(bytes, p, this.#first + i)
    }
    if (p !== end - 1 && this.#count > 0) throw damaged()
  }

  isNull(bytes: Buffer, i: number): boolean {
    return bytes[this.starts[i]!] === N
  }

  #learnKeys(bytes: Buffer, start: number): void {
    const keyLengths = new Int32Array(this.#count)
    let p = start
    for (let i = 0; i < this.#count; i++) {
      const from = p
      p = skipString(bytes, p + 1) + 1
      keyLengths[i] = p - from
      if (bytes[p - 1] !== COLON) throw damaged()
      p = this.#value(bytes, p, this.#first + i)
    }
    this.#keyLengths = keyLengths
  }

  #value(bytes: Buffer, start: number, i: number): number {
    let p = start
    const first = bytes[p]
    let escaped = 0
    if (first === QUOTE) {
      p++
      for (let byte = bytes[p]; byte !== QUOTE; byte = bytes[p]) {
        if (byte === BACKSLASH) {
          escaped = 1
          p++
        } else if (byte === undefined) throw damaged()
        p++
      }
      p++
    } else if (first === BRACE || first === BRACKET) {
      p = skipNested(bytes, p)
    } else {
      for (let byte = bytes[p]; byte !== COMMA && byte !== CLOSING_BRACE; byte = bytes[++p]) {
        if (byte === undefined) throw damaged()
      }
    }
    this.escaped[i] = escaped
    this.starts[i] = start
    this.ends[i] = p
    return p
  }
}

function skipString(bytes: Buffer, start: number): number {
  let p = start + 1
  for (let byte = bytes[p]; byte !== QUOTE; byte = bytes[p]) {
    if (byte === undefined) throw damaged()
    p += byte === BACKSLASH ? 2 : 1
  }
  return p + 1
}

function skipNested(bytes: Buffer, start: number): number {
  let depth = 0
  let p = start
  for (;;) {
    const byte = bytes[p]
    if (byte === QUOTE) {
      p = skipString(bytes, p)
      continue
    }
    if (byte === BRACE || byte === BRACKET) depth++
    else if (byte === CLOSING_BRACE || byte === CLOSING_BRACKET) depth--
    else if (byte === undefined) throw damaged()
    p++
    if (depth === 0) return p
  }
}

function damaged(): ExportError {
  return new ExportError('snapshot-damaged', 'features.pack does not have the columns of manifest.json.')
}

/** The text of a string value, with escape sequences decoded. */
export function stringValue(bytes: Buffer, start: number, end: number): string {
  return JSON.parse(bytes.toString('utf8', start, end)) as string
}
