import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { type Clock, DAY } from '../../base/clock.ts'
import { DatabaseError } from '../../base/database/database-error.ts'
import type { ControlDatabase } from '../../base/database/open.ts'
import type { Grant } from '../access/grant.ts'
import { usageKeyOf } from './usage-key.ts'
import { addUsageBatch, setLastUsed, type UsageRow } from './usage-store.ts'

const FLUSH_MS = 500
/** `lastUsedAt` may be a minute behind: half of it is the write interval, half is for a slow database. */
const LAST_USED_ROUNDS = 60

/**
 * Max rows of one batch, about 100 MB: enough for many hours of outage, because a row counts all calls of one
 * key and kind in a day.
 */
const MAX_ROWS = 200_000

/** `operation` is one of `download`, `archive`, `items`, `item`, `facets`, `aggregate`, `extract`, `collections`, `metadata`, `sample`, `administration`. */
export interface Call {
  operation: string
  table: string
  format: string
}

interface Batch {
  id: string
  rows: Map<string, UsageRow>
}

/**
 * Counts free calls in memory and commits them twice a second. A crash loses at most the calls since the last
 * commit; calls that cost credits are counted in the transaction of their debit instead, and are never lost.
 */
export class Meter {
  readonly #database: ControlDatabase
  readonly #clock: Clock
  readonly #log: Logger
  readonly #timer: NodeJS.Timeout
  /** By the hash of the secret. */
  readonly #lastUsed = new Map<string, number>()
  #batch: Batch = newBatch()
  /** The batch whose commit is retried until it is known to have succeeded. */
  #unsaved: Batch | null = null
  #flushing: Promise<void> | null = null
  /** When everything recorded had last been committed, on a monotonic clock. */
  #savedAt = performance.now()
  #rounds = 0
  #isSaving = false
  #isFailing = false
  #droppedCalls = 0
  /** The last row used: calls come in bursts of one kind, so this often saves the lookup. */
  #lastRow: { batch: Batch; row: UsageRow } | null = null
  #day = { from: 0, to: 0, text: '' }

  constructor(database: ControlDatabase, clock: Clock, log: Logger) {
    this.#database = database
    this.#clock = clock
    this.#log = log
    this.#timer = setInterval(() => this.#tick(), FLUSH_MS).unref()
  }

  record(grant: Grant, call: Call): void {
    const now = this.#clock().getTime()
    this.#lastUsed.set(grant.secretHash, now)
    const date = this.#dateOf(now)
    const usageKey = usageKeyOf(grant)
    const last = this.#lastRow
    if (last?.batch === this.#batch && isOf(last.row, usageKey, call, date)) {
      last.row.calls++
      return
    }
    const { rows } = this.#batch
    const name = `${usageKey} ${date} ${call.operation} ${call.table} ${call.format}`
    let row = rows.get(name)
    if (row) row.calls++
    else if (rows.size >= MAX_ROWS) {
      this.#droppedCalls++
      return
    } else {
      row = usageRow(grant, call, date, 0)
      rows.set(name, row)
    }
    this.#lastRow = { batch: this.#batch, row }
  }

  /** Returns the row of a paid call, for the transaction that debits it. */
  paidRow(grant: Grant, call: Call, credits: number): UsageRow {
    const now = this.#clock().getTime()
    this.#lastUsed.set(grant.secretHash, now)
    return usageRow(grant, call, this.#dateOf(now), credits)
  }

  /** Number of rows that are not committed yet. */
  get unsavedRows(): number {
    return this.#batch.rows.size + (this.#unsaved?.rows.size ?? 0)
  }

  /** Upper bound of how long the oldest of them has been waiting, in seconds; 0 if there are none. */
  get unsavedSeconds(): number {
    return this.unsavedRows === 0 ? 0 : (performance.now() - this.#savedAt) / 1000
  }

  /** Resolves when everything recorded so far is committed. */
  async flush(): Promise<void> {
    while (this.#flushing) await this.#flushing.catch(() => {})
    this.#flushing = this.#save().finally(() => {
      this.#flushing = null
    })
    await this.#flushing
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    // Retry once: a connection that died meanwhile only fails the first attempt.
    await this.flush().catch(() => this.flush())
    await this.#saveLastUsed()
  }

  #tick(): void {
    this.#rounds++
    if (this.unsavedRows === 0) this.#savedAt = performance.now()
    // Do not queue further attempts behind one that hangs.
    if (this.#isSaving) return
    this.#isSaving = true
    const work = async () => {
      if (this.#batch.rows.size > 0 || this.#unsaved) await this.flush()
      if (this.#rounds >= LAST_USED_ROUNDS) {
        this.#rounds = 0
        await this.#saveLastUsed()
      }
    }
    work()
      .then(
        () => this.#saved(),
        (error: unknown) => this.#notSaved(error),
      )
      .finally(() => {
        this.#isSaving = false
      })
  }

  /** Logs when an outage begins and when it ends, not at each attempt. */
  #notSaved(error: unknown): void {
    if (this.#isFailing) return
    this.#isFailing = true
    const fields = error instanceof DatabaseError ? { failure: error.failure } : { err: error }
    this.#log.warn(fields, 'Usage could not be saved. It is kept in memory, and saving is tried again.')
  }

  #saved(): void {
    if (!this.#isFailing) return
    this.#isFailing = false
    this.#log.info('Usage is saved again.')
    if (this.#droppedCalls > 0)
      this.#log.error(
        `${this.#droppedCalls} calls were not counted: more than ${MAX_ROWS} rows were unsaved.`,
      )
    this.#droppedCalls = 0
  }

  /** While the database is unreachable, usage accumulates in one batch, bounded by `MAX_ROWS`. */
  async #save(): Promise<void> {
    await this.#saveUnsaved()
    const began = performance.now()
    if (this.#batch.rows.size > 0) {
      this.#unsaved = this.#batch
      this.#batch = newBatch()
      await this.#saveUnsaved()
    }
    this.#savedAt = began
  }

  async #saveUnsaved(): Promise<void> {
    if (!this.#unsaved) return
    const { id, rows } = this.#unsaved
    await addUsageBatch(this.#database, id, this.#clock().toISOString(), [...rows.values()])
    this.#unsaved = null
  }

  async #saveLastUsed(): Promise<void> {
    for (const [secretHash, at] of [...this.#lastUsed]) {
      await setLastUsed(this.#database.db, secretHash, new Date(at).toISOString())
      if (this.#lastUsed.get(secretHash) === at) this.#lastUsed.delete(secretHash)
    }
  }

  #dateOf(now: number): string {
    if (now < this.#day.from || now >= this.#day.to) {
      const from = now - (now % DAY)
      this.#day = { from, to: from + DAY, text: new Date(from).toISOString().slice(0, 10) }
    }
    return this.#day.text
  }
}

function usageRow(grant: Grant, call: Call, date: string, credits: number): UsageRow {
  return {
    key_id: usageKeyOf(grant),
    organization_id: grant.organizationId,
    date,
    operation: call.operation,
    table_name: call.table,
    format: call.format,
    calls: 1,
    credits,
  }
}

function isOf(row: UsageRow, usageKey: string, call: Call, date: string): boolean {
  return (
    row.key_id === usageKey &&
    row.table_name === call.table &&
    row.operation === call.operation &&
    row.format === call.format &&
    row.date === date
  )
}

function newBatch(): Batch {
  return { id: randomUUID(), rows: new Map() }
}
