import { setTimeout as sleep } from 'node:timers/promises'
import type { JobKind } from '@wayleave/contract/job-states'
import { sql } from 'kysely'
import pg from 'pg'
import { SECOND } from '../../clock.ts'
import { DatabaseError, fromPostgres } from '../database-error.ts'
import { type ControlDatabase, openPostgres } from '../open.ts'
import { clientOptions } from '../postgres-pool.ts'
import { ChangeFeed, type Changes, commitNumbered, type Position } from './changes.ts'

const LEASE_MS = 2000
const RENEW_MS = 500
/** The lease is counted from before the renewal was sent, minus a margin for late timers. */
const TRUST_MS = LEASE_MS - 250
/** The node's own maintenance connections time out after one lease: by then it has expired anyway. */
const UPKEEP = { connections: 2, connectTimeout: LEASE_MS, queryTimeout: LEASE_MS }
/** Number of failed renewals in a row before requests are refused without trying (circuit breaker). */
const REFUSE_AFTER = 2
/** How long a change waits for the other nodes. Leases last two seconds, so a longer wait means a fault. */
const ACKNOWLEDGE_WITHIN = 20 * SECOND
const KEEP_CHANGES = '1 day'
const KEEP_NODES = '1 hour'
const PRUNE_ROUNDS = 1000
const CHANNEL = 'wayleave_changes'
const MESSAGE_CHANNEL = 'wayleave_messages'

export interface NodeOptions {
  nodeId: string
  /** False for the command line, which makes changes and caches nothing. */
  serving: boolean
  /** The kinds of jobs that this process runs. */
  jobKinds?: readonly JobKind[]
}

/**
 * On PostgreSQL every serving node holds a lease of two seconds and acknowledges the changes it has applied.
 * A change waits for the acknowledgement of each node whose lease is valid. The lease of a disconnected node
 * expires on the database's clock; before that, the node stops trusting its caches, on its own clock.
 */
export async function openPostgresChanges(
  database: ControlDatabase,
  { nodeId, serving, jobKinds = [] }: NodeOptions,
): Promise<Changes> {
  const feed = new ChangeFeed()
  const messageListeners: ((message: string) => void)[] = []
  const receive = (message: string) => {
    for (const listener of messageListeners) listener(message)
  }
  const node = serving ? new ServingNode(database, { nodeId, feed, jobKinds, receive }) : null
  await node?.start()

  return {
    async commit(work) {
      const { result, position } = await commitNumbered(database, work, async (tx, changeNumber) => {
        await sql`select pg_notify(${CHANNEL}, ${String(changeNumber)})`.execute(tx)
      })
      if (position !== null) {
        await node?.catchUpOrDistrust()
        await node?.oldLeasesLapsed()
        await acknowledgedByAll(database, position)
      }
      return result
    },
    trusted: () => node?.trusted() ?? false,
    async appliedEverywhere() {
      await node?.catchUpOrDistrust()
      if (feed.position.number > 0) await acknowledgedByAll(database, feed.position)
    },
    get applied() {
      return feed.applied
    },
    listen: (listener) => feed.listen(listener),
    async sendMessage(message) {
      await sql`select pg_notify(${MESSAGE_CHANNEL}, ${message})`.execute(database.db)
    },
    onMessage: (listener) => void messageListeners.push(listener),
    close: async () => node?.stop(),
  }
}

/**
 * A node has acknowledged the change if it acknowledged this number or a later one of the same history. A
 * number from before a restore has a different token, and does not count. Nodes that have no tokens yet,
 * during an upgrade, are compared by number alone.
 */
async function acknowledgedByAll({ db }: ControlDatabase, { number, token }: Position): Promise<void> {
  const deadline = performance.now() + ACKNOWLEDGE_WITHIN
  for (let wait = 2; ; wait = Math.min(wait * 2, 50)) {
    const { rows } = await sql<{ exists: boolean; behind: string | null }>`select
      exists (select 1 from changes where number = ${number} and token = ${token}) as exists,
      (select id from nodes where lease_until > ${databaseTime(0)}
        and (acknowledged < ${number} or (token is not null and not exists (
          select 1 from changes where changes.number = nodes.acknowledged and changes.token = nodes.token)))
        limit 1) as behind`.execute(db)
    if (!rows[0]!.exists)
      throw new DatabaseError('database-unavailable', 'The database was restored, and has lost the change.')
    if (rows[0]!.behind === null) return
    if (performance.now() > deadline)
      throw new DatabaseError('database-unavailable', `The change is saved, and a node has not applied it.`)
    await sleep(wait)
  }
}

interface ServingNodeOptions {
  nodeId: string
  feed: ChangeFeed
  jobKinds: readonly JobKind[]
  receive: (message: string) => void
}

