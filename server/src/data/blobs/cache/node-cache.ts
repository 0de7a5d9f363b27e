import { mkdir, readdir, rm, rmdir, stat, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { BoundedCache, singleFlight } from '@wayleave/geodata/base'
import type { Logger } from 'pino'
import { DAY, HOUR, MINUTE, SECOND } from '../../../base/clock.ts'
import { Semaphore } from '../../../base/concurrency/semaphore.ts'

/** The folder of a snapshot's blocks, next to its whole files. */
export const BLOCKS_FOLDER = 'blocks'
/** Whole files are also opened by name, by other processes, so they stay for this long after their last use. */
const IN_USE = 2 * MINUTE
/** How exactly the time of the last use is kept. */
const TOUCH_EVERY = 30 * SECOND
/** Eviction continues down to this share of the limit, so that it does not run for every block. */
const LOW_WATER = 0.9
/** After writing this share of the limit, the folder is measured again, because other processes write too. */
const MEASURE_SHARE = 1 / 16
/** A partial file that was not written for this long belongs to a process that is gone. */
const ABANDONED = HOUR
/** The same for a hidden folder inside a snapshot: a build of tiles is continued for this long after it was killed. */
const ABANDONED_FOLDER = DAY
const MAX_TOUCHED = 100_000
/**
 * Max fetches at a time, each of up to 4 MB, which bounds the memory for bytes that are not on disk yet. All serving
 * threads together, but each has at least the other number.
 */
const MAX_FETCHES = 32
const MIN_FETCHES = 4

interface CachedFile {
  path: string
  /** What it occupies on disk. Block files have holes. */
  bytes: number
  usedAt: number
  isWhole: boolean
}

/**
 * A folder with copies of what is in a bucket, shared by all processes of a machine. Everything in it can be
 * removed at any time: readers fetch what is missing, and compare every copy with its checksum before they use
 * it. The time of the last use is the file's modification time, which all processes see. Eviction is LRU.
 *
 * See docs/decisions/block-cache.md.
 */
export class NodeCache {
  /** Contains a folder for each snapshot. */
  readonly root: string
  /** For the metrics: blocks and files that were in the cache or had to be fetched, and evicted bytes. */
  readonly counts = { hits: 0, misses: 0, evictedBytes: 0 }
  readonly fetches: Semaphore
  readonly #maxBytes: number
  readonly #measureBytes: number
  readonly #log: Logger
  readonly #now: () => number
  readonly #touched = new BoundedCache<string, number>(MAX_TOUCHED)
  #measured = 0
  #written = 0

  /** `threads` serving threads of this process each have a cache of the same folder. */
  constructor(folder: string, maxBytes: number, log: Logger, now: () => number = Date.now, threads = 1) {
    this.fetches = new Semaphore(Math.max(MIN_FETCHES, Math.floor(MAX_FETCHES / threads)))
    this.#measureBytes = (maxBytes * MEASURE_SHARE) / threads
    this.root = join(folder, 'snapshots')
    this.#maxBytes = maxBytes
    this.#log = log
    this.#now = now
  }

  get bytes(): number {
    return this.#measured + this.#written
  }

  async open(): Promise<void> {
    await mkdir(this.root, { recursive: true, mode: 0o700 })
  }

  /** Notes that a file is in use. */
  touch(path: string): void {
    const now = this.#now()
    if (now - (this.#touched.get(path) ?? 0) < TOUCH_EVERY) return
    this.#touched.set(path, now)
    // The file may have been evicted by another process.
    utimes(path, now / 1000, now / 1000).catch(() => {})
  }

  /** Notes that bytes were added, and evicts others if there are too many. */
  added(bytes: number): void {
    this.#written += bytes
    if (this.bytes > this.#maxBytes || this.#written > this.#measureBytes) {
      this.#collectSoon().catch((error: unknown) =>
        this.#log.warn({ err: error }, 'The cache cannot be measured.'),
      )
    }
  }

  /** What is added while the folder is measured may be too much again. */
  async #collectSoon(): Promise<void> {
    await this.collect()
    if (this.#written > 0 && this.bytes > this.#maxBytes) await this.collect()
  }

  /** Measures the folder, and removes what was used least recently until it is below its limit. */
  readonly collect = singleFlight(async () => {
    this.#written = 0
    const files: CachedFile[] = []
    await this.#measure(this.root, files)
    this.#measured = files.reduce((sum, file) => sum + file.bytes, 0)
    if (this.#measured <= this.#maxBytes) return
    files.sort((a, b) => a.usedAt - b.usedAt)
    const inUse = this.#now() - IN_USE
    for (const { path, bytes, usedAt, isWhole } of files) {
      if (this.#measured <= this.#maxBytes * LOW_WATER) break
      if (isWhole && usedAt > inUse) continue
      await rm(path, { force: true })
      this.#touched.delete(path)
      this.#measured -= bytes
      this.counts.evictedBytes += bytes
      // Only succeeds if the folder is empty.
      if (dirname(path) !== this.root) await rmdir(dirname(path)).catch(() => {})
    }
  })

  async remove(snapshot: string): Promise<void> {
    await rm(join(this.root, snapshot), { recursive: true, force: true })
  }

  async #removeAbandoned(folder: string): Promise<void> {
    const { mtimeMs } = await stat(folder).catch(() => ({ mtimeMs: Infinity }))
    if (this.#now() - mtimeMs > ABANDONED_FOLDER) await rm(folder, { recursive: true, force: true })
  }

  async #measure(folder: string, files: CachedFile[]): Promise<void> {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
    for (const entry of entries) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) {
        // Staging folders are removed by the process that publishes, or by the next sweep.
        if (!entry.name.startsWith('.')) await this.#measure(path, files)
        else if (folder !== this.root) await this.#removeAbandoned(path)
        continue
      }
      if (entry.name.startsWith('lock')) continue
      const file = await stat(path).catch(() => null)
      if (file === null) continue
      if (entry.name.includes('.partial-') && this.#now() - file.mtimeMs > ABANDONED) {
        await rm(path, { force: true })
        continue
      }
      const isWhole = !folder.includes(`/${BLOCKS_FOLDER}/`)
      files.push({ path, bytes: file.blocks * 512, usedAt: file.mtimeMs, isWhole })
    }
  }
}
