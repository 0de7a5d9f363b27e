import { Cql2Error } from '../cql2-error.ts'

export interface Token {
  type: 'name' | 'quoted' | 'text' | 'number' | 'symbol' | 'end'
  /** The name, the text without quotes and escapes, the digits, or the symbol. */
  text: string
  at: number
}

// The standard's identifiers are those of XML: `identifierStart` and `identifierPart` in its grammar.
const START =
  ':_A-Za-z\\u{c0}-\\u{d6}\\u{d8}-\\u{f6}\\u{f8}-\\u{2ff}\\u{370}-\\u{37d}\\u{37f}-\\u{1ffe}\\u{200c}-\\u{200d}' +
  '\\u{2070}-\\u{218f}\\u{2c00}-\\u{2fef}\\u{3001}-\\u{d7ff}\\u{f900}-\\u{fdcf}\\u{fdf0}-\\u{fffd}\\u{10000}-\\u{effff}'
const NAME = new RegExp(`[${START}][${START}.0-9\\u{300}-\\u{36f}\\u{203f}-\\u{2040}]*`, 'uy')
const RARE_SPACE = /[\u{85}\u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}]/u
const SYMBOLS = '=<>+-*/%^(),'

const TAB = 0x09
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
const QUOTE = 0x22
const APOSTROPHE = 0x27
const PLUS = 0x2b
const MINUS = 0x2d
const DOT = 0x2e
const BACKSLASH = 0x5c
const FIRST_RARE_SPACE = 0x85

/**
 * Reads one token at a time, so that a parser which refuses a filter has not read the rest of it. Looks at
 * characters by their codes: regular expressions take several times as long, and a polygon has thousands of
 * tokens. Positions in error messages count characters from 1.
 */
export class Tokenizer {
  readonly #source: string
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  /** How many characters were read. */
  get position(): number {
    return this.#at
  }

  /** The next token; after the last one, always `end`. */
  next(): Token {
    this.#skipSpace()
    const at = this.#at
    if (at === this.#source.length) return { type: 'end', text: '', at }
    const code = this.#source.charCodeAt(at)
    if (code === APOSTROPHE) return this.#text()
    if (code === QUOTE) return this.#quoted()
    if (this.#isNumber()) return { type: 'number', at, text: this.#source.slice(at, this.#skipNumber()) }
    return this.#symbol() ?? this.#name()
  }

  /** Reads a number with an optional sign; null, without reading anything, if something else follows. */
  number(): number | null {
    this.#skipSpace()
    const start = this.#at
    const sign = this.#source.charCodeAt(start)
    const isSigned = sign === MINUS || sign === PLUS
    if (isSigned) {
      this.#at++
      this.#skipSpace()
    }
    if (!this.#isNumber()) {
      this.#at = start
      return null
    }
    const value = Number(this.#source.slice(this.#at, this.#skipNumber()))
    return sign === MINUS ? -value : value
  }

  /** Reads this character if it follows. */
  accept(character: string): boolean {
    this.#skipSpace()
    const isThere = this.#source[this.#at] === character
    if (isThere) this.#at++
    return isThere
  }

  #skipSpace(): void {
    for (; this.#at < this.#source.length; this.#at++) {
      const code = this.#source.charCodeAt(this.#at)
      if (code === SPACE || (code >= TAB && code <= CARRIAGE_RETURN)) continue
      if (code < FIRST_RARE_SPACE || !RARE_SPACE.test(this.#source[this.#at]!)) return
    }
  }

  /**
   * Reads a quoted text. A quote inside it is doubled or preceded by a backslash. Two backslashes are read as a
   * pair, so that a pattern can end with an escaped backslash; both are kept, because LIKE patterns interpret
   * them.
   */
  #text(): Token {
    const source = this.#source
    const at = this.#at
    let text = ''
    let start = at + 1
    for (let i = start; i < source.length; i++) {
      const code = source.charCodeAt(i)
      if (code !== APOSTROPHE && code !== BACKSLASH) continue
      const following = source.charCodeAt(i + 1)
      if (following === APOSTROPHE) {
        text += source.slice(start, i)
        start = ++i
      } else if (code === APOSTROPHE) {
        this.#at = i + 1
        return { type: 'text', text: text + source.slice(start, i), at }
      } else if (following === BACKSLASH) i++
    }
    throw new Cql2Error(`The text that begins at character ${at + 1} of the filter has no end.`)
  }

  /** Reads a name in quotes, which are doubled inside it. */
  #quoted(): Token {
    const source = this.#source
    const at = this.#at
    let end = source.indexOf('"', at + 1)
    while (end !== -1 && source.charCodeAt(end + 1) === QUOTE) end = source.indexOf('"', end + 2)
    // An empty name is not a name.
    if (end === -1 || end === at + 1)
      throw new Cql2Error(`The name that begins at character ${at + 1} of the filter has no end.`)
    this.#at = end + 1
    return { type: 'quoted', text: source.slice(at + 1, end).replaceAll('""', '"'), at }
  }

  /** Whether a number without a sign follows. */
  #isNumber(): boolean {
    const code = this.#source.charCodeAt(this.#at)
    return isDigit(code) || (code === DOT && isDigit(this.#source.charCodeAt(this.#at + 1)))
  }

  /** Reads digits, a fraction and an exponent, and returns their end. */
  #skipNumber(): number {
    const source = this.#source
    let end = this.#digitsEnd(this.#at)
    if (source.charCodeAt(end) === DOT) end = this.#digitsEnd(end + 1)
    if (source[end] === 'e' || source[end] === 'E') {
      const isSigned = source[end + 1] === '+' || source[end + 1] === '-'
      const digits = end + (isSigned ? 2 : 1)
      if (isDigit(source.charCodeAt(digits))) end = this.#digitsEnd(digits)
    }
    this.#at = end
    return end
  }

  #digitsEnd(start: number): number {
    let end = start
    while (isDigit(this.#source.charCodeAt(end))) end++
    return end
  }

  #symbol(): Token | null {
    const at = this.#at
    const first = this.#source[at]!
    if (!SYMBOLS.includes(first)) return null
    const two = this.#source.slice(at, at + 2)
    const text = two === '<>' || two === '<=' || two === '>=' ? two : first
    this.#at += text.length
    return { type: 'symbol', text, at }
  }

  #name(): Token {
    const at = this.#at
    NAME.lastIndex = at
    const text = NAME.exec(this.#source)?.[0]
    if (text === undefined) {
      const character = String.fromCodePoint(this.#source.codePointAt(at)!)
      throw new Cql2Error(
        `Character ${at + 1} of the filter, ${JSON.stringify(character)}, has no meaning there.`,
      )
    }
    this.#at += text.length
    return { type: 'name', text, at }
  }
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}
