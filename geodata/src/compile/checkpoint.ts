import { createHash } from 'node:crypto'
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { syncFile, syncFolder, writeDurably } from '../write-durably.ts'
import type { CompileOptions } from './compile-options.ts'

/** Fewer rows are read again in seconds. */
const MIN_ROWS = 1_000_000
const NAME = 'checkpoint'

/**
 * What a compilation knows after reading, kept beside the staged files, so that another attempt can go on from
 * there. It holds for the same options, the same state of the source and the same program.
 */
export class Checkpoint<T extends { summary: { rows: number } }> {
  readonly #staging: string
  readonly #key: string
  readonly #minRows: number

  private constructor(staging: string, key: string, minRows: number) {
    this.#staging = staging
    this.#key = key
    this.#minRows = minRows
  }

  /** Null if this compilation cannot be resumed. */
  static async of<T extends { summary: { rows: number } }>(
    options: CompileOptions,
    staging: string,
  ): Promise<Checkpoint<T> | null> {
    if (options.resume === undefined) return null
    return new Checkpoint<T>(staging, await keyOf(options), options.resume.minRows ?? MIN_ROWS)
  }

  /** What an earlier attempt stored; otherwise null, and what it left is removed. */
  async read(): Promise<T | null> {
    const bytes = await readFile(join(this.#staging, NAME)).catch(() => null)
    const stored = bytes === null ? null : (deserialize(bytes) as { key: string; staged: T })
    if (stored?.key === this.#key) return stored.staged
    for (const name of await readdir(this.#staging).catch(() => []))
      await rm(join(this.#staging, name), { recursive: true, force: true })
    return null
  }

  /** Syncs the staged files first: after a power cut, a checkpoint without them would be worse than none. */
  async write(staged: T): Promise<void> {
    if (staged.summary.rows < this.#minRows) return
    for (const entry of await readdir(this.#staging, { withFileTypes: true }))
      if (entry.isFile()) await syncFile(join(this.#staging, entry.name))
    await syncFolder(this.#staging)
    await writeDurably(join(this.#staging, NAME), serialize({ key: this.#key, staged }))
  }
}

async function keyOf(options: CompileOptions): Promise<string> {
  const { folder: _folder, memoryMegabytes: _memory, threads: _threads, ...reading } = options
  const source = options.resume?.source ?? (await stateOfSource(options))
  return createHash('sha256').update(JSON.stringify(reading)).update(source).digest('hex')
}

/** Changes with the files of a source, as far as their sizes, times and places tell. */
export async function stateOfSource({
  parts,
  path,
}: Pick<CompileOptions, 'parts' | 'path'>): Promise<string> {
  let state = ''
  for (const file of parts?.map((part) => part.path) ?? [path]) {
    const { size, mtimeMs, ino } = await stat(file)
    state += `${size} ${mtimeMs} ${ino}\n`
  }
  return state
}
