import { type PublishingSchema, publishingSchemaSchema } from '@wayleave/contract/records'
import { invalidInput } from '../../../base/problem.ts'
import { compileValidator } from '../../../http/compile-schemas.ts'
import { fieldErrors } from '../../../http/validation-problem.ts'
import { checkSchema, hasShapeOfSchema } from './check-schema.ts'

const validate = compileValidator({ schema: publishingSchemaSchema, httpPart: 'body' })

/** Reads a schema from a text that is not the body of a request. */
export function parseSchema(text: string): PublishingSchema {
  if (!hasShapeOfSchema(text))
    throw invalidInput('schema', 'is nested more deeply, or has more values, than a schema')
  let schema: unknown
  try {
    schema = JSON.parse(text)
  } catch {
    throw invalidInput('schema', 'is not JSON')
  }
  if (!validate(schema)) {
    const { path, message } = fieldErrors(validate.errors!, 'body')[0]!
    throw invalidInput(path === 'body' ? 'schema' : `schema${path.slice(0, 80)}`, message)
  }
  return checkSchema(schema as PublishingSchema)
}
