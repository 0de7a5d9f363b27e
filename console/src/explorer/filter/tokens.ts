export interface Token {
  kind: 'name' | 'text' | 'number' | 'symbol'
  /** A name or a text without its quotes. */
  text: string
  /** Whether a name was in quotes, so that it is not a keyword. */
  isQuoted: boolean
  start: number
  end: number
}

const SPACE = /\s+/y
const NAME = /[\p{L}_:][\p{L}\p{N}\p{M}_:.]*/uy
const QUOTED = /"((?:[^"]|"")+)"/uy
const NUMBER = /-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y
const SYMBOL = /<>|<=|>=|[=<>+\-*/%^(),]/y
const TEXT = /'((?:''|\\'|\\\\|[^'])*)'/uy

/** Splits CQL2 text into tokens; null if it is not CQL2. */
export function tokenize(source: string): Token[] | null {
  const tokens: Token[] = []
  let at = 0
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    return pattern.exec(source)
  }
  const add = (kind: Token['kind'], text: string, length: number, isQuoted = false) => {
    tokens.push({ kind, text, isQuoted, start: at, end: at + length })
    at += length
  }
  while (at < source.length) {
    const space = take(SPACE)
    if (space) at += space[0].length
    if (at >= source.length) break
    let match = take(TEXT)
    if (match) {
      // Two backslashes are a pair, which LIKE patterns interpret.
      const text = match[1]!.replace(/\\\\|''|\\'/g, (pair) => (pair === '\\\\' ? pair : "'"))
      add('text', text, match[0].length)
      continue
    }
    match = take(QUOTED)
    if (match) {
      add('name', match[1]!.replaceAll('""', '"'), match[0].length, true)
      continue
    }
    match = take(NUMBER)
    if (match) {
      add('number', match[0], match[0].length)
      continue
    }
    match = take(NAME)
    if (match) {
      add('name', match[0], match[0].length)
      continue
    }
    match = take(SYMBOL)
    if (!match) return null
    add('symbol', match[0], match[0].length)
  }
  return tokens
}
