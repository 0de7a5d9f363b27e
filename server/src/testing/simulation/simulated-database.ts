import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely'
import type { ListenerEvents, NodeLink } from '../../base/database/changes/node-link.ts'
import { DatabaseError } from '../../base/database/database-error.ts'
import type { ControlDatabase } from '../../base/database/open.ts'
import type { Tables } from '../../base/database/schema.ts'
import type { Machine, World } from './world.ts'

/** Where the clock of the database starts. */
const EPOCH = Date.parse('2030-01-01T00:00:00.000Z')
/** How long a node waits for a reply to a statement of a request, and to one about its lease. */
const PATIENCE = 10_000
const UPKEEP_PATIENCE = 2000

/**
 * A SQLite database in the place of a PostgreSQL that several nodes share. Statements travel to it and replies
 * travel back in simulated time, are late, or do not arrive; a statement or a transaction itself is instantaneous.
 */
export class SimulatedDatabase {
  readonly sqlite: DatabaseSync
  /** Whether messages are late now and then. */
  hasDelays = true
  readonly #world: World
  readonly #statements = new Map<string, StatementSync>()
  readonly #links = new Set<Link>()
  readonly #notifications: { channel: string; payload: string }[] = []

  constructor(world: World, file: string) {
    this.#world = world
    this.sqlite = new DatabaseSync(file)
    this.sqlite.exec('pragma synchronous = off; pragma journal_mode = memory')
    const textOf = (milliseconds: number) => new Date(EPOCH + milliseconds).toISOString()
    this.sqlite.function('simulated_time', (plusMs) => textOf(Math.round(world.now + Number(plusMs))))
    this.sqlite.function('pg_notify', (channel, payload) => {
      this.#notifications.push({ channel: String(channel), payload: String(payload) })
      return null
    })
    // No restore is under way.
    this.sqlite.function('to_regclass', (_name) => null)
  }

  /** The connections of a machine to the database. */
  connect(machine: Machine): Link {
    const link = new Link(this, machine)
    this.#links.add(link)
    return link
  }

  close(): void {
    this.sqlite.close()
  }

