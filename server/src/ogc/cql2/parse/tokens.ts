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
const SPACE = /[\t-\r \u{85}\u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}]+/uy
const NUMBER = /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y
const QUOTED = /"((?:[^"]|"")+)"/uy
const SYMBOL = /<>|<=|>=|[=<>+\-*/%^(),]/y

/** Positions in error messages count characters from 1. */
export function tokenize(source: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    return pattern.exec(source)
  }
  while (true) {
    const space = take(SPACE)
    if (space !== null) at += space[0].length
    if (at === source.length) break
    const [token, length] = textToken(source, at) ?? nextToken(take, at) ?? [null, 0]
    if (token === null) throw unexpectedCharacter(source, at)
    tokens.push(token)
    at += length
  }
  tokens.push({ type: 'end', text: '', at })
  return tokens
}

/**
 * Reads a quoted text. A quote inside it is doubled or preceded by a backslash. Two backslashes are read as a
 * pair, so that a pattern can end with an escaped backslash; both are kept, because LIKE patterns interpret
 * them.
 */
function textToken(source: string, at: number): [Token, number] | null {
  if (source[at] !== "'") return null
  let text = ''
  for (let i = at + 1; i < source.length; i++) {
    const pair = source.slice(i, i + 2)
    if (pair === "''" || pair === "\\'") {
      text += "'"
      i++
    } else if (pair === '\\\\') {
      text += pair
      i++
    } else if (source[i] === "'") {
      return [{ type: 'text', text, at }, i + 1 - at]
    } else text += source[i]
  }
  return null
}

function nextToken(take: (pattern: RegExp) => RegExpExecArray | null, at: number): [Token, number] | null {
  const quoted = take(QUOTED)
  if (quoted !== null)
    return [{ type: 'quoted', text: quoted[1]!.replaceAll('""', '"'), at }, quoted[0].length]
  const number = take(NUMBER)
  if (number !== null) return [{ type: 'number', text: number[0], at }, number[0].length]
  const name = take(NAME)
  if (name !== null) return [{ type: 'name', text: name[0], at }, name[0].length]
  const symbol = take(SYMBOL)
  return symbol === null ? null : [{ type: 'symbol', text: symbol[0], at }, symbol[0].length]
}

function unexpectedCharacter(source: string, at: number): Cql2Error {
  const character = String.fromCodePoint(source.codePointAt(at)!)
  if (character === "'")
    return new Cql2Error(`The text that begins at character ${at + 1} of the filter has no end.`)
  if (character === '"')
    return new Cql2Error(`The name that begins at character ${at + 1} of the filter has no end.`)
  return new Cql2Error(
    `Character ${at + 1} of the filter, ${JSON.stringify(character)}, has no meaning there.`,
  )
}
