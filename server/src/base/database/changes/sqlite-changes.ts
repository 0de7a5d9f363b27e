import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseError, fromSqlite } from '../database-error.ts'
import type { ControlDatabase } from '../open.ts'
import { ChangeFeed, type ChangeRow, type Changes, commitNumbered, type Position } from './changes.ts'
import type { NodeOptions } from './postgres-changes.ts'

const LOOK_HOLDS_MS = 1
/** A timer may be up to a millisecond early. */
const COMMAND_WAITS_MS = LOOK_HOLDS_MS + 2

/**
 * On SQLite, `PRAGMA data_version` on a connection that never writes changes with every commit of any other
 * connection, in this process or another. Reading it takes a few microseconds, so it is polled at most once a
 * millisecond, when a cache is used; the changes themselves are read only if it has changed. The
 * process that serves polls after its own commits. A command waits until a poll from before its commit is no
 * longer valid.
 */
export async function openSqliteChanges(
  database: ControlDatabase,
  { serving, settle }: Pick<NodeOptions, 'serving' | 'settle'>,
): Promise<Changes> {
  const commit: Changes['commit'] = async (work) => (await commitNumbered(database, work)).result
  if (serving) await settle?.({ db: database.db, commit })
  const connection = new DatabaseSync(database.file!, { readOnly: true })
  const dataVersion = connection.prepare('pragma data_version')
  const currentPosition = connection.prepare('select number, token from change_number')
  const changesFrom = connection.prepare(
    'select number, token, subject, subject_id from changes where number >= ? order by number',
  )
  const feed = new ChangeFeed()
  const messageListeners: ((message: string) => void)[] = []
  let seen = -1
  let lookHoldsUntil = 0
  let isSettled = true
  let isSettling = false
  const readCurrent = () => currentPosition.get() as unknown as Position
  feed.position = readCurrent()

  /** Uses one read transaction, so that the rows and the position are consistent. */
  function applyChanges(): void {
    connection.exec('begin')
    try {
      const current = readCurrent()
      if (feed.isAt(current)) return
      const rows = changesFrom.all(feed.position.number) as unknown as ChangeRow[]
      if (!feed.apply(rows, current) && serving && settle) isSettled = false
    } finally {
      connection.exec('commit')
    }
  }

  function catchUp(): void {
    const version = (dataVersion.get() as { data_version: number }).data_version
    if (version === seen) return
    applyChanges()
    // Set last, so that a failure above leads to another attempt.
    seen = version
  }

  /** A failure is repeated at the next use of a cache. */
  async function settleAgain(): Promise<void> {
    if (isSettling) return
    isSettling = true
    await settle!({ db: database.db, commit }).then(
      () => {
        isSettled = true
      },
      () => {},
    )
    isSettling = false
  }

  function trustNow(): boolean {
    const now = performance.now()
    if (isSettled && now < lookHoldsUntil) return true
    try {
      catchUp()
    } catch (error) {
      throw fromSqlite(error as Error)
    }
    if (!isSettled) {
      void settleAgain()
      throw new DatabaseError(
        'database-unavailable',
        'The database is in an older state than before, and revocations are being applied again.',
      )
    }
    lookHoldsUntil = now + LOOK_HOLDS_MS
    return true
  }

  async function appliedEverywhere(): Promise<void> {
    catchUp()
    if (!serving) await sleep(COMMAND_WAITS_MS)
  }

  return {
    async commit(work) {
      const { result, position } = await commitNumbered(database, work)
      if (position !== null) await appliedEverywhere()
      return result
    },
    trusted: trustNow,
    appliedEverywhere,
    get applied() {
      return feed.applied
    },
    listen: (listener) => feed.listen(listener),
    // Only one process serves a SQLite database.
    async sendMessage(message) {
      for (const listener of messageListeners) setImmediate(listener, message)
    },
    onMessage: (listener) => void messageListeners.push(listener),
    async close() {
      connection.close()
    },
  }
}
