import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { ChangeFeed, type Changes, commitNumbered } from './changes.ts'
import type { ControlDatabase } from './open.ts'

const LEASE_MS = 2000
const RENEW_MS = 500
/** A lease counts from before the request that renewed it was sent, less a margin for timers that run late. */
const TRUST_MS = LEASE_MS - 250
const KEEP_CHANGES = '1 day'
const CHANNEL = 'wayleave_changes'

/**
 * On PostgreSQL every serving node holds a lease of two seconds and acknowledges the changes it has applied.
 * A change waits for the acknowledgement of each node whose lease runs. A node that is cut off loses its
 * lease on the database's clock, and stops trusting its caches, on its own clock, before that.
 */
export async function openPostgresChanges(
  database: ControlDatabase,
  { nodeId, serving }: { nodeId: string; serving: boolean },
): Promise<Changes> {
  const feed = new ChangeFeed()
  const node = serving ? new ServingNode(database, nodeId, feed) : null
  await node?.start()

  return {
    async commit(work) {
      const { result, number } = await commitNumbered(database, work, async (tx, changeNumber) => {
        await sql`select pg_notify(${CHANNEL}, ${String(changeNumber)})`.execute(tx)
      })
      if (number !== null) {
        await node?.catchUp()
        await acknowledgedByAll(database, number)
      }
      return result
    },
    trusted: () => node?.trusted() ?? false,
    get applied() {
      return feed.applied
    },
    listen: (listener) => feed.listen(listener),
    close: async () => node?.stop(),
  }
}

/** Leases run out by themselves, so this ends after two seconds whatever becomes of the other nodes. */
async function acknowledgedByAll({ db }: ControlDatabase, number: number): Promise<void> {
  for (let wait = 2; ; wait = Math.min(wait * 2, 50)) {
    const behind = await db
      .selectFrom('nodes')
      .select('id')
      .where('acknowledged', '<', number)
      .where('lease_until', '>', databaseTime(0))
      .executeTakeFirst()
    if (!behind) return
    await sleep(wait)
  }
}

class ServingNode {
  readonly #database: ControlDatabase
  readonly #id: string
  readonly #feed: ChangeFeed
  readonly #stopped = new AbortController()
  #listening: pg.Client | null = null
  #trustedUntil = 0
  #catchingUp: Promise<void> | null = null
  #loop: Promise<void> = Promise.resolve()

  constructor(database: ControlDatabase, id: string, feed: ChangeFeed) {
    this.#database = database
    this.#id = id
    this.#feed = feed
  }

  trusted(): boolean {
    return performance.now() < this.#trustedUntil
  }

  async start(): Promise<void> {
    const { number } = await this.#database.db
      .selectFrom('change_number')
      .select('number')
      .executeTakeFirstOrThrow()
    this.#feed.last = number
    await this.#renew()
    this.#loop = this.#run()
  }

  async stop(): Promise<void> {
    this.#trustedUntil = 0
    this.#stopped.abort()
    await this.#loop
    await this.#listening?.end().catch(() => {})
    // Only a courtesy that spares writers the wait for the lease: a database that is gone needs none.
    await this.#database.db
      .deleteFrom('nodes')
      .where('id', '=', this.#id)
      .execute()
      .catch(() => {})
  }

  async #run(): Promise<void> {
    let rounds = 0
    while (!this.#stopped.signal.aborted) {
      await sleep(RENEW_MS, undefined, { signal: this.#stopped.signal }).catch(() => {})
      if (this.#stopped.signal.aborted) return
      // A database that does not answer ends the trust by itself: the lease simply is not renewed.
      await this.#renew().catch(() => {})
      if (++rounds % 1000 === 0) await this.#prune().catch(() => {})
    }
  }

  /** The lease first, then the changes: from the lease on, writers wait for this node's acknowledgement. */
  async #renew(): Promise<void> {
    const began = performance.now()
    await this.#listen()
    const { db } = this.#database
    await db
      .insertInto('nodes')
      .values({ id: this.#id, lease_until: databaseTime(LEASE_MS), acknowledged: this.#feed.last })
      .onConflict((row) => row.column('id').doUpdateSet({ lease_until: databaseTime(LEASE_MS) }))
      .execute()
    await this.catchUp()
    this.#trustedUntil = began + TRUST_MS
  }

  /** One at a time; a notification that arrives meanwhile is answered by one more round. */
  async catchUp(): Promise<void> {
    while (this.#catchingUp) await this.#catchingUp
    this.#catchingUp = this.#readChanges().finally(() => {
      this.#catchingUp = null
    })
    await this.#catchingUp
  }

  async #readChanges(): Promise<void> {
    const { db } = this.#database
    const { number } = await db.selectFrom('change_number').select('number').executeTakeFirstOrThrow()
    if (number > this.#feed.last) {
      const rows = await db
        .selectFrom('changes')
        .select(['number', 'subject', 'subject_id'])
        .where('number', '>', this.#feed.last)
        .where('number', '<=', number)
        .orderBy('number')
        .execute()
      this.#feed.apply(rows, number)
    }
    await db
      .updateTable('nodes')
      .set({ acknowledged: this.#feed.last })
      .where('id', '=', this.#id)
      .where('acknowledged', '<', this.#feed.last)
      .execute()
  }

  async #listen(): Promise<void> {
    if (this.#listening) return
    const client = new pg.Client({ connectionString: this.#database.url!, connectionTimeoutMillis: LEASE_MS })
    const lost = () => {
      if (this.#listening === client) this.#listening = null
    }
    client.on('error', lost)
    client.on('end', lost)
    client.on('notification', () => {
      this.catchUp().catch(() => {
        this.#trustedUntil = 0
      })
    })
    try {
      await client.connect()
      await client.query(`listen ${CHANNEL}`)
    } catch (error) {
      await client.end().catch(() => {})
      throw error
    }
    this.#listening = client
  }

  async #prune(): Promise<void> {
    const { db } = this.#database
    await sql`delete from changes where at < ${sql.raw(isoText(`now() - interval '${KEEP_CHANGES}'`))}`.execute(
      db,
    )
    await sql`delete from nodes where lease_until < ${sql.raw(isoText(`now() - interval '1 hour'`))}`.execute(
      db,
    )
  }
}

function isoText(expression: string): string {
  return `to_char((${expression}) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

/** By the database's clock, for leases are compared by many machines. */
export function databaseTime(plusMs: number) {
  return sql<string>`${sql.raw(isoText(`clock_timestamp() + interval '${plusMs} milliseconds'`))}`
}
