import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely'
import pg from 'pg'
import { SECOND } from '../clock.ts'
import { withinTime } from '../concurrency/within-time.ts'
import { breaksConnection, DatabaseError, fromPostgres } from './database-error.ts'

/** TCP keepalive detects a peer that vanished while a connection is idle; the system default is two hours. */
export const KEEPALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10 * SECOND }

export interface Patience {
  /** Max open connections. */
  connections: number
  /** Max time to wait for a connection, in milliseconds. */
  connectTimeout: number
  /** Max time to wait for a result, in milliseconds. The server cancels the statement a little earlier. */
  queryTimeout: number
}

/** Whether the server of a new connection holds the history that this process knows. */
export type ServerCheck = (client: Pick<pg.PoolClient, 'query'>) => Promise<boolean>

/** Options shared by all PostgreSQL clients, including the one that listens. */
export function clientOptions(url: string, { connectTimeout, queryTimeout }: Omit<Patience, 'connections'>) {
  return {
    connectionString: url,
    connectionTimeoutMillis: connectTimeout,
    // The server cannot notify a client of a dead link, so the client needs its own timeout.
    query_timeout: queryTimeout,
    statement_timeout: Math.max(Math.round(queryTimeout * 0.9), 1),
    // Nor can the server know that a client is gone in the middle of a transaction, whose locks it keeps.
    idle_in_transaction_session_timeout: queryTimeout,
    ...KEEPALIVE,
  }
}

/**
 * A pool whose connections time out on the client side and are discarded once they have failed, so that a
 * frozen link costs each connection one timeout. After `hold()` or `refuse(error)`, no connection is handed out.
 */
export class GuardedPool implements PostgresPool {
  /** Required by Kysely's interface; only used to cancel queries, which we do not do. */
  readonly options = {}
  readonly #url: string
  readonly #patience: Patience
  #pool: pg.Pool
  #refusal: DatabaseError | null = null
  /** Resolves when the pool is no longer held; null if it is not held. */
  #held: PromiseWithResolvers<void> | null = null
  #isKnown: ServerCheck | null = null
  #checked = new WeakSet<pg.PoolClient>()

  constructor(url: string, patience: Patience) {
    this.#url = url
    this.#patience = patience
    this.#pool = openPool(url, patience)
  }

  /** Statements that wait for a connection. */
  get waiting(): number {
    return this.#pool.waitingCount
  }

  /** Circuit breaker: given an error, `connect` fails at once instead of after a timeout; null resets it. */
  refuse(error: DatabaseError | null): void {
    if (error && !this.#refusal) this.#replace(this.#pool)
    this.#refusal = error
    this.#held?.resolve()
    this.#held = null
  }

  /** `connect` waits until the next call of `refuse`, at most as long as for a connection. */
  hold(): void {
    if (!this.#refusal) this.#held ??= Promise.withResolvers()
  }

  /** If one connection is dead, the others in its pool probably are too, and each would cost a timeout. */
  #replace(pool: pg.Pool): void {
    if (pool !== this.#pool || pool.ending) return
    this.#pool = openPool(this.#url, this.#patience)
    pool.end().catch(() => {})
  }

  /** From now on, a new connection is used only if the check accepts its server. It may call `hold` meanwhile. */
  checkServers(isKnown: ServerCheck): void {
    this.#isKnown = isKnown
    this.#checked = new WeakSet()
  }

  async connect(): Promise<PostgresPoolClient> {
    await this.#admitted()
    const pool = this.#pool
    const client = await pool.connect().catch((error: unknown) => {
      throw fromPostgres(error)
    })
    const guarded = guard(client, () => this.#replace(pool))
    try {
      await this.#check(client)
    } catch (error) {
      client.release(true)
      throw fromPostgres(error)
    }
    return guarded
  }

  /** A second attempt, because the check may have made the server known. */
  async #check(client: pg.PoolClient): Promise<void> {
    for (let attempt = 1; this.#isKnown && !this.#checked.has(client); attempt++) {
      if (await this.#isKnown(client)) this.#checked.add(client)
      else if (attempt === 2)
        throw new DatabaseError('database-unavailable', 'PostgreSQL is in an older state than before.')
      await this.#admitted()
    }
  }

  async #admitted(): Promise<void> {
    while (this.#held) await this.#released(this.#held.promise)
    if (this.#refusal) throw this.#refusal
  }

  async #released(held: Promise<void>): Promise<void> {
    await withinTime(this.#patience.connectTimeout, held).catch((error: unknown) => {
      throw new DatabaseError('database-unavailable', 'The database was not confirmed in time.', error)
    })
  }

  async end(): Promise<void> {
    this.refuse(null)
    await this.#pool.end()
  }
}

function openPool(url: string, patience: Patience): pg.Pool {
  // Parse bigint as a JavaScript number, as on SQLite: all our counts and ids stay far below 2^53.
  const types = {
    getTypeParser: (oid: number, format?: 'text' | 'binary') =>
      oid === 20 ? Number : pg.types.getTypeParser(oid, format),
  }
  const pool = new pg.Pool({
    ...clientOptions(url, patience),
    max: patience.connections,
    types: types as pg.CustomTypesConfig,
  })
  // A broken connection is replaced at the next use, and its query fails anyway. Without a listener, the
  // error event would crash the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

const ROLLED_BACK: PostgresQueryResult<never> = { command: 'ROLLBACK', rowCount: 0, rows: [] }

/** The driver's error if a result does not arrive in time. A reachable server cancels earlier. */
const NO_RESULT = 'Query read timeout'

function guard(client: pg.PoolClient, onNoResult: () => void): PostgresPoolClient {
  let broken = false
  const query = async (text: string, values: readonly unknown[] = []) => {
    // A lost connection has no transaction any more. Failing here would hide the reason for the loss.
    if (broken && text === 'rollback') return ROLLED_BACK
    if (broken) throw new DatabaseError('database-unavailable', 'The connection to PostgreSQL is lost.')
    try {
      return await client.query(text, values as unknown[])
    } catch (cause) {
      const error = fromPostgres(cause)
      broken ||= breaksConnection(error)
      if ((cause as Error).message === NO_RESULT) onNoResult()
      throw error
    }
  }
  return {
    query: query as unknown as PostgresPoolClient['query'],
    release: (discard) => client.release(broken || Boolean(discard)),
  }
}
