import { lookup } from 'node:dns/promises'
import { isIP, type Socket } from 'node:net'
import { SourceError } from '@wayleave/geodata/compile'
import pg from 'pg'
import { SECOND } from '../../../base/clock.ts'
import { isInternalAddress } from '../../../base/outside/internal-address.ts'
import type { FetchOptions } from './fetch-options.ts'
import { connectionReason, TransientSourceError } from './source-http.ts'

const CONNECT_MS = 20 * SECOND
/** After how long without traffic the system asks whether the other side is still there. */
const KEEP_ALIVE_MS = 30 * SECOND
/** What a database may send besides the rows: the driver keeps a message in memory until it is complete. */
const MAX_ANSWER_BYTES = 16 << 20
const LOOK_EVERY = SECOND / 10

/** A connection to a database that somebody else chose, which may send anything, or nothing. */
export class PostgresConnection {
  readonly client: pg.Client
  /** Rejects when the connection is lost, or ended because of a limit or the signal. */
  readonly lost: Promise<never>
  /** The bytes of rows, which are not kept in memory. */
  copiedBytes = 0
  readonly #fail: (error: unknown) => void
  readonly #signal: AbortSignal
  readonly #timer: NodeJS.Timeout
  readonly #abort = () => this.#end(this.#signal.reason)

  constructor(settings: pg.ClientConfig, signal: AbortSignal) {
    this.client = new pg.Client(settings)
    const { promise, reject } = Promise.withResolvers<never>()
    promise.catch(() => {})
    this.lost = promise
    this.#fail = reject
    this.#signal = signal
    this.client.on('error', reject)
    signal.addEventListener('abort', this.#abort, { once: true })
    this.#timer = setInterval(() => this.#limitAnswers(), LOOK_EVERY)
  }

  /** Does not wait for the server, which may never close its side. */
  close(): void {
    clearInterval(this.#timer)
    this.#signal.removeEventListener('abort', this.#abort)
    this.client.end().catch(() => {})
    this.#socket.destroySoon()
  }

  #limitAnswers(): void {
    // Rows come with a few bytes for each message.
    const allowed = MAX_ANSWER_BYTES + 2 * this.copiedBytes
    if (this.#socket.bytesRead > allowed)
      this.#end(new SourceError('The database sent more than is needed to describe the rows.'))
  }

  #end(error: unknown): void {
    this.#fail(error)
    this.#socket.destroy()
  }

  /** The socket is another one after the encryption has begun. */
  get #socket(): Socket {
    return (this.client as unknown as { connection: { stream: Socket } }).connection.stream
  }
}

/** The host is resolved and checked first, and the connection goes to the address that was checked. */
export async function connectPostgres(
  address: string,
  { credentials, allowInternal, signal }: Pick<FetchOptions, 'credentials' | 'allowInternal' | 'signal'>,
): Promise<PostgresConnection> {
  signal.throwIfAborted()
  const url = new URL(address)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (host === '' || url.searchParams.has('host'))
    throw new SourceError('The address of a database names its host, as in postgres://user@host/database.')
  const ip = allowInternal ? host : await checkedAddress(host)
  const settings = {
    host: ip,
    port: Number(url.port || 5432),
    database: decodeURIComponent(url.pathname.slice(1)) || credentials?.username || 'postgres',
    user: credentials?.username ?? 'postgres',
    // Given as a function, or the driver takes a missing one from PGPASSWORD or a password file: the service's own.
    password: () => credentials?.password ?? '',
    // The same for PGSSLMODE.
    ssl: false,
    application_name: 'wayleave',
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  }
  const mode = url.searchParams.get('sslmode') ?? 'prefer'
  const plain = () => open(settings, signal)
  if (mode === 'disable') return plain()
  const isVerified = mode === 'verify-full' || mode === 'verify-ca'
  const servername = isIP(host) === 0 ? { servername: host } : {}
  const encrypted = open({ ...settings, ssl: { rejectUnauthorized: isVerified, ...servername } }, signal)
  return mode === 'prefer' || mode === 'allow' ? encrypted.catch(ifWithoutSsl(plain)) : encrypted
}

async function open(settings: pg.ClientConfig, signal: AbortSignal): Promise<PostgresConnection> {
  const connection = new PostgresConnection(settings, signal)
  try {
    await Promise.race([connection.client.connect(), connection.lost])
    return connection
  } catch (error) {
    connection.close()
    throw asSourceError(error)
  }
}

/** As libpq does by default: encrypted, unless the server cannot. */
function ifWithoutSsl(plain: () => Promise<PostgresConnection>) {
  return (error: unknown) => {
    if (!/does not support SSL/.test((error as Error).message)) throw error
    return plain()
  }
}

async function checkedAddress(host: string): Promise<string> {
  const addresses =
    isIP(host) === 0 ? (await lookup(host, { all: true })).map(({ address }) => address) : [host]
  if (addresses.some(isInternalAddress))
    throw new SourceError('The address of the database is inside the network of the service.')
  return addresses[0]!
}

/** Classes of errors of PostgreSQL that may be gone soon: connections, resources, stops, conflicts. */
const TRANSIENT = /^(08|53|57|40)/

/** What the database says may be shown to those who gave the query; it does not contain the password. */
export function asSourceError(error: unknown): unknown {
  if (error instanceof SourceError || !(error instanceof Error)) return error
  const { code = '', message } = error as Error & { code?: string }
  if (/^[0-9A-Z]{5}$/.test(code) && !TRANSIENT.test(code))
    return new SourceError(`The database refused: ${message} (${code})`, { cause: error })
  return new TransientSourceError(`The database cannot be read: ${connectionReason(error)}.`, null, {
    cause: error,
  })
}
