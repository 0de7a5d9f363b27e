import type { Box, Clause, ColumnTypes, Position } from './clause.ts'
import { textOfPattern, type Value } from './cql2-text.ts'
import { type Token, tokenize } from './tokens.ts'

/**
 * Reads the clauses of a filter, so that the page's controls can show and change them. What no control can show
 * becomes a clause of its own and is kept as it is; an invalid filter is one such clause.
 */
export function parseClauses(source: string, types: ColumnTypes): Clause[] {
  if (source.trim() === '') return []
  const tokens = tokenize(source)
  const parts = tokens && splitAtAnd(tokens)
  // In parentheses, because other clauses may be added with AND.
  if (!parts) return [{ kind: 'other', text: `(${source.trim()})` }]
  const clauses: Clause[] = []
  for (const part of parts) {
    const clause = new PartReader(part, types).read() ?? {
      kind: 'other',
      text: source.slice(part[0]!.start, part.at(-1)!.end),
    }
    const before = clauses.at(-1)
    const merged = before && mergeRanges(before, clause)
    if (merged) clauses[clauses.length - 1] = merged
    else clauses.push(clause)
  }
  return clauses
}

/** Splits at each AND outside parentheses; null if there is an OR beside it or a part is empty. */
function splitAtAnd(tokens: Token[]): Token[][] | null {
  const parts: Token[][] = [[]]
  let depth = 0
  let openBetween = 0
  for (const token of tokens) {
    if (token.kind === 'symbol' && token.text === '(') depth++
    if (token.kind === 'symbol' && token.text === ')') depth--
    if (depth === 0 && isWord(token, 'or')) return null
    if (depth === 0 && isWord(token, 'between')) openBetween++
    if (depth === 0 && isWord(token, 'and')) {
      if (openBetween > 0) openBetween--
      else {
        parts.push([])
        continue
      }
    }
    parts.at(-1)!.push(token)
  }
  return depth === 0 && parts.every((part) => part.length > 0) ? parts : null
}

const isWord = (token: Token | undefined, word: string) =>
  token?.kind === 'name' && !token.isQuoted && token.text.toLowerCase() === word

/** `a >= 1 AND a <= 5` is one range. */
function mergeRanges(first: Clause, second: Clause): Clause | null {
  if (first.kind !== 'range' || second.kind !== 'range' || first.column !== second.column) return null
  if (first.to !== null || second.from !== null) return null
  return { ...first, to: second.to, isBelow: second.isBelow }
}

/** Matches one part of a filter against the shapes that `clauseText` writes. */
class PartReader {
  readonly #tokens: Token[]
  readonly #types: ColumnTypes
  #at = 0

  constructor(tokens: Token[], types: ColumnTypes) {
    this.#tokens = tokens
    this.#types = types
  }

  read(): Clause | null {
    for (const shape of [
      () => this.#box(),
      () => this.#area(),
      () => this.#alternatives(),
      () => this.#comparison(),
    ]) {
      this.#at = 0
      const clause = shape()
      if (clause && this.#at === this.#tokens.length) return clause
    }
    return null
  }

  #symbol(text: string): boolean {
    const token = this.#tokens[this.#at]
    if (token?.kind !== 'symbol' || token.text !== text) return false
    this.#at++
    return true
  }

  #word(word: string): boolean {
    if (!isWord(this.#tokens[this.#at], word)) return false
    this.#at++
    return true
  }

  #column(): string | null {
    const token = this.#tokens[this.#at]
    if (token?.kind !== 'name' || !this.#types.has(token.text)) return null
    this.#at++
    return token.text
  }

  /** A value that a column is compared with. */
  #columnValue(): Value | null {
    const token = this.#tokens[this.#at]
    const value = this.#value()
    // Like the values of facets: integers beyond 2^53 are texts, also those that a JavaScript number can hold.
    const isUnsafe = typeof value === 'number' && !Number.isSafeInteger(value)
    return isUnsafe && /^-?\d+$/.test(token!.text) ? token!.text : value
  }

