import { RequestThread } from '@wayleave/geodata/base'
import { Problem } from '../../../base/problem.ts'
import type { DatasetSchema, ReadSchema, SchemaBytes } from './schema-body.ts'
import type { StoredSchema } from './stored-schema.ts'

export type SchemaRequest = { read: SchemaBytes } | { write: DatasetSchema }

const IDLE_MS = 60_000

/**
 * Reads and writes the JSON of schemas in a thread. On the event loop, one of a megabyte took 10 ms, and the collection of
 * its garbage as long again.
 *
 * See docs/decisions/requests-in-turn.md.
 */
export class SchemaTexts {
  readonly #thread = new RequestThread<SchemaRequest, ReadSchema | Uint8Array<ArrayBuffer>>(
    new URL('./schema-thread.ts', import.meta.url),
    IDLE_MS,
  )

  /** Starts the thread while a body arrives. */
  expect(): void {
    this.#thread.expect()
  }

  /** What is to be stored; null to remove the schema. Throws the problem of a body that is refused. */
  async read(body: SchemaBytes): Promise<StoredSchema | null> {
    const { bytes } = body
    // The memory of a small buffer is part of a pool.
    const isWhole = bytes.length === bytes.buffer.byteLength
    const moved = isWhole ? [bytes.buffer as ArrayBuffer] : []
    const read = (await this.#thread.perform({ read: body }, moved)) as ReadSchema
    if ('schema' in read) return read.schema
    const { code, detail, errors } = read.refused
    throw new Problem(code, detail, errors && { errors })
  }

  /** The response to a request for a schema. */
  async write(schema: DatasetSchema): Promise<Buffer> {
    return Buffer.from((await this.#thread.perform({ write: schema }, [])) as Uint8Array<ArrayBuffer>)
  }
}
