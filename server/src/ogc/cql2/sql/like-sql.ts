import type { Condition } from '../condition.ts'

/**
 * SQL for LIKE. What a pattern says as a whole, a beginning, an end or a part of the text is said as such:
 * LIKE with escapes goes through every text character by character. The texts' order is that of their bytes,
 * so that a beginning is a range, which can tell by the least and greatest value that a part of the file has
 * none.
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
  // A pattern of nothing but wildcards selects every text, and must leave what is null unknown.
  if (parts === null || plain === '') {
    if (wildcards(pattern) > MOST_WILDCARDS)
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

/** LIKE tries all places for each `%`, which takes for ever where a long text has many; RE2 goes through it once. */
const MOST_WILDCARDS = 2

function wildcards(pattern: string): number {
  return pattern.replaceAll(/\\./gsu, '').split('%').length - 1
}

/** The pattern as a regular expression of RE2's. */
function expression(pattern: string): string {
  return pattern.replaceAll(
    /\\(.)|%+|_|([^\p{L}\p{N}])/gsu,
    (token, escaped: string | undefined, other: string | undefined) => {
      const literal = escaped ?? other
      if (literal !== undefined) return /[!-~]/.test(literal) ? `\\${literal}` : literal
      return token === '_' ? '.' : '.*'
    },
  )
}

/** The least text that is greater than all that begin with this one; null where there is none. */
function textAfter(beginning: string): string | null {
  const characters = [...beginning]
  for (let last = characters.pop(); last !== undefined; last = characters.pop()) {
    const code = last.codePointAt(0)!
    if (code === 0x10ffff) continue
    // Surrogates are no characters.
    return characters.join('') + String.fromCodePoint(code === 0xd7ff ? 0xe000 : code + 1)
  }
  return null
}
