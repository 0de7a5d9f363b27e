import type { Expression, Limits } from '../ast.ts'
import { Cql2Error } from '../cql2-error.ts'
import { tooManyPositions } from './literals.ts'
import { type Token, Tokenizer } from './tokens.ts'

/** Reads the tokens of a filter and enforces its limits. */
export class TokenReader {
  readonly #tokenizer: Tokenizer
  readonly #limits: Limits
  /** The next token, once it was looked at. */
  #token: Token | null = null
  /** The token after it, once it was looked at. */
  #following: Token | null = null
  #depth = 0
  #nodes = 0
  #positions = 0

  constructor(source: string, limits: Limits) {
    if (source.length > limits.length) {
      throw new Cql2Error(`The filter is longer than ${limits.length} characters.`)
    }
    if (!source.isWellFormed()) throw new Cql2Error('The filter is not valid Unicode.')
    this.#tokenizer = new Tokenizer(source)
    this.#limits = limits
  }

  peek(): Token {
    this.#token ??= this.#tokenizer.next()
    return this.#token
  }

  /** The token after the next one. */
  peekSecond(): Token {
    this.peek()
    this.#following ??= this.#tokenizer.next()
    return this.#following
  }

  next(): Token {
    const token = this.peek()
    this.#token = this.#following
    this.#following = null
    return token
  }

  acceptWord(word: string): boolean {
    const { type, text } = this.peek()
    const isThere = type === 'name' && text.length === word.length && text.toLowerCase() === word
    if (isThere) this.next()
    return isThere
  }

  /** A number with an optional sign, for the coordinates of a geometry: a token for each would take twice as long. */
  takeCoordinate(): number {
    const value = this.acceptCoordinate()
    if (value === null) throw this.expected('a number')
    return value
  }

  acceptCoordinate(): number | null {
    if (this.#token === null) return this.#tokenizer.number()
    const sign = this.acceptSymbol('-') ? -1 : 1
    if (sign === 1) this.acceptSymbol('+')
    return this.peek().type === 'number' ? sign * Number(this.next().text) : null
  }

  acceptSymbol(symbol: string): boolean {
    if (this.#token === null && (symbol === ',' || symbol === ')')) return this.#tokenizer.accept(symbol)
    const { type, text } = this.peek()
    const isThere = type === 'symbol' && text === symbol
    if (isThere) this.next()
    return isThere
  }

  takeSymbol(symbol: string): void {
    if (!this.acceptSymbol(symbol)) throw this.expected(JSON.stringify(symbol))
  }

  takeText(what: string): string {
    if (this.peek().type !== 'text') throw this.expected(what)
    return this.next().text
  }

  /** Runs a parsing step one nesting level deeper. */
  nested<T>(step: () => T): T {
    this.#depth++
    this.checkDepth(0)
    const result = step()
    this.#depth--
    return result
  }

  /** Also called for chains that nest to the left without recursion. */
  checkDepth(more: number): void {
    if (this.#depth + more > this.#limits.depth) {
      throw new Cql2Error(`The filter is nested more than ${this.#limits.depth} levels deep.`)
    }
  }

  node<T extends Expression>(expression: T): T {
    if (++this.#nodes > this.#limits.nodes) {
      throw new Cql2Error(`The filter has more than ${this.#limits.nodes} parts.`)
    }
    return expression
  }

  /** Counts a position of a geometry. */
  position(): void {
    if (++this.#positions > this.#limits.positions) throw tooManyPositions(this.#limits)
  }

  place(at: number): string {
    return `at character ${at + 1}`
  }

  expected(what: string): Cql2Error {
    const token = this.peek()
    if (token.type === 'end') return new Cql2Error(`The filter ends where ${what} is expected.`)
    const tokenText = token.type === 'text' ? `'${token.text}'` : token.text
    return new Cql2Error(
      `At character ${token.at + 1} of the filter, before ${tokenText.slice(0, 40)}, ${what} is expected.`,
    )
  }
}