class ServingNode {
  readonly #database: ControlDatabase
  /** A separate pool with short timeouts, whose connections requests cannot exhaust. */
  readonly #upkeep: ControlDatabase
  readonly #id: string
  readonly #feed: ChangeFeed
  readonly #jobKinds: string | null
  readonly #receive: (message: string) => void
  readonly #stopped = new AbortController()
  #listening: pg.Client | null = null
  /** Counts the listening connections that broke. */
  #losses = 0
  /** When this node last found that the database's history is not the one it knew, by `performance.now()`. */
  #restoredAt = Number.NEGATIVE_INFINITY
  #trustedUntil = 0
  #catchingUp: Promise<void> | null = null
  #loop: Promise<void> = Promise.resolve()

  constructor(database: ControlDatabase, { nodeId, feed, jobKinds, receive }: ServingNodeOptions) {
    this.#database = database
    this.#upkeep = openPostgres(database.url!, UPKEEP)
    this.#id = nodeId
    this.#feed = feed
    this.#jobKinds = jobKinds.length > 0 ? jobKinds.join() : null
    this.#receive = receive
  }

  trusted(): boolean {
    return performance.now() < this.#trustedUntil
  }

  async start(): Promise<void> {
    try {
      this.#feed.position = await this.#readPosition()
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
      await sleep(RENEW_MS, undefined, { signal: this.#stopped.signal }).catch(() => {})
      if (this.#stopped.signal.aborted) return
      // If the database does not respond, the lease is not renewed, and so the trust in the caches ends.
      const error = await this.#renew().then(
        () => null,
        (cause: unknown) => cause,
      )
      failures = error === null ? 0 : failures + 1
      const isUnavailable = error instanceof DatabaseError && error.failure === 'database-unavailable'
      if (error === null) this.#database.refuse(null)
      else if (isUnavailable && failures >= REFUSE_AFTER) this.#database.refuse(error)
      if (round % PRUNE_ROUNDS === 0) await this.#prune().catch(() => {})
    }
  }

  /** First the lease, then the changes: from the lease on, writers wait for this node's acknowledgement. */
  async #renew(): Promise<void> {
    const began = performance.now()
    const losses = this.#losses
    await Promise.all([this.#listen(), this.#extendLease()])
    await this.catchUp()
    if (losses === this.#losses) this.#trustedUntil = began + TRUST_MS
  }

  /**
   * A restored database does not know the leases that other nodes took from it before. They trust their caches
   * until those leases lapse, so a change must wait that long after the restore was noticed.
   */
  async oldLeasesLapsed(): Promise<void> {
    const wait = this.#restoredAt + LEASE_MS - performance.now()
    if (wait > 0) await sleep(wait)
  }

  async #extendLease(): Promise<void> {
    const { number, token } = this.#feed.position
    await this.#upkeep.db
      .insertInto('nodes')
      .values({
        id: this.#id,
        lease_until: databaseTime(LEASE_MS),
        acknowledged: number,
        token,
        job_kinds: this.#jobKinds,
      })
      .onConflict((row) => row.column('id').doUpdateSet({ lease_until: databaseTime(LEASE_MS) }))
      .execute()
  }

  /** For a change made by this node: if it cannot be applied here, the caches must not be used. */
  async catchUpOrDistrust(): Promise<void> {
    await this.catchUp().catch(() => {
      this.#trustedUntil = 0
      // Whether the database was restored is unknown now.
      this.#restoredAt = performance.now()
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
    return db.selectFrom('change_number').select(['number', 'token']).executeTakeFirstOrThrow()
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
      if (!this.#feed.apply(rows, current)) this.#restoredAt = performance.now()
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

  /** Opens the LISTEN connection, or checks that it still responds: a frozen link raises no error. */
  async #listen(): Promise<void> {
    try {
      this.#listening ??= await this.#openListener()
      await this.#listening.query('select 1')
    } catch (error) {
      this.#dropListener()
      throw fromPostgres(error)
    }
  }

  async #openListener(): Promise<pg.Client> {
    const client = new pg.Client(clientOptions(this.#database.url!, UPKEEP))
    // A restore ends the connections first. Whatever lease this node has may be unknown to the new database.
    const lost = () => {
      if (this.#listening !== client) return
      this.#listening = null
      this.#losses++
      this.#trustedUntil = 0
    }
    client.on('error', lost)
    client.on('end', lost)
    client.on('notification', ({ channel, payload = '' }) => {
      if (channel === MESSAGE_CHANNEL) {
        this.#receive(payload)
        return
      }
      this.catchUp().catch(() => {
        this.#trustedUntil = 0
      })
    })
    try {
      await client.connect()
      await client.query(`listen ${CHANNEL}`)
      await client.query(`listen ${MESSAGE_CHANNEL}`)
    } catch (error) {
      client.end().catch(() => {})
      throw error
    }
    return client
  }

  /** Does not wait: on a frozen link, closing the connection is never acknowledged. */
  #dropListener(): void {
    this.#listening?.end().catch(() => {})
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

function isoText(expression: string): string {
  return `to_char((${expression}) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

/** The database's clock, because leases are compared across many machines. */
export function databaseTime(plusMs: number) {
  return sql<string>`${sql.raw(isoText(`clock_timestamp() + interval '${plusMs} milliseconds'`))}`
}
