import type { Expression, Limits } from '../ast.ts'
import { Cql2Error } from '../cql2-error.ts'
import { type Token, tokenize } from './tokens.ts'

/** Reads the tokens of a filter and enforces its limits. */
export class TokenReader {
  readonly #tokens: Token[]
  readonly #limits: Limits
  #position = 0
  #depth = 0
  #nodes = 0

  constructor(source: string, limits: Limits) {
    if (source.length > limits.length) {
      throw new Cql2Error(`The filter is longer than ${limits.length} characters.`)
    }
    if (!source.isWellFormed()) throw new Cql2Error('The filter is not valid Unicode.')
    this.#tokens = tokenize(source)
    this.#limits = limits
  }

  peek(ahead = 0): Token {
    return this.#tokens[Math.min(this.#position + ahead, this.#tokens.length - 1)]!
  }

  next(): Token {
    const token = this.peek()
    this.#position++
    return token
  }

  acceptWord(word: string): boolean {
    const token = this.peek()
    const isThere = token.type === 'name' && token.text.toLowerCase() === word
    if (isThere) this.#position++
    return isThere
  }

  acceptSymbol(symbol: string): boolean {
    const token = this.peek()
    const isThere = token.type === 'symbol' && token.text === symbol
    if (isThere) this.#position++
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
