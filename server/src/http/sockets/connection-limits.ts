import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import { Problem } from '../../base/problem.ts'
import { addressBucket } from '../addresses.ts'
import type { TrustedProxies } from '../caller.ts'
import type { Links } from '../send-problem.ts'
import { connectionsWithin } from './descriptor-limit.ts'
import { responseOn } from './node-internals.ts'
import { rawProblem } from './reject-unparsed.ts'
import type { SharedConnections } from './shared-connections.ts'

/** The default. Each idle connection takes some ten kilobytes of memory. */
const DEFAULT_MAX = 10_000
/** By default, one network address may have this fraction of all connections. */
const DEFAULT_ADDRESS_PART = 1 / 4
const WARN_EVERY_MS = 10_000

export interface MaxConnections {
  total: number
  perAddress: number
}

export interface ConnectionSettings {
  maxConnections: number | null
  maxConnectionsPerAddress: number | null
}

/** `descriptors` is the max number of open files and sockets of the process; null if unknown. */
export function maxConnections(settings: ConnectionSettings, descriptors: number | null): MaxConnections {
  const fitting = descriptors === null ? Number.POSITIVE_INFINITY : connectionsWithin(descriptors)
  const total = Math.min(settings.maxConnections ?? DEFAULT_MAX, fitting)
  const perAddress =
    settings.maxConnectionsPerAddress ?? Math.max(1, Math.floor(total * DEFAULT_ADDRESS_PART))
  return { total, perAddress: Math.min(perAddress, total) }
}

export type Refusal = 'total' | 'address'

/**
 * Limits the number of open connections, in total and per network address, so that clients that connect and
 * stay idle cannot exhaust the file descriptors that files and databases need. Connections beyond a limit are
 * closed at once. Trusted proxies only count in the total: many clients share them.
 */
export class ConnectionLimits {
  readonly refusals: Record<Refusal, number> = { total: 0, address: 0 }
  readonly max: MaxConnections
  readonly #proxies: TrustedProxies
  readonly #log: Logger
  readonly #links: Links
  /** Null in a process with one serving thread. */
  readonly #shared: SharedConnections | null
  readonly #byAddress = new Map<string, number>()
  readonly #sockets = new Set<Socket>()
  #warnedAt = Number.NEGATIVE_INFINITY

  constructor(
    max: MaxConnections,
    proxies: TrustedProxies,
    log: Logger,
    links: Links,
    shared: SharedConnections | null = null,
  ) {
    this.max = max
    this.#shared = shared
    this.#links = links
    this.#proxies = proxies
    this.#log = log
  }

  get open(): number {
    return this.#sockets.size
  }

  /**
   * Makes responses whose head is not sent yet close their connection: a client that reuses a connection
   * which the server is about to close loses its request. Node exposes the response of a socket only in a
   * private field; if that is missing, such connections are closed when they are idle.
   */
  closeAfterResponses(): void {
    for (const socket of this.#sockets) {
      const response = responseOn(socket)
      if (response && !response.headersSent) response.setHeader('connection', 'close')
    }
  }

  /** Must be called before other `connection` listeners are added: they see admitted connections only. */
  guard(server: Server): void {
    server.maxConnections = this.max.total
    server.on('drop', () => this.#refuse('total'))
    const listeners = server.listeners('connection') as ((socket: Socket) => void)[]
    server.removeAllListeners('connection')
    server.on('connection', (socket) => {
      if (!this.#admit(socket)) return
      for (const listener of listeners) listener.call(server, socket)
    })
  }

  #admit(socket: Socket): boolean {
    const address = socket.remoteAddress
    const bucket = address === undefined || this.#proxies.has(address) ? null : addressBucket(address)
    const count = bucket === null ? 0 : (this.#byAddress.get(bucket) ?? 0)
    // Node itself closes connections beyond the total of this thread.
    if (this.#shared && this.#shared.total() >= this.max.total) {
      this.#refuse('total')
      socket.destroy()
      return false
    }
    const countOfAll = bucket !== null && this.#shared ? this.#shared.of(bucket) : count
    if (countOfAll >= this.max.perAddress) {
      this.#refuse('address')
      // Written to the empty send buffer of a new socket, so it does not block; the client need not read it.
      socket.on('error', () => {})
      socket.end(rawProblem(TOO_MANY, this.#links, null), () => socket.destroy())
      return false
    }
    this.#sockets.add(socket)
    if (bucket !== null) this.#byAddress.set(bucket, count + 1)
    this.#shared?.add(bucket, 1)
    socket.once('close', () => {
      this.#sockets.delete(socket)
      this.#shared?.add(bucket, -1)
      if (bucket !== null) this.#release(bucket)
    })
    return true
  }

  #release(bucket: string): void {
    const count = this.#byAddress.get(bucket)! - 1
    if (count === 0) this.#byAddress.delete(bucket)
    else this.#byAddress.set(bucket, count)
  }

  #refuse(reason: Refusal): void {
    this.refusals[reason]++
    const now = performance.now()
    if (now - this.#warnedAt < WARN_EVERY_MS) return
    this.#warnedAt = now
    this.#log.warn(
      { reason, open: this.open, max: this.max },
      'Too many connections are open: new ones are closed at once.',
    )
  }
}

const TOO_MANY = new Problem(
  'overloaded',
  'Too many connections are open from this network address. Close some and try again.',
  { headers: { 'retry-after': '10' } },
)
