import { type Static, type TSchema, Type } from 'typebox'

/** OpenAPI 3.0's way to say "or null", which the validator and the serializer understand too. */
export function nullable<T extends TSchema>(schema: T) {
  return Type.Unsafe<Static<T> | null>({ ...schema, nullable: true })
}

export function oneOf<T extends string>(values: readonly T[], options: { description?: string } = {}) {
  return Type.Unsafe<T>({ type: 'string', enum: [...values], ...options })
}

export const time = Type.String({ format: 'date-time' })
