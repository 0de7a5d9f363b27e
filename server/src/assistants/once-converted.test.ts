import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { onceConverted } from './once-converted.ts'

test('the JSON Schema of an input is made once, and is that of the schema', async () => {
  const schema = z.object({ table: z.string().max(3).describe('A name.'), limit: z.int().default(5) })
  const once = onceConverted(schema)['~standard']
  const options = { target: 'draft-2020-12' } as const
  const made = once.jsonSchema.input(options)
  assert.equal(once.jsonSchema.input(options), made)
  assert.deepEqual(made, z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input' }))
  assert.deepEqual(await once.validate({ table: 'abc' }), { value: { table: 'abc', limit: 5 } })
  assert.ok((await once.validate({ table: 'abcd' })).issues)
})
