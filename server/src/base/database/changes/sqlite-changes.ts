import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { BroadcastChannel } from 'node:worker_threads'
import { DatabaseError, fromSqlite } from '../database-error.ts'
import type { ControlDatabase } from '../open.ts'
import {
  ChangeFeed,
  type ChangeRow,
  type Changes,
  commitNumbered,
  type Position,
  type Settle,
} from './changes.ts'
import type { NodeOptions } from './postgres-changes.ts'

const LOOK_HOLDS_MS = 1
/** A timer may be up to a millisecond early. */
const COMMAND_WAITS_MS = LOOK_HOLDS_MS + 2

/**
 * On SQLite, `PRAGMA data_version` on a connection that never writes changes with every commit of any other
 * connection, in this process or another. Reading it takes a few microseconds, so it is polled at most once a
 * millisecond, when a cache is used; the changes themselves are read only if it has changed. The
 * process that serves polls after its own commits. A command waits until a poll from before its commit is no
 * longer valid, and so does each of several serving threads.
 */
export async function openSqliteChanges(
  database: ControlDatabase,
  { serving, settle, channel }: Pick<NodeOptions, 'serving' | 'settle' | 'channel'>,
): Promise<Changes> {
  const node = new SqliteNode(database, serving ? settle : undefined)
  await node.start().catch((error: unknown) => {
    node.close()
    throw error
  })
  const messageListeners: ((message: string) => void)[] = []
  const receive = (message: string) => {
    for (const listener of messageListeners) listener(message)
  }
  const otherThreads = channel === undefined ? null : openChannel(channel, receive)
  const isAlone = serving && otherThreads === null
  const appliedEverywhere = async () => {
    node.catchUp()
    if (!isAlone) await sleep(COMMAND_WAITS_MS)
  }
  return {
    async commit(work) {
      const { result, position } = await commitNumbered(database, work)
      if (position !== null) await appliedEverywhere()
      return result
    },
    trusted: () => node.trusted(),
    appliedEverywhere,
    get applied() {
      return node.feed.applied
    },
    listen: (listener) => node.feed.listen(listener),
    // Only one process serves a SQLite database.
    async sendMessage(message) {
      setImmediate(receive, message)
      otherThreads?.postMessage(message)
    },
    onMessage: (listener) => void messageListeners.push(listener),
    close: async () => {
      otherThreads?.close()
      node.close()
    },
  }
}

function openChannel(name: string, receive: (message: string) => void): BroadcastChannel {
  const channel = new BroadcastChannel(name)
  channel.onmessage = (event) => receive(event.data as string)
  channel.unref()
  return channel
}

/** Reads the changes of all processes by a connection that never writes. */
class SqliteNode {
  readonly feed = new ChangeFeed()
  readonly #database: ControlDatabase
  readonly #settle: Settle | undefined
  readonly #connection: DatabaseSync
  readonly #dataVersion: StatementSync
  readonly #currentPosition: StatementSync
  readonly #changesFrom: StatementSync
  #seen = -1
  #lookHoldsUntil = 0
  #isSettled = true
  #isSettling = false

  constructor(database: ControlDatabase, settle: Settle | undefined) {
    this.#database = database
    this.#settle = settle
    this.#connection = new DatabaseSync(database.file!, { readOnly: true })
    this.#dataVersion = this.#connection.prepare('pragma data_version')
    this.#currentPosition = this.#connection.prepare('select number, token from change_number')
    this.#changesFrom = this.#connection.prepare(
      'select number, token, subject, subject_id from changes where number >= ? order by number',
    )
  }

  async start(): Promise<void> {
    await this.#settleNow()
    this.feed.position = this.#readCurrent()
  }

  catchUp(): void {
    const version = (this.#dataVersion.get() as { data_version: number }).data_version
    if (version === this.#seen) return
    this.#applyChanges()
    // Set last, so that a failure above leads to another attempt.
    this.#seen = version
  }

  trusted(): boolean {
    const now = performance.now()
    if (this.#isSettled && now < this.#lookHoldsUntil) return true
    try {
      this.catchUp()
    } catch (error) {
      throw fromSqlite(error as Error, this.#database.file!)
    }
    if (!this.#isSettled) {
      void this.#settleAgain()
      throw new DatabaseError(
        'database-unavailable',
        'The database is in an older state than before, and revocations are being applied again.',
      )
    }
    this.#lookHoldsUntil = now + LOOK_HOLDS_MS
    return true
  }

  close(): void {
    this.#connection.close()
  }

  #readCurrent(): Position {
    return this.#currentPosition.get() as unknown as Position
  }

  /** Uses one read transaction, so that the rows and the position are consistent. */
  #applyChanges(): void {
    this.#connection.exec('begin')
    try {
      const current = this.#readCurrent()
      if (this.feed.isAt(current)) return
      const rows = this.#changesFrom.all(this.feed.position.number) as unknown as ChangeRow[]
      if (!this.feed.apply(rows, current) && this.#settle) this.#isSettled = false
    } finally {
      this.#connection.exec('commit')
    }
  }

  async #settleNow(): Promise<void> {
    const commit: Changes['commit'] = async (work) => (await commitNumbered(this.#database, work)).result
    await this.#settle?.({ db: this.#database.db, commit })
  }

  /** A failure is repeated at the next use of a cache. */
  async #settleAgain(): Promise<void> {
    if (this.#isSettling) return
    this.#isSettling = true
    await this.#settleNow().then(
      () => {
        this.#isSettled = true
      },
      () => {},
    )
    this.#isSettling = false
  }
}