  run({ sql, parameters }: CompiledQuery): QueryResult<never> {
    const statement = this.#statements.get(sql) ?? this.sqlite.prepare(sql)
    this.#statements.set(sql, statement)
    const values = parameters as SQLInputValue[]
    if (statement.columns().length > 0) return { rows: statement.all(...values) as never[] }
    const { changes, lastInsertRowid } = statement.run(...values)
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) }
  }

  /** After a commit; a rollback discards them. */
  sendNotifications(): void {
    for (const { channel, payload } of this.#notifications.splice(0))
      for (const link of this.#links) link.deliver(channel, payload)
  }

  discardNotifications(): void {
    this.#notifications.length = 0
  }

  /** How long a message takes: mostly some milliseconds, now and then seconds. */
  delay(): number {
    const isLate = this.hasDelays && this.#world.random() < 0.03
    return isLate ? this.#world.between(100, 4000) : this.#world.between(0, 15)
  }
}

/** The network between a machine and the database. */
export class Link implements NodeLink {
  readonly #server: SimulatedDatabase
  readonly #machine: Machine
  readonly #listeners = new Set<ListenerEvents>()
  #cutUntil = 0

  constructor(server: SimulatedDatabase, machine: Machine) {
    this.#server = server
    this.#machine = machine
  }

  /** Nothing passes for a while, and nothing reports it. What was under way is lost. */
  cut(milliseconds: number): void {
    this.#cutUntil = this.#machine.world.now + milliseconds
  }

  /** The connections end, and the machine is told. */
  reset(): void {
    for (const events of this.#listeners) this.#machine.receive(0, () => events.onLost())
    this.#listeners.clear()
  }

  deliver(channel: string, payload: string): void {
    for (const events of this.#listeners) {
      if (this.#isCut) continue
      this.#machine.receive(this.#server.delay(), () => {
        if (!this.#listeners.has(events)) return
        if (channel === 'wayleave_changes') events.onChange()
        else events.onMessage(payload)
      })
    }
  }

  /** Sends something to the database, and resolves when its reply arrives. After the patience it fails, whether or not the work was done. */
  call<T>(work: () => T, patience: number): Promise<T> {
    const { world } = this.#machine
    return new Promise((resolve, reject) => {
      this.#machine.receive(patience, () => reject(new DatabaseError('database-unavailable', 'No reply.')))
      if (this.#isCut) return
      // It arrives even if the machine that has sent it dies or gives up waiting.
      world.after(this.#server.delay(), () => {
        const reply = attempt(work)
        if (!this.#isCut) this.#machine.receive(this.#server.delay(), () => reply(resolve, reject))
      })
    })
  }

  open(patience = PATIENCE): ControlDatabase {
    const db = new Kysely<Tables>({
      dialect: {
        createAdapter: () => new SqliteAdapter(),
        createDriver: () => new SimulatedDriver(this.#server, this, patience),
        createIntrospector: (db) => new SqliteIntrospector(db),
        createQueryCompiler: () => new CompilerWithoutLocks(),
      },
    })
    return {
      db,
      kind: 'postgres',
      sqlite: null,
      file: null,
      url: null,
      forUpdate: (query) => query,
      lockName: async () => {},
      time: (plusMs = 0) => sql<string>`simulated_time(${plusMs})`,
      refuse: () => {},
      hold: () => {},
      checkServers: () => {},
      pending: () => 0,
      close: async () => {},
    }
  }

  openUpkeep(): ControlDatabase {
    return this.open(UPKEEP_PATIENCE)
  }

  async openListener(events: ListenerEvents) {
    const check = () =>
      this.call(() => {
        if (!this.#listeners.has(events)) throw new DatabaseError('database-unavailable', 'It has ended.')
      }, UPKEEP_PATIENCE)
    await this.call(() => this.#listeners.add(events), UPKEEP_PATIENCE)
    return { check, close: () => void this.#listeners.delete(events) }
  }

  get #isCut(): boolean {
    return this.#machine.world.now < this.#cutUntil
  }
}

/** Runs something, and returns how to settle a promise with its outcome. */
function attempt<T>(work: () => T) {
  try {
    const value = work()
    return (resolve: (value: T) => void, _reject: (error: unknown) => void) => resolve(value)
  } catch (error) {
    return (_resolve: (value: T) => void, reject: (error: unknown) => void) => reject(error)
  }
}

/** SQLite has one writer at a time, and no locks of rows. */
class CompilerWithoutLocks extends SqliteQueryCompiler {
  protected override visitSelectModifier(): void {}
}

class SimulatedDriver implements Driver {
  readonly #server: SimulatedDatabase
  readonly #link: Link
  readonly #patience: number

  constructor(server: SimulatedDatabase, link: Link, patience: number) {
    this.#server = server
    this.#link = link
    this.#patience = patience
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<SimulatedConnection> {
    return new SimulatedConnection(this.#server, this.#link, this.#patience)
  }

  /** The transaction begins when the request arrives; its statements and its end follow without a delay. */
  async beginTransaction(connection: SimulatedConnection): Promise<void> {
    await this.#link.call(() => {}, this.#patience)
    this.#server.sqlite.exec('begin')
    connection.isInTransaction = true
  }

  async commitTransaction(connection: SimulatedConnection): Promise<void> {
    connection.isInTransaction = false
    this.#server.sqlite.exec('commit')
    this.#server.sendNotifications()
    await this.#link.call(() => {}, this.#patience)
  }

  async rollbackTransaction(connection: SimulatedConnection): Promise<void> {
    // A commit whose reply did not arrive is not undone.
    if (!connection.isInTransaction) return
    connection.isInTransaction = false
    this.#server.sqlite.exec('rollback')
    this.#server.discardNotifications()
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {}
}

class SimulatedConnection implements DatabaseConnection {
  isInTransaction = false
  readonly #server: SimulatedDatabase
  readonly #link: Link
  readonly #patience: number

  constructor(server: SimulatedDatabase, link: Link, patience: number) {
    this.#server = server
    this.#link = link
    this.#patience = patience
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const work = () => {
      const result = this.#server.run(query)
      if (!this.isInTransaction) this.#server.sendNotifications()
      return result
    }
    return this.isInTransaction ? work() : this.#link.call(work, this.#patience)
  }

  // biome-ignore lint/correctness/useYield: nothing of the simulation streams.
  async *streamQuery(): AsyncGenerator<never> {
    throw new Error('Not simulated.')
  }
}
