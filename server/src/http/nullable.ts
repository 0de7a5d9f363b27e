import { type Static, type TSchema, Type } from 'typebox'

/** OpenAPI 3.0's way to say "or null", which the validator and the serializer understand too. */
export function nullable<T extends TSchema>(schema: T) {
  return Type.Unsafe<Static<T> | null>({ ...schema, nullable: true })
}
