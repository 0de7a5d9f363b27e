/** The entry of the thread of `SchemaTexts`. */
import { performRequests } from '@wayleave/geodata/base'
import { readSchemaBody, writeSchemaBody } from './schema-body.ts'
import type { SchemaRequest } from './schema-texts.ts'

performRequests(
  (request: SchemaRequest) =>
    'read' in request ? readSchemaBody(request.read) : writeSchemaBody(request.write),
  (value) => (value instanceof Uint8Array ? [value.buffer] : []),
)
