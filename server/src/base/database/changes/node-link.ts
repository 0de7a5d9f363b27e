import { sql } from 'kysely'
import pg from 'pg'
import { fromPostgres } from '../database-error.ts'
import type { ControlDatabase } from '../open.ts'
import { openPostgres } from '../open-postgres.ts'
import { clientOptions, type Patience } from '../postgres-pool.ts'

const CHANNEL = 'wayleave_changes'
const MESSAGE_CHANNEL = 'wayleave_messages'

export const notifyOfChange = (changeNumber: number) =>
  sql`select pg_notify(${CHANNEL}, ${String(changeNumber)})`

export const notifyOfMessage = (message: string) => sql`select pg_notify(${MESSAGE_CHANNEL}, ${message})`

/** The connections to the database that a node keeps for its lease. Simulations replace them. */
export interface NodeLink {
  /** A separate pool with short timeouts, whose connections requests cannot exhaust. */
  openUpkeep(): ControlDatabase
  openListener(events: ListenerEvents): Promise<ChangeListener>
}

export interface ListenerEvents {
  onChange(): void
  onMessage(message: string): void
  /** The connection has ended, unless by `close`. */
  onLost(): void
}

/** A connection that is notified of changes and messages. */
export interface ChangeListener {
  /** Fails if the connection does not respond: a frozen link raises no error. */
  check(): Promise<void>
  /** Does not wait: on a frozen link, closing the connection is never acknowledged. */
  close(): void
}

export function postgresLink(url: string, patience: Patience): NodeLink {
  return {
    openUpkeep: () => openPostgres(url, patience),
    async openListener({ onChange, onMessage, onLost }) {
      const client = new pg.Client(clientOptions(url, patience))
      let isOpen = false
      const lose = () => {
        if (isOpen) onLost()
        isOpen = false
      }
      client.on('error', lose)
      client.on('end', lose)
      client.on('notification', ({ channel, payload = '' }) => {
        if (channel === MESSAGE_CHANNEL) onMessage(payload)
        else onChange()
      })
      const close = () => {
        isOpen = false
        client.end().catch(() => {})
      }
      try {
        await client.connect()
        await client.query(`listen ${CHANNEL}`)
        await client.query(`listen ${MESSAGE_CHANNEL}`)
      } catch (error) {
        close()
        throw fromPostgres(error)
      }
      isOpen = true
      return {
        check: async () => {
          await client.query('select 1').catch((error: unknown) => {
            throw fromPostgres(error)
          })
        },
        close,
      }
    },
  }
}
