const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const BRACKET = 0x5b
const BRACKET_END = 0x5d
const BRACE = 0x7b
const BRACE_END = 0x7d

/** Whether a JSON text has more than `max` brackets within each other. It need not be valid. */
export function isNestedDeeper(text: string, max: number): boolean {
  let depth = 0
  return findOutsideStrings(text, (code) => {
    if (code === BRACKET || code === BRACE) depth++
    else if (code === BRACKET_END || code === BRACE_END) depth--
    return depth > max
  })
}

/** Whether a JSON text has more than `max` commas, and so more values. It need not be valid. */
export function hasMoreValues(text: string, max: number): boolean {
  let commas = 0
  return text.length > max && findOutsideStrings(text, (code) => code === COMMA && ++commas > max)
}

/** Whether the object that a JSON text is has more than `max` members. It need not be valid. */
export function hasMoreMembers(text: string, max: number): boolean {
  let depth = 0
  let commas = 0
  return findOutsideStrings(text, (code) => {
    if (code === BRACKET || code === BRACE) depth++
    else if (code === BRACKET_END || code === BRACE_END) depth--
    return code === COMMA && depth === 1 && ++commas >= max
  })
}

/** Whether `test` is true for a character outside of strings; stops at the first. */
function findOutsideStrings(text: string, test: (code: number) => boolean): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) i = endOfString(text, i)
    else if (test(code)) return true
  }
  return false
}

/** The index of the quote that ends a string. */
function endOfString(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === BACKSLASH) i++
    else if (code === QUOTE) return i
  }
  return text.length
}
