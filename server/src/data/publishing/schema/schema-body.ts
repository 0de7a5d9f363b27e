import type { FieldError, PublishingSchema } from '@wayleave/contract/records'
import { invalidInput, Problem, type ProblemCode } from '../../../base/problem.ts'
import { compileSerializer, compileValidator } from '../../../http/compile-schemas.ts'
import { validationProblem } from '../../../http/validation-problem.ts'
import { StoredNotes } from '../../catalog/column-notes.ts'
import { checkSchema, hasShapeOfSchema } from './check-schema.ts'
import { describedSchema } from './schema-of-version.ts'
import { type StoredSchema, storedSchema } from './stored-schema.ts'

/** A body that has arrived, for a service whose datasets may have so many columns. */
export interface SchemaBytes {
  bytes: Uint8Array
  columns: number
  /** What the body has to fit, in JSON Schema: loading the library that makes it would take most of the thread's start. */
  form: object
}

/** What is to be stored, null to remove the schema; or why the body is refused. A `Problem` does not survive a message. */
export type ReadSchema =
  | { schema: StoredSchema | null }
  | { refused: { code: ProblemCode; detail: string; errors: FieldError[] | undefined } }

/** The schema of a dataset as it is stored. */
export interface DatasetSchema {
  /** In JSON if it is fixed, otherwise that of the current version. */
  schema: string | PublishingSchema
  /** The notes on the columns, in JSON. */
  notes: string
  /** What the body of the response has, in JSON Schema. */
  form: object
}

/** Reads a body. For one of a megabyte this takes 10 ms and more, so a thread does it. */
export function readSchemaBody(body: SchemaBytes): ReadSchema {
  try {
    return { schema: read(body) }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const { code, detail, errors } = error
    return { refused: { code, detail, errors } }
  }
}

function read({ bytes, columns, form }: SchemaBytes): StoredSchema | null {
  if (!hasShapeOfSchema(bytes, columns)) {
    const message = `is nested more deeply, or has more values, than a schema of ${columns} columns`
    throw invalidInput('body', message)
  }
  const parsed = parse(bytes)
  const validate = compileValidator({ schema: form, httpPart: 'body' })
  if (!validate(parsed)) throw validationProblem(validate.errors!, 'body')
  const { isFixed: keeps = true, ...schema } = parsed as PublishingSchema & { isFixed?: boolean }
  return keeps ? storedSchema(checkSchema(schema)) : null
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    throw new Problem('malformed-json')
  }
}

/** Writes the body of a response. */
export function writeSchemaBody({ schema, notes, form }: DatasetSchema): Uint8Array<ArrayBuffer> {
  const isFixed = typeof schema === 'string'
  const described = describedSchema(isFixed ? JSON.parse(schema) : schema, new StoredNotes(notes))
  return new TextEncoder().encode(compileSerializer({ schema: form })({ isFixed, ...described }))
}
