import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { bytesTaken } from './node-internals.ts'

/** See docs/decisions/stalled-readers.md. */
export interface Patience {
  /** How long a client may read nothing, or almost nothing, of the pending data, in milliseconds. */
  milliseconds: number
  /** Max bytes buffered for all stalled clients together; beyond it the longest stalled are closed early. */
  maxBytes: number
  /** Min read rate of a client, averaged over `milliseconds`. */
  leastBytesASecond?: number
}

/** The polling interval; shorter if `milliseconds` is short. */
const LOOK_MS = 1000
const MIN_LOOKS = 4

/** Too slow to ever finish a download; stops slower clients from holding a connection for days. */
const MIN_BYTES_A_SECOND = 1024

/** A connection that had pending data at every poll. */
interface Wait {
  taken: number
  /** Number of polls in a row at which nothing had been read. */
  looks: number
  /** Bytes read when the current averaging period began, and the number of polls since then. */
  takenBefore: number
  stretch: number
}

/**
 * Closes connections whose client has stopped reading, or almost stopped: TCP itself would keep them, and all
 * data buffered for them, as long as the client's operating system acknowledges. All connections are polled
 * by one timer, so that requests have no overhead. A socket timeout would not work: it also ends requests
 * that take long to respond. Polls are counted instead of time, so that a pause of this process is not
 * counted as a stall.
 *
 * The operating system accepts no byte into a full send buffer before a third of it is free, which is up to
 * 1.3 MB: with a timeout of two minutes, a client must read 11 KB a second in the worst case. If the system
 * accepts bytes in smaller steps, 2 KB a second are always enough.
 */
export class StalledReaders {
  /** How many connections were closed. */
  closed = 0
  readonly #connections = new Set<Socket>()
  readonly #waits = new Map<Socket, Wait>()
  readonly #maxLooks: number
  readonly #leastBytes: number
  readonly #maxBytes: number
  readonly #report: (count: number) => void
  readonly #timer: NodeJS.Timeout

  constructor(
    server: Server,
    { milliseconds, maxBytes, leastBytesASecond = MIN_BYTES_A_SECOND }: Patience,
    report: (count: number) => void,
  ) {
    const every = Math.min(LOOK_MS, milliseconds / MIN_LOOKS)
    this.#maxLooks = Math.ceil(milliseconds / every)
    this.#leastBytes = (leastBytesASecond * milliseconds) / 1000
    this.#maxBytes = maxBytes
    this.#report = report
    server.on('connection', (socket: Socket) => {
      this.#connections.add(socket)
      socket.once('close', () => {
        this.#connections.delete(socket)
        this.#waits.delete(socket)
      })
    })
    this.#timer = setInterval(() => this.#look(), every).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    let held = 0
    let count = 0
    for (const socket of this.#connections) {
      if (socket.destroyed) continue
      const wait = this.#waitOf(socket)
      if (wait === null) continue
      if (wait.looks >= this.#maxLooks || this.#isTooSlow(wait)) {
        socket.destroy()
        count++
      } else if (wait.looks > 0) held += socket.writableLength
    }
    if (held > this.#maxBytes) count += this.#makeRoom(held)
    if (count === 0) return
    this.closed += count
    this.#report(count)
  }

  #waitOf(socket: Socket): Wait | null {
    if (socket.writableLength === 0) {
      if (this.#waits.size > 0) this.#waits.delete(socket)
      return null
    }
    const byteCount = bytesTaken(socket)
    const wait = this.#waits.get(socket)
    if (!wait) {
      const fresh = { taken: byteCount, looks: 0, takenBefore: byteCount, stretch: 0 }
      this.#waits.set(socket, fresh)
      return fresh
    }
    wait.looks = byteCount === wait.taken ? wait.looks + 1 : 0
    wait.taken = byteCount
    wait.stretch++
    return wait
  }

  #isTooSlow(wait: Wait): boolean {
    if (wait.stretch < this.#maxLooks) return false
    const took = wait.taken - wait.takenBefore
    wait.takenBefore = wait.taken
    wait.stretch = 0
    return took < this.#leastBytes
  }

  /** Closes the longest stalled connections first. */
  #makeRoom(held: number): number {
    let count = 0
    for (const [socket, { looks }] of [...this.#waits].sort(([, a], [, b]) => b.looks - a.looks)) {
      if (looks === 0 || held <= this.#maxBytes) break
      if (socket.destroyed) continue
      held -= socket.writableLength
      socket.destroy()
      count++
    }
    return count
  }
}
