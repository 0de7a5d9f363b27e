const QUOTE = 0x22
const COMMA = 0x2c
const DOT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const BACKSLASH = 0x5c
const BRACKET = 0x5b
const BRACKET_END = 0x5d
const BRACE = 0x7b
const BRACE_END = 0x7d
const EXPONENT = 0x45
const SMALL_EXPONENT = 0x65

/** What parsing a JSON text would produce. */
export interface JsonShape {
  /** The number of brackets within each other. */
  depth: number
  /** The number of commas: there are at most as many values, and one more for each bracket. */
  commas: number
  /** The number of commas in the outermost object or array. */
  outerCommas: number
  /** The most digits of a number before its fraction and its exponent. */
  integerDigits: number
}

/**
 * Reads the shape of JSON, which need not be valid, in one pass and without making an object: it is measured before it is
 * parsed, because parsing takes ten times as long and needs memory. The pass ends at the first bracket or comma beyond
 * `max`, because the JSON will be refused. Bytes of UTF-8 need not be a text for it.
 */
export function jsonShape(json: string | Uint8Array, max: Partial<JsonShape> = {}): JsonShape {
  const bytes = typeof json === 'string' ? Buffer.from(json) : json
  const { depth: maxDepth = Infinity, commas: maxCommas = Infinity, outerCommas: maxOuter = Infinity } = max
  let depth = 0
  let deepest = 0
  let commas = 0
  let outerCommas = 0
  let digits = 0
  let integerDigits = 0
  let isFraction = false
  for (let i = 0; i < bytes.length; i++) {
    const code = bytes[i]!
    if (code >= ZERO && code <= NINE) {
      if (!isFraction && ++digits > integerDigits) integerDigits = digits
      continue
    }
    isFraction = code === DOT || code === EXPONENT || code === SMALL_EXPONENT
    digits = 0
    if (code === QUOTE) i = endOfString(bytes, i)
    else if (code === COMMA) {
      if (depth === 1) outerCommas++
      if (++commas > maxCommas || outerCommas > maxOuter) break
    } else if (code === BRACKET || code === BRACE) {
      if (++depth > deepest) deepest = depth
      if (depth > maxDepth) break
    } else if (code === BRACKET_END || code === BRACE_END) depth--
  }
  return { depth: deepest, commas, outerCommas, integerDigits }
}

/** The index of the quote that ends a string. Bytes of characters beyond ASCII are never those of a quote. */
function endOfString(bytes: Uint8Array, start: number): number {
  let end = start + 1
  while (end < bytes.length && bytes[end] !== QUOTE) end += bytes[end] === BACKSLASH ? 2 : 1
  return end
}
