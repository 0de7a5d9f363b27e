import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server'
import type { z } from 'zod'

/**
 * A schema whose JSON Schema is made once. The library asks for it in every request, because there is a server for each,
 * and making those of all tools takes milliseconds.
 */
export function onceConverted<Schema extends z.ZodObject>(
  schema: Schema,
): StandardSchemaWithJSON<z.input<Schema>, z.output<Schema>> {
  const standard = schema['~standard'] as StandardSchemaWithJSON<
    z.input<Schema>,
    z.output<Schema>
  >['~standard']
  const { jsonSchema } = standard
  const converted = new Map<string, Record<string, unknown>>()
  return {
    '~standard': {
      ...standard,
      jsonSchema: {
        ...jsonSchema,
        input: (options) => {
          const json = converted.get(options.target) ?? jsonSchema.input(options)
          converted.set(options.target, json)
          return json
        },
      },
    },
  }
}
