import { type Static, type TSchema, Type } from 'typebox'

/** OpenAPI 3.0's way to say "or null", which the validator and the serializer understand too. */
export function nullable<T extends TSchema>(schema: T) {
  return Type.Unsafe<Static<T> | null>({ ...schema, nullable: true })
}

export function oneOf<T extends string>(values: readonly T[], options: { description?: string } = {}) {
  return Type.Unsafe<T>({ type: 'string', enum: [...values], ...options })
}

/**
 * The part of a rule that the definition states and that the rule itself enforces, with a better message than
 * the validator's.
 */
export function documentedAs<T extends object>(rule: T): { documentedAs: T } {
  return { documentedAs: rule }
}

/** Any text that PostgreSQL stores. */
export const NO_NUL = '^[^\\x00]*$'

/** One line of 1 to 100 characters, spaces around it not counted. JavaScript trims U+FEFF too. */
const SPACE = '[\\s\\uFEFF]*'
const CONTROLS = '\\x00-\\x1F\\x7F-\\x9F'
export const LINE_OF_100 = `^${SPACE}[^\\s\\uFEFF${CONTROLS}](?:[^${CONTROLS}\\u2028\\u2029]{0,98}[^\\s\\uFEFF${CONTROLS}])?${SPACE}$`

export const time = Type.String({ format: 'date-time' })