  #value(): Value | null {
    const token = this.#tokens[this.#at]
    if (token?.kind === 'text') {
      this.#at++
      return token.text
    }
    if (token?.kind === 'number') {
      this.#at++
      const number = Number(token.text)
      // Digits that a JavaScript number cannot hold stay a text.
      return /[.eE]/.test(token.text) || String(number) === token.text ? number : token.text
    }
    if (this.#word('true')) return true
    if (this.#word('false')) return false
    for (const word of ['date', 'timestamp']) {
      if (!this.#word(word)) continue
      if (!this.#symbol('(')) return null
      const inner = this.#value()
      return this.#symbol(')') ? inner : null
    }
    return null
  }

  #box(): Clause | null {
    if (!this.#word('s_intersects') || !this.#symbol('(') || !this.#word('geometry') || !this.#symbol(','))
      return null
    if (!this.#word('bbox') || !this.#symbol('(')) return null
    const box: number[] = []
    do {
      const token = this.#tokens[this.#at++]
      if (token?.kind !== 'number') return null
      box.push(Number(token.text))
    } while (this.#symbol(','))
    if (box.length !== 4 || !this.#symbol(')') || !this.#symbol(')')) return null
    return { kind: 'box', box: box as Box }
  }

  /** A polygon of one ring. */
  #area(): Clause | null {
    if (!this.#word('s_intersects') || !this.#symbol('(') || !this.#word('geometry') || !this.#symbol(','))
      return null
    if (!this.#word('polygon') || !this.#symbol('(') || !this.#symbol('(')) return null
    const ring: Position[] = []
    do {
      const [x, y] = [this.#tokens[this.#at++], this.#tokens[this.#at++]]
      if (x?.kind !== 'number' || y?.kind !== 'number') return null
      ring.push([Number(x.text), Number(y.text)])
    } while (this.#symbol(','))
    return this.#symbol(')') && this.#symbol(')') && this.#symbol(')') ? { kind: 'area', ring } : null
  }

  /** `a = 1`, `a IN (1, 2)`, `a IS NULL`, a search in texts, or several of them in parentheses with OR. */
  #alternatives(): Clause | null {
    const isGroup = this.#symbol('(')
    const values: Value[] = []
    const searched: string[] = []
    let withNull = false
    let column: string | null = null
    let text: string | null = null
    do {
      const search = this.#search()
      if (search) {
        if (text !== null && text !== search.text) return null
        text = search.text
        searched.push(search.column)
        continue
      }
      const name = this.#column()
      if (name === null || (column !== null && column !== name)) return null
      column = name
      if (this.#symbol('=')) {
        const value = this.#columnValue()
        if (value === null) return null
        values.push(value)
      } else if (this.#word('in')) {
        if (!this.#symbol('(')) return null
        do {
          const value = this.#columnValue()
          if (value === null) return null
          values.push(value)
        } while (this.#symbol(','))
        if (!this.#symbol(')')) return null
      } else if (this.#word('is') && this.#word('null')) withNull = true
      else if (this.#word('like')) {
        // A value with a backslash is written as a pattern.
        const pattern = this.#value()
        const value = typeof pattern === 'string' ? textOfPattern(pattern, '') : null
        if (!value?.includes('\\')) return null
        values.push(value)
      } else return null
    } while (isGroup && this.#word('or'))
    if (isGroup && !this.#symbol(')')) return null
    if (text !== null) return column === null ? { kind: 'text', columns: searched, text } : null
    return column === null ? null : { kind: 'values', column, values, withNull }
  }

  #search(): { column: string; text: string } | null {
    const start = this.#at
    const fold = (read: () => string | null): string | null => {
      if (!this.#word('casei') || !this.#symbol('(') || !this.#word('accenti') || !this.#symbol('('))
        return null
      const inner = read()
      return inner !== null && this.#symbol(')') && this.#symbol(')') ? inner : null
    }
    const column = fold(() => this.#column())
    if (column !== null && this.#word('like')) {
      const pattern = fold(() => {
        const token = this.#tokens[this.#at++]
        return token?.kind === 'text' ? token.text : null
      })
      const text = pattern === null ? null : textOfPattern(pattern)
      if (text !== null) return { column, text }
    }
    this.#at = start
    return null
  }

  #comparison(): Clause | null {
    const column = this.#column()
    if (column === null) return null
    const operator = this.#tokens[this.#at++]?.text
    if (operator !== '>=' && operator !== '<=' && operator !== '<') return null
    const value = this.#value()
    if (value === null) return null
    return operator === '>='
      ? { kind: 'range', column, from: value, to: null, isBelow: false }
      : { kind: 'range', column, from: null, to: value, isBelow: operator === '<' }
  }
}
