import { type TSchema, Type } from 'typebox'
import { nullable } from './schema-parts.ts'

/** A page of an append-only list, newest first. */
export function pageSchema<T extends TSchema>(row: T) {
  return Type.Object({
    data: Type.Array(row),
    next: nullable(
      Type.Integer({ description: 'Give it as `before` for the following page. Null: no more.' }),
    ),
  })
}

/** A page of a list that is ordered by id. */
export function pageByIdSchema<T extends TSchema>(row: T) {
  return Type.Object({
    data: Type.Array(row),
    next: nullable(Type.String({ description: 'Give it as `after` for the following page. Null: no more.' })),
  })
}

/** `next` is a row number (`pageSchema`) or an id (`pageByIdSchema`). */
export interface Page<T, N extends number | string> {
  data: T[]
  next: N | null
}
