import type { JobKind } from '@wayleave/contract/job-states'
import { sql } from 'kysely'
import type { NodeTime } from '../../node-time.ts'
import { DatabaseError } from '../database-error.ts'
import { isoText } from '../database-time.ts'
import type { ControlDatabase, Tx } from '../open.ts'
import type { Patience, ServerCheck } from '../postgres-pool.ts'
import { hasUnfinishedRestore } from '../unfinished-restore-store.ts'
import {
  type Changed,
  type ChangeFeed,
  type Changes,
  commitNumbered,
  type Position,
  type Settle,
} from './changes.ts'
import { type ChangeListener, type NodeLink, notifyOfChange } from './node-link.ts'

const LEASE_MS = 2000
const RENEW_MS = 500
/** The lease is counted from before the renewal was sent, minus a margin for late timers. */
const TRUST_MS = LEASE_MS - 250
/** The node's own maintenance connections time out after one lease: by then it has expired anyway. */
export const UPKEEP: Patience = { connections: 2, connectTimeout: LEASE_MS, queryTimeout: LEASE_MS }
/** The same for the nodes of all serving threads of a process together. */
export const SHARED_UPKEEP: Patience = { ...UPKEEP, connections: 4 }
/** Number of failed renewals in a row before requests are refused without trying (circuit breaker). */
const REFUSE_AFTER = 2
/** While an operator restores a dump, tables may be missing. */
const UNDEFINED_TABLE = '42P01'
const KEEP_CHANGES = '1 day'
const KEEP_NODES = '1 hour'
const PRUNE_ROUNDS = 1000

export function commitNotifying<T>(
  database: ControlDatabase,
  work: (tx: Tx, changed: Changed) => Promise<T>,
): Promise<{ result: T; position: Position | null }> {
  return commitNumbered(database, work, async (tx, changeNumber) => {
    await notifyOfChange(changeNumber).execute(tx)
  })
}

/** A migrated database has this row; tables without it are being loaded. */
function noRows(): DatabaseError {
  return new DatabaseError('database-unavailable', 'The control database is empty: is it being restored?')
}

interface ServingNodeOptions {
  nodeId: string
  feed: ChangeFeed
  jobKinds: readonly JobKind[]
  settle: Settle
  receive: (message: string) => void
  time: NodeTime
  link: NodeLink
}

/** The lease of a node, and the changes that it has applied. */
export class ServingNode {
  readonly #database: ControlDatabase
  readonly #time: NodeTime
  readonly #link: NodeLink
  readonly #upkeep: ControlDatabase
  readonly #id: string
  readonly #feed: ChangeFeed
  readonly #jobKinds: string | null
  readonly #settle: Settle
  readonly #receive: (message: string) => void
  readonly #stopped = new AbortController()
  #listening: ChangeListener | null = null
  /** How often the database may have become another one. */
  #doubts = 1
  /** The number of doubts when the database was last settled. */
  #settledDoubts = 0
  #wakeUp = () => {}
  /** When this node last found that the database's history is not the one it knew, by its own clock. */
  #restoredAt = Number.NEGATIVE_INFINITY
  #trustedUntil = 0
  #catchingUp: Promise<void> | null = null
  #loop: Promise<void> = Promise.resolve()

  constructor(database: ControlDatabase, options: ServingNodeOptions) {
    const { nodeId, feed, jobKinds, settle, receive, time, link } = options
    this.#database = database
    this.#time = time
    this.#link = link
    this.#upkeep = link.openUpkeep()
    this.#id = nodeId
    this.#feed = feed
    this.#jobKinds = jobKinds.length > 0 ? jobKinds.join() : null
    this.#settle = settle
    this.#receive = receive
  }

  trusted(): boolean {
    return this.#time.now() < this.#trustedUntil
  }

  async start(): Promise<void> {
    try {
      this.#feed.position = await this.#readPosition()
      this.#database.checkServers((client) => this.#isKnown(client))
      await this.#renew()
    } catch (error) {
      await this.stop()
      throw error
    }
    this.#loop = this.#run()
  }

  async stop(): Promise<void> {
    this.#trustedUntil = 0
    this.#stopped.abort()
    await this.#loop
    this.#dropListener()
    // Only saves writers waiting for the lease to expire, so it may fail if the database is unreachable.
    await this.#upkeep.db
      .deleteFrom('nodes')
      .where('id', '=', this.#id)
      .execute()
      .catch(() => {})
    await this.#upkeep.close()
  }

  async #run(): Promise<void> {
    let failures = 0
    for (let round = 1; !this.#stopped.signal.aborted; round++) {
      await this.#pause(this.#isSettled || failures > 0 ? RENEW_MS : 0)
      if (this.#stopped.signal.aborted) return
      // If the database does not respond, the lease is not renewed, and so the trust in the caches ends.
      const error = await this.#renew().then(
        () => null,
        (cause: unknown) => cause,
      )
      failures = error === null ? 0 : failures + 1
      if (error === null && this.#isSettled) this.#database.refuse(null)
      else if (failures >= REFUSE_AFTER) this.#refuse(error)
      if (round % PRUNE_ROUNDS === 0) await this.#prune().catch(() => {})
    }
  }

  /** A full disk is not a reason to refuse reads, but a database that cannot be settled must not be used. */
  #refuse(error: unknown): void {
    const isUnavailable = error instanceof DatabaseError && error.failure === 'database-unavailable'
    if (isUnavailable) this.#database.refuse(error)
    else if (!this.#isSettled)
      this.#database.refuse(
        new DatabaseError('database-unavailable', 'Revocations could not be applied again.', error),
      )
  }

