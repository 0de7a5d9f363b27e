import { randomUUID } from 'node:crypto'
import { retriedAfterDeadlock } from '../database-error.ts'
import type { ControlDatabase, Db, Tx } from '../open.ts'

/** What a cache may hold, and must evict when it changes. `everything` is sent if changes were missed. */
export type Subject =
  | 'key'
  | 'organization'
  | 'user'
  | 'dataset'
  /** The tiles of a snapshot, which a command builds again without a new version. */
  | 'tiles'
  | 'signing-key'
  | 'address-blocks'
  | 'everything'
export type Listener = (subject: Subject, id: string) => void

/** Records that the current transaction changes a subject. */
export type Changed = (subject: Exclude<Subject, 'everything'>, id: string) => void

/**
 * Cache invalidation: a change reaches every cache of every process before the call that made it returns.
 *
 * Each change is a row with a number, taken under one lock so that numbers appear in commit order. A serving
 * process applies the rows it has not seen: on SQLite `trusted()`, called before each use of a cache, checks
 * whether the file changed; on PostgreSQL the process is notified, acknowledges the number, and holds a
 * lease, without which its caches are not used. Numbers alone do not show that a database was restored to an
 * older state, so each commit has a random token too.
 */
export interface Changes {
  /** Runs a transaction; after the commit, waits until no process holds a stale cache entry. */
  commit<T>(work: (tx: Tx, changed: Changed) => Promise<T>): Promise<T>
  /** Whether caches may be used now. Applies changes not seen yet, if that needs no waiting. */
  trusted(): boolean
  /** Waits until every process has applied what is committed by now: for a response that tells about it. */
  appliedEverywhere(): Promise<void>
  /** Number of changes applied: a value read before this number increased must not be cached. */
  readonly applied: number
  listen(listener: Listener): void
  /**
   * Sends a short text to the listeners of every serving process, this one included. Best effort: a message
   * may be lost, so receivers also poll. Call it after the commit of what it tells about.
   */
  sendMessage(message: string): Promise<void>
  onMessage(listener: (message: string) => void): void
  close(): Promise<void>
}

/**
 * Applies to the database what this process knows and an older state of the database lacks: the revocations. A
 * serving process runs it before it serves from a database that may have been restored: at its start, and when
 * the connection to the database breaks or its history is not the one that the process knew.
 */
export type Settle = (database: { db: Db; commit: Changes['commit'] }) => Promise<unknown>

/** A position in the history of changes. */
export interface Position {
  number: number
  /**
   * Random, new for each commit. A restored database may assign a number again, but never the same number and
   * token. So if a number still has its token, all changes up to it are the same.
   */
  token: string
}

export interface ChangeRow extends Position {
  subject: string
  subject_id: string
}

/** Runs the transaction and numbers its changes within it. The position is null if nothing changed. */
export async function commitNumbered<T>(
  database: ControlDatabase,
  work: (tx: Tx, changed: Changed) => Promise<T>,
  beforeCommit: (tx: Tx, number: number) => Promise<void> = async () => {},
): Promise<{ result: T; position: Position | null }> {
  return retriedAfterDeadlock(() =>
    database.db.transaction().execute(async (tx) => {
      const subjects = new Map<string, [string, string]>()
      const result = await work(tx, (subject, id) => subjects.set(`${subject} ${id}`, [subject, id]))
      if (subjects.size === 0) return { result, position: null }
      const token = randomUUID()
      const { number } = await tx
        .updateTable('change_number')
        .set((row) => ({ number: row('number', '+', subjects.size), token }))
        .returning('number')
        .executeTakeFirstOrThrow()
      const at = new Date().toISOString()
      const rows = [...subjects.values()].map(([subject, subject_id], index) => ({
        number: number - index,
        subject,
        subject_id,
        at,
        token,
      }))
      await tx.insertInto('changes').values(rows).execute()
      await beforeCommit(tx, number)
      return { result, position: { number, token } }
    }),
  )
}

/** Notifies the listeners of each change that this process has not applied yet. */
export class ChangeFeed {
  readonly #listeners: Listener[] = []
  position: Position = { number: 0, token: '' }
  applied = 0

  listen(listener: Listener): void {
    this.#listeners.push(listener)
  }

  isAt({ number, token }: Position): boolean {
    return number === this.position.number && token === this.position.token
  }

  /**
   * Moves to `current`. `rows` are the changes from the feed's own position, inclusive, to `current`. If they
   * are incomplete, or the first is not the one that the feed applied last, then changes were missed or the
   * database was restored to an older state: the listeners are told to evict everything. Returns whether the
   * changes followed the feed's position.
   */
  apply(rows: ChangeRow[], current: Position): boolean {
    if (this.isAt(current)) return true
    const [first, ...later] = rows
    const follows =
      first?.number === this.position.number &&
      first.token === this.position.token &&
      later.length === current.number - this.position.number &&
      later.at(-1)?.token === current.token
    if (follows) for (const row of later) this.#notify(row.subject as Subject, row.subject_id)
    else this.#notify('everything', '')
    this.position = current
    return follows
  }

  #notify(subject: Subject, id: string): void {
    this.applied++
    for (const listener of this.#listeners) listener(subject, id)
  }
}
