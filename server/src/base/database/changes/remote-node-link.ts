import type { PostgresPool, PostgresPoolClient } from 'kysely'
import type { ThreadLink } from '../../threads/thread-link.ts'
import type { ControlDatabase } from '../open.ts'
import { postgresDatabase } from '../postgres-database.ts'
import { fromRemoteError, type RemoteError, toRemoteError } from '../remote-error.ts'
import type { ChangeListener, ListenerEvents, NodeLink } from './node-link.ts'
import type { SharedNodeLink } from './shared-node-link.ts'

/** What a serving thread asks of the first one, which has the connections. */
export type NodeQuestion =
  | { connect: true }
  | { session: number; text: string; values: readonly unknown[] }
  | { listen: number }
  | { check: number }

/** Ends a session. */
export interface NodeRelease {
  session: number
  discard: boolean
}

/** What the first thread tells the listener with this number. */
interface NodeEvent {
  listener: number
  event: 'change' | 'lost' | { message: string }
}

type Outcome = { value: unknown } | { error: RemoteError }

/** Serves one other thread with the connections of the first one. */
export class NodeLinkHost {
  readonly #shared: SharedNodeLink
  readonly #tell: (event: NodeEvent) => void
  readonly #sessions = new Map<number, PostgresPoolClient>()
  readonly #listeners = new Map<number, ChangeListener>()
  #lastSession = 0
  #isClosed = false

  constructor(shared: SharedNodeLink, tell: (event: NodeEvent) => void) {
    this.#shared = shared
    this.#tell = tell
  }

  async answer(question: NodeQuestion): Promise<Outcome> {
    try {
      return { value: await this.#answer(question) }
    } catch (error) {
      return { error: toRemoteError(error) }
    }
  }

  release({ session, discard }: NodeRelease): void {
    this.#sessions.get(session)?.release(discard)
    this.#sessions.delete(session)
  }

  unlisten(listener: number): void {
    this.#listeners.get(listener)?.close()
    this.#listeners.delete(listener)
  }

  /** The other thread has ended. Its connections are discarded, because a transaction may be open on them. */
  close(): void {
    this.#isClosed = true
    for (const session of [...this.#sessions.keys()]) this.release({ session, discard: true })
    for (const listener of [...this.#listeners.keys()]) this.unlisten(listener)
  }

  async #answer(question: NodeQuestion): Promise<unknown> {
    if ('connect' in question) return this.#connect()
    if ('listen' in question) return this.#listen(question.listen)
    if ('check' in question) return this.#listeners.get(question.check)!.check()
    const { command, rowCount, rows } = await this.#sessions
      .get(question.session)!
      .query(question.text, question.values)
    return { command, rowCount, rows }
  }

  async #connect(): Promise<number> {
    const client = await this.#shared.pool.connect()
    const session = ++this.#lastSession
    this.#sessions.set(session, client)
    if (this.#isClosed) this.release({ session, discard: true })
    return session
  }

  async #listen(listener: number): Promise<void> {
    const tell = (event: NodeEvent['event']) => this.#tell({ listener, event })
    const opened = await this.#shared.openListener({
      onChange: () => tell('change'),
      onMessage: (message) => tell({ message }),
      onLost: () => tell('lost'),
    })
    this.#listeners.set(listener, opened)
    if (this.#isClosed) this.unlisten(listener)
  }
}

type First = Pick<ThreadLink, 'ask' | 'tell' | 'on'>

/** The connections of the first thread, for the lease of another one; see docs/decisions/serving-threads.md. */
export function remoteNodeLink(first: First, url: string): NodeLink {
  const ask = async <T>(question: NodeQuestion): Promise<T> => {
    const outcome = await first.ask<Outcome>('node', question)
    if ('error' in outcome) throw fromRemoteError(outcome.error)
    return outcome.value as T
  }
  const listeners = new Map<number, ListenerEvents>()
  let lastListener = 0
  first.on('nodeEvent', ({ listener, event }: NodeEvent) => {
    const events = listeners.get(listener)
    if (event === 'change') events?.onChange()
    else if (event === 'lost') {
      listeners.delete(listener)
      events?.onLost()
    } else events?.onMessage(event.message)
  })
  return {
    openUpkeep: (): ControlDatabase => postgresDatabase(url, new RemotePool(first, ask)),
    async openListener(events) {
      const listener = ++lastListener
      listeners.set(listener, events)
      const close = () => {
        listeners.delete(listener)
        first.tell('nodeUnlisten', listener)
      }
      try {
        await ask({ listen: listener })
      } catch (error) {
        close()
        throw error
      }
      return { check: () => ask<void>({ check: listener }), close }
    },
  }
}

class RemotePool implements PostgresPool {
  readonly options = {}
  readonly #first: First
  readonly #ask: <T>(question: NodeQuestion) => Promise<T>

  constructor(first: First, ask: <T>(question: NodeQuestion) => Promise<T>) {
    this.#first = first
    this.#ask = ask
  }

  async connect(): Promise<PostgresPoolClient> {
    const session = await this.#ask<number>({ connect: true })
    return {
      query: ((text: string, values: readonly unknown[] = []) =>
        this.#ask({ session, text, values })) as unknown as PostgresPoolClient['query'],
      release: (discard) => this.#first.tell('nodeRelease', { session, discard: Boolean(discard) }),
    }
  }

  async end(): Promise<void> {}
}
