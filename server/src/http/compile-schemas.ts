import Ajv, { type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import fastJsonStringify from 'fast-json-stringify'
import { limitLengths } from './limit-lengths.ts'

/**
 * Bodies are not coerced: a number in quotes is not a number. Queries and paths arrive as text and are
 * coerced to the schema's type. Unknown properties are errors in both.
 */
const bodySchemas = { ajv: makeAjv(false), validators: new Map<string, ValidateFunction>() }
const textSchemas = { ajv: makeAjv(true), validators: new Map<string, ValidateFunction>() }

function makeAjv(coerceTypes: boolean) {
  // The schemas are our own. Compiling the schema of schemas would take longer than all else of the first request.
  const trusted = { meta: false, validateSchema: false }
  const options = { useDefaults: true, removeAdditional: false, allErrors: true, strict: false, ...trusted }
  return limitLengths(addFormats.default(new Ajv.default({ coerceTypes, ...options })))
}

/**
 * Compiles a schema when it is first used: compiling all of them takes a fifth of the time of a start. Each is compiled
 * once for all apps of a process and for all routes with the same schema, compared by their text, because routes build
 * schemas anew.
 */
export function compileValidator({ schema, httpPart }: { schema: object; httpPart?: string }) {
  const schemas = httpPart === 'body' ? bodySchemas : textSchemas
  let compiled: ValidateFunction | undefined
  // Fastify reads the errors from the function that it called.
  const validate = Object.assign(
    (data: unknown) => {
      compiled ??= validatorOf(schema, schemas)
      const isValid = compiled(data)
      validate.errors = compiled.errors
      return isValid
    },
    { errors: undefined as ValidateFunction['errors'] },
  )
  return validate
}

function validatorOf(schema: object, { ajv, validators }: typeof bodySchemas): ValidateFunction {
  const text = JSON.stringify(schema)
  const validate = validators.get(text) ?? ajv.compile(schema)
  validators.set(text, validate)
  return validate
}

type Serialize = (document: unknown) => string
const serializers = new Map<string, Serialize>()

/**
 * Compiles the schema of a response when the first response is sent: most processes, such as those that are
 * stopped after one test or that serve only items, send few of them, and compiling all took a quarter of the
 * time to build an app.
 */
export function compileSerializer({ schema }: { schema: object }): Serialize {
  let serialize: Serialize | undefined
  return (document) => {
    serialize ??= serializerOf(schema)
    return serialize(document)
  }
}

function serializerOf(schema: object): Serialize {
  const text = JSON.stringify(schema)
  const serialize = serializers.get(text) ?? (fastJsonStringify.default(schema) as Serialize)
  serializers.set(text, serialize)
  return serialize
}
