import { type PublishingSchema, publishingSchemaSchema } from '@wayleave/contract/records'
import { Value } from 'typebox/value'
import { invalidInput } from '../../../base/problem.ts'
import { checkSchema, hasShapeOfSchema } from './check-schema.ts'

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
  const [first] = Value.Errors(publishingSchemaSchema, schema)
  if (first) throw invalidInput(`schema${first.instancePath.slice(0, 80)}`, first.message)
  return checkSchema(schema as PublishingSchema)
}