  async #pause(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wakeUp = resolve
    await Promise.race([promise, this.#time.sleep(milliseconds, this.#stopped.signal).catch(() => {})])
  }

  get #isSettled(): boolean {
    return this.#settledDoubts === this.#doubts
  }

  /** The database may be another one: nothing is read from it, and no cache trusted, until it is settled. */
  #doubt(): void {
    this.#doubts++
    this.#trustedUntil = 0
    this.#database.hold()
    this.#wakeUp()
  }

  /** Whether a server holds the change that this node applied last. If not, it is in an older state. */
  async #isKnown(client: Parameters<ServerCheck>[0]): Promise<boolean> {
    const { number, token } = this.#feed.position
    const change = 'where number = $1 and token = $2'
    const isKnown = await client
      .query(`select 1 from change_number ${change} union all select 1 from changes ${change}`, [
        number,
        token,
      ])
      .then(
        ({ rowCount }) => rowCount !== 0,
        (error: { code?: string }) => {
          if (error.code !== UNDEFINED_TABLE) throw error
          return false
        },
      )
    if (!isKnown) this.#doubt()
    return isKnown
  }

  /** First the lease, then the changes: from the lease on, writers wait for this node's acknowledgement. */
  async #renew(): Promise<void> {
    const began = this.#time.now()
    await this.#listen()
    if (!this.#isSettled) await this.#settleDatabase()
    const doubts = this.#doubts
    await this.#extendLease()
    await this.catchUp()
    if (this.#isSettled && doubts === this.#doubts) this.#trustedUntil = began + TRUST_MS
  }

  async #settleDatabase(): Promise<void> {
    await this.catchUp()
    const doubts = this.#doubts
    const commit: Changes['commit'] = async (work) => (await commitNotifying(this.#upkeep, work)).result
    await this.#settle({ db: this.#upkeep.db, commit })
    this.#settledDoubts = doubts
  }

  /**
   * A restored database does not know the leases that other nodes took from it before. They trust their caches
   * until those leases lapse, so a change must wait that long after the restore was noticed.
   */
  async oldLeasesLapsed(): Promise<void> {
    const wait = this.#restoredAt + LEASE_MS - this.#time.now()
    if (wait > 0) await this.#time.sleep(wait)
  }

  async #extendLease(): Promise<void> {
    const { number, token } = this.#feed.position
    const lease_until = this.#upkeep.time(LEASE_MS)
    await this.#upkeep.db
      .insertInto('nodes')
      .values({
        id: this.#id,
        lease_until,
        acknowledged: number,
        token,
        job_kinds: this.#jobKinds,
      })
      .onConflict((row) => row.column('id').doUpdateSet({ lease_until }))
      .execute()
  }

  /** For a change made by this node: if it cannot be applied here, the caches must not be used. */
  async catchUpOrDistrust(): Promise<void> {
    await this.catchUp().catch(() => {
      this.#trustedUntil = 0
      // Whether the database was restored is unknown now.
      this.#restoredAt = this.#time.now()
    })
  }

  /** Only one runs at a time. A notification that arrives meanwhile causes one more round. */
  async catchUp(): Promise<void> {
    while (this.#catchingUp) await this.#catchingUp.catch(() => {})
    this.#catchingUp = this.#readChanges().finally(() => {
      this.#catchingUp = null
    })
    await this.#catchingUp
  }

  async #readPosition(): Promise<Position> {
    const { db } = this.#upkeep
    const { isRestoring, ...position } = await db
      .selectFrom('change_number')
      .select(['number', 'token', hasUnfinishedRestore.as('isRestoring')])
      .executeTakeFirstOrThrow(noRows)
    if (!isRestoring) return position
    this.#doubt()
    throw new DatabaseError('database-unavailable', 'A restore of the control database has not finished.')
  }

  async #readChanges(): Promise<void> {
    const { db } = this.#upkeep
    const current = await this.#readPosition()
    if (!this.#feed.isAt(current)) {
      const rows = await db
        .selectFrom('changes')
        .select(['number', 'token', 'subject', 'subject_id'])
        .where('number', '>=', this.#feed.position.number)
        .where('number', '<=', current.number)
        .orderBy('number')
        .execute()
      if (!this.#feed.apply(rows, current)) {
        this.#restoredAt = this.#time.now()
        this.#doubt()
      }
    }
    const { number, token } = this.#feed.position
    await db
      .updateTable('nodes')
      .set({ acknowledged: number, token })
      .where('id', '=', this.#id)
      .where((row) =>
        row.or([row('acknowledged', '<>', number), row('token', '<>', token), row('token', 'is', null)]),
      )
      .execute()
  }

  /** Opens the LISTEN connection, or checks that it still responds. */
  async #listen(): Promise<void> {
    try {
      this.#listening ??= await this.#openListener()
      await this.#listening.check()
    } catch (error) {
      if (this.#listening) this.#doubt()
      this.#dropListener()
      throw error
    }
  }

  #openListener(): Promise<ChangeListener> {
    return this.#link.openListener({
      onChange: () => {
        this.catchUp().catch(() => {
          this.#trustedUntil = 0
        })
      },
      onMessage: this.#receive,
      // A restore ends the connections first. Whatever lease this node has may be unknown to the new database.
      onLost: () => {
        this.#listening = null
        this.#doubt()
      },
    })
  }

  #dropListener(): void {
    this.#listening?.close()
    this.#listening = null
  }

  async #prune(): Promise<void> {
    const { db } = this.#upkeep
    await sql`delete from changes where at < ${sql.raw(isoText(`now() - interval '${KEEP_CHANGES}'`))}
      and number < (select number from change_number)`.execute(db)
    await sql`delete from nodes where lease_until < ${sql.raw(isoText(`now() - interval '${KEEP_NODES}'`))}`.execute(
      db,
    )
  }
}
