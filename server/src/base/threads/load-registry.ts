import type { SharedLoads } from '@wayleave/geodata/base'

/** What a thread that asks for a key is told: the loaded data, or to load it. */
type LoadReply = { value: object } | 'load'

interface Entry {
  /** Null while it is loaded. */
  value: object | null
  /** The number of the thread that loads it. */
  loader: number
  /** The threads that use it. */
  holders: Set<number>
  waiting: { thread: number; tell: (reply: LoadReply) => void }[]
}

/**
 * What the serving threads of a process have loaded into shared memory, in the first thread. Each key is loaded by the
 * thread that asks for it first; the others wait for it. Data that no thread uses any more is forgotten, and its memory
 * is free when the last array over it is collected.
 *
 * See docs/decisions/serving-threads.md.
 */
export class LoadRegistry {
  readonly #entries = new Map<string, Entry>()

  get size(): number {
    return this.#entries.size
  }

  ask(thread: number, key: string): LoadReply | Promise<LoadReply> {
    const entry = this.#entries.get(key)
    if (entry === undefined) {
      this.#entries.set(key, { value: null, loader: thread, holders: new Set(), waiting: [] })
      return 'load'
    }
    if (entry.value === null) {
      const { promise, resolve } = Promise.withResolvers<LoadReply>()
      entry.waiting.push({ thread, tell: resolve })
      return promise
    }
    entry.holders.add(thread)
    return { value: entry.value }
  }

  /** The thread that was told to load has done so; null if that failed, and then the next one tries. */
  loaded(thread: number, key: string, value: object | null): void {
    const entry = this.#entries.get(key)
    if (entry?.loader !== thread || entry.value !== null) return
    if (value === null) {
      this.#passOn(key, entry)
      return
    }
    entry.value = value
    entry.holders.add(thread)
    for (const { thread: other, tell } of entry.waiting.splice(0)) {
      entry.holders.add(other)
      tell({ value })
    }
  }

  release(thread: number, key: string): void {
    const entry = this.#entries.get(key)
    if (entry?.value && entry.holders.delete(thread) && entry.holders.size === 0) this.#entries.delete(key)
  }

  /** The thread has ended: it uses nothing, and does not finish what it was loading. */
  forget(thread: number): void {
    for (const [key, entry] of this.#entries) {
      entry.waiting = entry.waiting.filter((one) => one.thread !== thread)
      if (entry.value !== null) this.release(thread, key)
      else if (entry.loader === thread) this.#passOn(key, entry)
    }
  }

  #passOn(key: string, entry: Entry): void {
    const next = entry.waiting.shift()
    if (next === undefined) this.#entries.delete(key)
    else {
      entry.loader = next.thread
      next.tell('load')
    }
  }
}

/** How a thread reaches the registry: directly in the first thread, by messages in the others. */
interface RegistryLink {
  ask(key: string): LoadReply | Promise<LoadReply>
  loaded(key: string, value: object | null): void
  release(key: string): void
}

export function registryLink(registry: LoadRegistry, thread: number): RegistryLink {
  return {
    ask: (key) => registry.ask(thread, key),
    loaded: (key, value) => registry.loaded(thread, key, value),
    release: (key) => registry.release(thread, key),
  }
}

/** The loads of one thread. A key that it uses several times is released with the last use. */
export class ThreadLoads implements SharedLoads {
  readonly #link: RegistryLink
  readonly #uses = new Map<string, { value: Promise<object>; count: number }>()

  constructor(link: RegistryLink) {
    this.#link = link
  }

  async load<T extends object>(key: string, read: () => Promise<T>): Promise<T> {
    let use = this.#uses.get(key)
    if (use === undefined) {
      use = { value: this.#load(key, read), count: 0 }
      this.#uses.set(key, use)
    }
    use.count++
    try {
      return (await use.value) as T
    } catch (error) {
      // Nothing is held of what could not be loaded.
      if (this.#uses.get(key) === use) this.#uses.delete(key)
      throw error
    }
  }

  release(key: string): void {
    const use = this.#uses.get(key)
    if (use === undefined || --use.count > 0) return
    this.#uses.delete(key)
    this.#link.release(key)
  }

  async #load(key: string, read: () => Promise<object>): Promise<object> {
    const reply = await this.#link.ask(key)
    if (reply !== 'load') return reply.value
    try {
      const value = await read()
      this.#link.loaded(key, value)
      return value
    } catch (error) {
      this.#link.loaded(key, null)
      throw error
    }
  }
}
