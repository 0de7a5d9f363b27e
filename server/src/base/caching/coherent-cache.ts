import { BoundedCache, SingleFlights } from '@wayleave/geodata/base'
import type { Changes, Subject } from '../database/changes/changes.ts'
import type { MaybePromise } from '../maybe-promise.ts'

export interface CacheLookups {
  hits: number
  misses: number
}

export interface CoherentCacheOptions<V> {
  changes: Changes
  /** Reads the current value from the database; null if there is none. */
  read: (key: string) => Promise<V | null>
  /** Whether a change makes this entry stale. Not asked if changes were missed: then every entry is evicted. */
  isStale: (value: V, key: string, subject: Subject, id: string) => boolean
  maxEntries: number
  /**
   * Max keys that are known to have no value. They are kept apart, so that a flood of invented keys evicts no
   * entry, and are forgotten at every change. 0: a key without a value is read each time.
   */
  maxAbsent?: number
}

/**
 * A cache of values of the control database that is never behind it: once a change has returned to the caller
 * that made it, no process uses an older value. `Changes` says when caches may be trusted and what has
 * changed; this class keeps the rest of the rule, **nothing that was read before a change is cached after it**:
 *
 * 1. An entry is used only while caches are trusted.
 * 2. A change evicts the entries that it makes stale.
 * 3. A value is cached only if caches were trusted before and after it was read, and no change was applied in
 *    between: the read may have seen the state before the change.
 * 4. Requests for one key share a read (single-flight), but none that began before a change: its callers
 *    would get the old state after the change has returned. While caches are not trusted, changes may have
 *    been missed, so nothing is shared.
 */
export class CoherentCache<V> {
  readonly #options: CoherentCacheOptions<V>
  readonly #entries: BoundedCache<string, V>
  readonly #absent: BoundedCache<string, true>
  #reads = new SingleFlights<string, V | null>()
  /** How often a value was in the cache, and how often it had to be read. */
  readonly lookups: CacheLookups = { hits: 0, misses: 0 }

  constructor(options: CoherentCacheOptions<V>) {
    this.#options = options
    this.#entries = new BoundedCache(options.maxEntries)
    this.#absent = new BoundedCache(options.maxAbsent ?? 0)
    options.changes.listen((subject, id) => this.#apply(subject, id))
  }

  /** The cached value; undefined if there is none, or if caches are not trusted. */
  peek(key: string): V | undefined {
    const value = this.#options.changes.trusted() ? this.#entries.get(key) : undefined
    if (value !== undefined) this.lookups.hits++
    return value
  }

  /** The cached value, or the one that is read now. Null if there is none. */
  get(key: string): MaybePromise<V | null> {
    if (this.#options.changes.trusted()) {
      const value = this.#entries.get(key)
      if (value !== undefined || this.#absent.has(key)) {
        this.lookups.hits++
        return value ?? null
      }
      this.lookups.misses++
      return this.#reads.run(key, () => this.#read(key))
    }
    this.lookups.misses++
    return this.#read(key)
  }

  /** Evicts one entry, so that it is read again; for values that depend on more than changes. */
  evict(key: string): void {
    this.#entries.delete(key)
    this.#absent.delete(key)
  }

  async #read(key: string): Promise<V | null> {
    const { changes, read } = this.#options
    const wasTrusted = changes.trusted()
    const appliedBefore = changes.applied
    const value = await read(key)
    if (wasTrusted && changes.trusted() && changes.applied === appliedBefore) {
      if (value === null) this.#absent.set(key, true)
      else this.#entries.set(key, value)
    }
    return value
  }

  #apply(subject: Subject, id: string): void {
    this.#reads = new SingleFlights()
    this.#absent.clear()
    if (subject === 'everything') this.#entries.clear()
    else {
      for (const [key, value] of this.#entries.entries()) {
        if (this.#options.isStale(value, key, subject, id)) this.#entries.delete(key)
      }
    }
  }
}
