import type { Logger } from 'pino'
import { type Clock, MINUTE, SECOND } from '../../base/clock.ts'
import { DatabaseError } from '../../base/database/database-error.ts'
import type { ControlDatabase } from '../../base/database/open.ts'
import type { KeyRequest, KeyRequestLog } from '../../http/observability/key-request-log.ts'
import { operationOf, tableIn } from './request-operation.ts'
import { insertRequests, type NewRequestRow } from './store.ts'

const FLUSH = SECOND
/** So many requests of a key are recorded in a minute. */
const ALL_OF = 60
/** Beyond them, one in so many is recorded. */
const ONE_OF = 64
/** About 2 MB. While the database is slow or unreachable, further requests are not recorded. */
const MAX_UNSAVED = 5000

/**
 * Records requests for the owners of their keys, in memory, and commits them once a second. A request above a rate of
 * one a second only increases a counter. Best effort: a crash loses the last second; usage counts every call.
 */
export class RequestLog implements KeyRequestLog {
  readonly #database: ControlDatabase
  readonly #clock: Clock
  readonly #log: Logger
  readonly #timers: NodeJS.Timeout[]
  /** The requests of each key in this minute. */
  readonly #counts = new Map<string, { count: number }>()
  #rows: NewRequestRow[] = []
  #saving: Promise<void> | null = null

  constructor(database: ControlDatabase, clock: Clock, log: Logger) {
    this.#database = database
    this.#clock = clock
    this.#log = log
    this.#timers = [
      setInterval(() => void this.flush(), FLUSH).unref(),
      setInterval(() => this.#counts.clear(), MINUTE).unref(),
    ]
  }

  weightOf(keyId: string): number {
    let counter = this.#counts.get(keyId)
    if (counter === undefined) {
      counter = { count: 0 }
      this.#counts.set(keyId, counter)
    }
    const count = ++counter.count
    if (count <= ALL_OF) return 1
    return (count - ALL_OF) % ONE_OF === 0 ? ONE_OF : 0
  }

  add({ keyId, method, route, url, status, milliseconds, bytes, credits, weight }: KeyRequest): void {
    if (this.#rows.length >= MAX_UNSAVED) return
    this.#rows.push({
      key_id: keyId,
      at: this.#clock().toISOString(),
      operation: operationOf(method, route),
      table_name: tableIn(url),
      status,
      milliseconds: Math.round(milliseconds),
      bytes,
      credits,
      weight,
    })
  }

  /** Resolves when everything recorded so far is committed or, if that fails, discarded. */
  async flush(): Promise<void> {
    while (this.#saving) await this.#saving
    if (this.#rows.length === 0) return
    const rows = this.#rows
    this.#rows = []
    this.#saving = insertRequests(this.#database.db, rows)
      .catch((error: unknown) => {
        // A database outage is logged elsewhere.
        if (error instanceof DatabaseError) return
        this.#log.warn({ err: error }, 'Requests of keys could not be recorded.')
      })
      .finally(() => {
        this.#saving = null
      })
    await this.#saving
  }

  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer)
    await this.flush()
  }
}
