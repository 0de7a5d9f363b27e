import type { ControlDatabase } from '../open.ts'
import { postgresDatabase } from '../postgres-database.ts'
import { GuardedPool, type Patience } from '../postgres-pool.ts'
import { type ChangeListener, type ListenerEvents, type NodeLink, postgresLink } from './node-link.ts'

interface SharedConnection {
  listener: Promise<ChangeListener>
  /** The last check, which the next one waits for: the connection runs one statement at a time. */
  checked: Promise<void>
  subscribers: Set<ListenerEvents>
}

/**
 * The connections for the leases of all serving threads of a process, in the first thread. Each thread is a node with
 * a lease of its own; without this, 64 of them would need more connections than PostgreSQL has.
 *
 * See docs/decisions/serving-threads.md.
 */
export class SharedNodeLink implements NodeLink {
  /** For the statements about leases and changes. */
  readonly pool: GuardedPool
  readonly #url: string
  readonly #open: NodeLink['openListener']
  #connection: SharedConnection | null = null

  constructor(
    url: string,
    patience: Patience,
    openListener: NodeLink['openListener'] = postgresLink(url, patience).openListener,
  ) {
    this.pool = new GuardedPool(url, patience)
    this.#url = url
    this.#open = openListener
  }

  /** To be opened once, by the first thread, which closes it when the others have ended. */
  openUpkeep(): ControlDatabase {
    return postgresDatabase(this.#url, this.pool)
  }

  /** One connection for all. If it is lost, or does not respond to one of them, it is lost for all of them. */
  async openListener(events: ListenerEvents): Promise<ChangeListener> {
    this.#connection ??= this.#connect()
    const connection = this.#connection
    connection.subscribers.add(events)
    const listener = await connection.listener
    return {
      check: () => {
        const check = connection.checked.then(() => listener.check())
        connection.checked = check.catch(() => {
          listener.close()
          this.#lose(connection)
        })
        return check
      },
      close: () => {
        if (!connection.subscribers.delete(events) || connection.subscribers.size > 0) return
        listener.close()
        this.#lose(connection)
      },
    }
  }

  #connect(): SharedConnection {
    const subscribers = new Set<ListenerEvents>()
    const listener = this.#open({
      onChange: () => {
        for (const events of subscribers) events.onChange()
      },
      onMessage: (message) => {
        for (const events of subscribers) events.onMessage(message)
      },
      onLost: () => this.#lose(connection),
    })
    const connection: SharedConnection = { listener, subscribers, checked: Promise.resolve() }
    listener.catch(() => {
      // All who wait for it get the error, so none of them has to be told.
      subscribers.clear()
      this.#lose(connection)
    })
    return connection
  }

  #lose(connection: SharedConnection): void {
    if (this.#connection === connection) this.#connection = null
    const subscribers = [...connection.subscribers]
    connection.subscribers.clear()
    for (const events of subscribers) events.onLost()
  }
}
