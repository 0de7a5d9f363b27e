import { FairQueue } from './fair-queue.ts'
import { TimedWork } from './timed-work.ts'

export interface WorkloadOptions {
  /** Max duration of a query, in ms. */
  queryMs: number
  /** Max bytes of the features of a page, as they are in the pack. */
  pageBytes: number
  /** Max duration of writing a page, in ms. */
  pageMs?: number
  /** Max time that a request waits for others, in ms. */
  maxWaitMs?: number
}

/** Searches that run at once on the event loop. They take turns anyway; more would make all of them late. */
const MAX_SEARCHES = 16
const MAX_WAIT_MS = 3000
/** Memory of all pages under way, in bytes; it is raised if a single page needs more. */
const PAGE_MEMORY = 256 << 20
/** A page needs this multiple of the bytes of its features while it is written: they are copied several times. */
export const WRITING_FACTOR = 8
const PAGE_MS = 2000

/**
 * Limits what requests for features may cost: time for each, and turns, searches and memory for all together.
 * Requests that are served from memory in one time slice do not pass it.
 */
export class Workload {
  readonly pageBytes: number
  readonly pageMs: number
  /** Slots for searches. */
  readonly searches: FairQueue
  /** Bytes for pages under way, until they are sent. */
  readonly pages: FairQueue
  /** Pages that were shortened, by the limit that they would have exceeded. */
  readonly shortened = { bytes: 0, time: 0 }
  readonly #queryMs: number

  constructor({ queryMs, pageBytes, pageMs = PAGE_MS, maxWaitMs = MAX_WAIT_MS }: WorkloadOptions) {
    this.#queryMs = queryMs
    this.pageBytes = pageBytes
    this.pageMs = pageMs
    this.searches = new FairQueue({
      capacity: MAX_SEARCHES,
      share: MAX_SEARCHES / 2,
      maxWaitMs,
      limit: 'searches',
    })
    const share = Math.max(PAGE_MEMORY / 2, pageBytes * WRITING_FACTOR)
    this.pages = new FairQueue({ capacity: share * 2, share, maxWaitMs, limit: 'pages' })
  }

  /** The work of a request of this owner. Call its `end` when it has ended. */
  begin(owner: string, disconnected?: () => AbortSignal): TimedWork {
    return new TimedWork({ owner, disconnected, maxMs: this.#queryMs })
  }

  /** Runs a search when there is a slot for it. */
  async search<T>(work: TimedWork, run: () => Promise<T>): Promise<T> {
    const slot = await this.searches.acquire(work.owner, 1, work.signal)
    try {
      return await run()
    } finally {
      slot.release()
    }
  }
}
