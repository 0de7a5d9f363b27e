import type { Condition } from '../../cql2/condition.ts'

/**
 * SQL for LIKE. A pattern that means equality, a prefix, a suffix or a substring is translated to that,
 * because LIKE with escapes scans every text character by character. Texts are ordered by their bytes, so a
 * prefix is a range, and the min and max values of a row group can rule it out.
 */
export function likeSql(
  text: string,
  { text: { kind }, pattern }: Condition & { kind: 'like' },
  bind: (value: string) => string,
): string {
  const literal = (value: string) => `CAST(${bind(value)} AS VARCHAR)`
  const parts = /^(%?)((?:[^%_\\]|\\.)*)(%?)$/su.exec(pattern)
  const [, before, inner = '', after] = parts ?? []
  const plain = inner.replaceAll(/\\(.)/gsu, '$1')
  // A pattern that consists only of wildcards selects every text, but null must stay unknown.
  if (parts === null || plain === '') {
    if (wildcards(pattern) > MAX_WILDCARDS)
      return `regexp_full_match(${text}, ${bind(expression(pattern))}, 's')`
    const escaping = pattern.includes('\\') ? ` ESCAPE '\\'` : ''
    return `(${text} LIKE ${bind(pattern)}${escaping})`
  }
  if (before && after) return `contains(${text}, ${literal(plain)})`
  if (before) return `suffix(${text}, ${literal(plain)})`
  if (!after) return `(${text} = ${literal(plain)})`
  const end = kind === 'column' ? textAfter(plain) : null
  if (end === null) return `prefix(${text}, ${literal(plain)})`
  return `(${text} >= ${literal(plain)} AND ${text} < ${literal(end)})`
}

/**
 * LIKE tries all positions for each `%`, which takes extremely long for long texts and many wildcards. RE2
 * scans the text once, so it is used beyond this number of wildcards.
 */
const MAX_WILDCARDS = 2

function wildcards(pattern: string): number {
  let count = 0
  for (let i = 0; i < pattern.length; i++) {
    if (pattern[i] === '\\') i++
    else if (pattern[i] === '%') count++
  }
  return count
}

/** The pattern as an RE2 regular expression. */
function expression(pattern: string): string {
  let text = ''
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern[i]!
    if (character === '_') text += '.'
    else if (character === '%') {
      text += '.*'
      while (pattern[i + 1] === '%') i++
    } else {
      const literal = character === '\\' ? pattern[++i]! : character
      text += isMark(literal.charCodeAt(0)) ? `\\${literal}` : literal
    }
  }
  return text
}

/** Whether this is a character of ASCII that RE2 may take for an operator. */
function isMark(code: number): boolean {
  const letter = code | 0x20
  const isAlphanumeric = (code >= 0x30 && code <= 0x39) || (letter >= 0x61 && letter <= 0x7a)
  return code > 0x20 && code < 0x7f && !isAlphanumeric
}

/** The smallest text that is greater than all texts with this prefix; null if there is none. */
function textAfter(beginning: string): string | null {
  const characters = [...beginning]
  for (let last = characters.pop(); last !== undefined; last = characters.pop()) {
    const code = last.codePointAt(0)!
    if (code === 0x10ffff) continue
    // Surrogates are not characters, so skip them.
    return characters.join('') + String.fromCodePoint(code === 0xd7ff ? 0xe000 : code + 1)
  }
  return null
}
