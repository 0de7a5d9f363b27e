import { type Static, type TSchema, Type } from 'typebox'

/** The way of OpenAPI 3.0 to say "or null", which the validator and the serialiser understand too. */
export function nullable<T extends TSchema>(schema: T) {
  return Type.Unsafe<Static<T> | null>({ ...schema, nullable: true })
}
