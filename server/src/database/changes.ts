import type { ControlDatabase, Tx } from './open.ts'
import { openPostgresChanges } from './postgres-changes.ts'
import { openSqliteChanges } from './sqlite-changes.ts'

/** What a cache may hold, and must forget when it changes. `everything` is told when changes were missed. */
export type Subject = 'key' | 'organization' | 'user' | 'dataset' | 'signing-key' | 'everything'
export type Listener = (subject: Subject, id: string) => void

/** Notes that a subject changes with the transaction at hand. */
export type Changed = (subject: Exclude<Subject, 'everything'>, id: string) => void

/**
 * How a change reaches every cache of every process before the call that made it answers.
 *
 * Each change is a row with a number, taken under one lock so that numbers appear in commit order. A serving
 * process applies the rows it has not seen: on SQLite it asks `trusted()` before each use of a cache, which
 * looks whether the file changed; on PostgreSQL it is notified, acknowledges the number, and holds a lease,
 * without which its caches are not used.
 */
export interface Changes {
  /** Runs a transaction; once it is committed, waits until no process holds anything that it made stale. */
  commit<T>(work: (tx: Tx, changed: Changed) => Promise<T>): Promise<T>
  /** Whether caches may be used now. Applies what this process has not seen, where that needs no waiting. */
  trusted(): boolean
  /** Counts every change applied: a value read before it moved must not be put into a cache. */
  readonly applied: number
  listen(listener: Listener): void
  close(): Promise<void>
}

/** `serving: false` is for the command line, which changes things and caches nothing. */
export function openChanges(
  database: ControlDatabase,
  options: { nodeId: string; serving: boolean },
): Promise<Changes> {
  return database.kind === 'sqlite' ? openSqliteChanges(database) : openPostgresChanges(database, options)
}

/** Runs the transaction and gives its changes numbers, in the same transaction. Null: nothing to be told. */
export async function commitNumbered<T>(
  database: ControlDatabase,
  work: (tx: Tx, changed: Changed) => Promise<T>,
  beforeCommit: (tx: Tx, number: number) => Promise<void> = async () => {},
): Promise<{ result: T; number: number | null }> {
  return database.db.transaction().execute(async (tx) => {
    const subjects = new Map<string, [string, string]>()
    const result = await work(tx, (subject, id) => subjects.set(`${subject} ${id}`, [subject, id]))
    if (subjects.size === 0) return { result, number: null }
    const { number } = await tx
      .updateTable('change_number')
      .set((row) => ({ number: row('number', '+', subjects.size) }))
      .returning('number')
      .executeTakeFirstOrThrow()
    const at = new Date().toISOString()
    const rows = [...subjects.values()].map(([subject, subject_id], index) => ({
      number: number - index,
      subject,
      subject_id,
      at,
    }))
    await tx.insertInto('changes').values(rows).execute()
    await beforeCommit(tx, number)
    return { result, number }
  })
}

/** Tells the listeners of each change not seen yet; tells them of `everything` where rows are missing. */
export class ChangeFeed {
  readonly #listeners: Listener[] = []
  last = 0
  applied = 0

  listen(listener: Listener): void {
    this.#listeners.push(listener)
  }

  apply(rows: { number: number; subject: string; subject_id: string }[], current: number): void {
    if (current <= this.last) return
    if (rows.length < current - this.last) this.#tell('everything', '')
    else for (const row of rows) this.#tell(row.subject as Subject, row.subject_id)
    this.last = current
  }

  #tell(subject: Subject, id: string): void {
    this.applied++
    for (const listener of this.#listeners) listener(subject, id)
  }
}
