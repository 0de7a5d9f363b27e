import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { downloadObject } from '../../base/storage/download-object.ts'
import { type ObjectInfo, ObjectMissingError, type ObjectStore } from '../../base/storage/object-store.ts'

/** The name of the file that says what the parts are. Without it, nobody waits for them. */
export const PLAN = 'plan'

/** How much of a file's SHA-256 is in its name. */
const DIGEST_LENGTH = 16

/** A file of a stage does not have the bytes that were stored. It was removed, and has to be made again. */
export class DamagedStageError extends Error {
  override name = 'DamagedStageError'
}

/**
 * The files of work in parts, in the bucket or in the folder that all workers share: the plan, and the parts that are
 * finished. A name has the checksum of its content, so what lost attempts write damages nothing.
 */
export class PartStage {
  readonly #store: ObjectStore
  readonly #folders: string
  readonly #prefix: string

  /** `folders` is what the keys of all stages for the same result begin with, `key` tells their plans apart. */
  constructor(store: ObjectStore, folders: string, key: string) {
    this.#store = store
    this.#folders = folders
    this.#prefix = `${folders}${key}/`
  }

  /** By name, without the checksum. */
  async list(): Promise<Map<string, ObjectInfo>> {
    const files = new Map<string, ObjectInfo>()
    for await (const object of this.#store.list(this.#prefix)) {
      const name = object.key.slice(this.#prefix.length)
      if (/^\w+-[0-9a-f]{16}$/.test(name)) files.set(name.slice(0, -DIGEST_LENGTH - 1), object)
    }
    return files
  }

  async add(name: string, file: { path: string; bytes: number; sha256: string }): Promise<void> {
    await this.#store.write(`${this.#prefix}${name}-${file.sha256.slice(0, DIGEST_LENGTH)}`, file)
  }

  /** The path of a verified copy in `folder`, or of the file itself if it is local. Throws a DamagedStageError. */
  async fetch(object: ObjectInfo, folder: string): Promise<string> {
    const { key } = object
    try {
      const local = this.#store.localPath?.(key)
      const hash = createHash('sha256')
      const path = local ?? join(folder, key.slice(this.#prefix.length))
      if (local !== undefined) await pipeline(createReadStream(local), hash)
      else await downloadObject(this.#store, object, path, (part) => hash.update(part))
      if (hash.digest('hex').slice(0, DIGEST_LENGTH) === key.slice(-DIGEST_LENGTH)) return path
    } catch (error) {
      const isMissing = error instanceof ObjectMissingError || (error as { code?: unknown }).code === 'ENOENT'
      if (!isMissing) throw error
    }
    await this.#store.delete([key])
    throw new DamagedStageError(`${key} is damaged or missing.`)
  }

  /** Removes what this and others with another plan have stored. */
  async remove(): Promise<void> {
    await this.#removeExcept(null)
  }

  /** Removes what work with another plan has left, for example that of an older program. */
  async removeOthers(): Promise<void> {
    await this.#removeExcept(this.#prefix)
  }

  async #removeExcept(prefix: string | null): Promise<void> {
    const keys: string[] = []
    for await (const { key } of this.#store.list(this.#folders))
      if (prefix === null || !key.startsWith(prefix)) keys.push(key)
    if (keys.length > 0) await this.#store.delete(keys)
  }
}
