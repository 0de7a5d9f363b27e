import type { IncomingMessage } from 'node:http'
import { addressBucket } from '../addresses.ts'
import type { TrustedProxies } from '../caller.ts'

/** How long requests are begun in each of the two phases of an iteration of the event loop, in ms. */
const PHASE_MS = 2
/** Max waiting requests that are begun in one iteration; most are cheap. */
const MAX_STARTS = 64

/** Who sent a request. It takes turns with others by network address, and within an address by credentials. */
export interface Sender {
  address: string
  credentials: string
}

/** The sender of a request. Credentials are not verified: a wrong key has only a turn of its own address. */
export function senderOf(request: IncomingMessage, proxies: Pick<TrustedProxies, 'callerOf'>): Sender {
  return senderAt(proxies.callerOf(request).address, request.headers)
}

/** The sender of a request from an address. */
export function senderAt(
  address: string,
  { 'x-api-key': key, authorization }: IncomingMessage['headers'],
): Sender {
  return {
    address: addressBucket(address),
    credentials: typeof key === 'string' ? key : (authorization ?? ''),
  }
}

/**
 * Begins requests in turns. In one iteration, Node begins every request that has arrived, whatever it costs: with
 * 32 connections that each have a request of 15 ms under way, one iteration takes half a second. A request that
 * needs several iterations (a new connection, a read from disk, a thread that compresses) waits for all of them
 * again each time. So an iteration begins requests for 2 ms, and the rest wait: then senders take turns, and
 * an iteration lasts little longer than one expensive request.
 *
 * See docs/decisions/requests-in-turn.md.
 */
export class RequestTurns {
  /** Senders in the order of their turns: by address, then by credentials. */
  readonly #waiting = new Map<string, Map<string, (() => void)[]>>()
  readonly #now: () => number
  #count = 0
  /** When this phase began. */
  #began = 0
  #isOpen = false
  /** The number of immediates that will each begin a waiting request. */
  #starts = 0

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** The number of requests that wait. */
  get count(): number {
    return this.#count
  }

  /** Calls `begin` at once if there is time in this iteration and nobody waits, otherwise in the sender's turn. */
  take(sender: () => Sender, begin: () => void): void {
    const now = this.#now()
    if (!this.#isOpen) {
      this.#began = now
      this.#open()
    }
    if (this.#count === 0 && now - this.#began < PHASE_MS) begin()
    else this.#wait(sender(), begin)
  }

  /** Immediates run after the phase in which requests arrive. The first of them begins the phase of those that wait. */
  #open(): void {
    this.#isOpen = true
    setImmediate(() => {
      this.#isOpen = false
      this.#began = this.#now()
    })
  }

  #wait({ address, credentials }: Sender, begin: () => void): void {
    let senders = this.#waiting.get(address)
    if (senders === undefined) {
      senders = new Map()
      this.#waiting.set(address, senders)
    }
    const requests = senders.get(credentials)
    if (requests) requests.push(begin)
    else senders.set(credentials, [begin])
    this.#count++
    this.#schedule()
  }

  /**
   * One immediate for each request: Node runs the promises of one before the next, so that the time they take
   * is seen.
   */
  #schedule(): void {
    for (; this.#starts < Math.min(this.#count, MAX_STARTS); this.#starts++) setImmediate(() => this.#start())
  }

  #start(): void {
    this.#starts--
    const isInTime = this.#now() - this.#began < PHASE_MS
    const begin = isInTime ? this.#next() : undefined
    if (this.#starts === 0 && this.#count > 0) {
      // In the next iteration.
      if (!this.#isOpen) this.#open()
      this.#schedule()
    }
    begin?.()
  }

  /** The next request. Its address and its sender go to the end of their lines. */
  #next(): (() => void) | undefined {
    for (const [address, senders] of this.#waiting) {
      this.#waiting.delete(address)
      for (const [credentials, requests] of senders) {
        senders.delete(credentials)
        const begin = requests.shift()
        if (requests.length > 0) senders.set(credentials, requests)
        if (senders.size > 0) this.#waiting.set(address, senders)
        this.#count--
        return begin
      }
    }
    return undefined
  }
}

/** One instance, because a process has one event loop. */
export const requestTurns = new RequestTurns()
