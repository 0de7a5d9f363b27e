import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import { writeDurably } from '../../write-durably.ts'
import type { TilePlan } from './tile-plan.ts'

const PLAN = 'plan'

/** The folder of the partitions of an archive. Caches do not look into hidden folders. */
function partitionsFolder(archive: string): string {
  return join(dirname(archive), `.${basename(archive)}.partitions`)
}

/**
 * The plan of a build and the partitions that are finished, each a file that appears complete or not at all. A build
 * that was killed is continued by the next one with the same key. One process at a time uses a store.
 */
export class PartitionStore {
  readonly #folder: string
  readonly #key: string

  constructor(folder: string, key: string) {
    this.#folder = folder
    this.#key = key
  }

  /** The store beside an archive. */
  static beside(archive: string, key: string): PartitionStore {
    return new PartitionStore(partitionsFolder(archive), key)
  }

  /** The stored plan if it has the same key. Otherwise a new one, and what another build left is removed. */
  async open(makePlan: () => TilePlan): Promise<TilePlan> {
    const stored = await this.#readPlan()
    if (stored) return stored
    await this.remove()
    await mkdir(this.#folder, { recursive: true })
    const plan = makePlan()
    await writeDurably(join(this.#folder, PLAN), serialize({ key: this.#key, plan }))
    return plan
  }

  pathOf(partition: number): string {
    return join(this.#folder, String(partition))
  }

  isFinished(partition: number): boolean {
    return existsSync(this.pathOf(partition))
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true })
  }

  async #readPlan(): Promise<TilePlan | null> {
    const bytes = await readFile(join(this.#folder, PLAN)).catch(() => null)
    const stored = bytes === null ? null : (deserialize(bytes) as { key: string; plan: TilePlan })
    if (stored?.key !== this.#key) return null
    for (const name of await readdir(this.#folder))
      if (name.includes('.partial-')) await rm(join(this.#folder, name), { force: true })
    return stored.plan
  }
}

/** Removes the partitions of an archive, unless a build has finished one of them since then. */
export async function removeOldPartitions(archive: string, since: Date): Promise<void> {
  const folder = partitionsFolder(archive)
  const names = await readdir(folder).catch(() => [])
  const isFinished = names.some((name) => /^\d+$/.test(name))
  const changed = isFinished ? (await stat(folder)).mtime : new Date(0)
  if (changed < since) await rm(folder, { recursive: true, force: true })
}
