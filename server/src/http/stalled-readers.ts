import type { Server } from 'node:http'
import type { Socket } from 'node:net'

export interface Patience {
  /** How long a reader may take nothing of what waits for it, in milliseconds. */
  milliseconds: number
  /** What readers that take nothing may hold together before the most idle of them are sent away sooner. */
  mostBytes: number
}

/** Looks come this often, or often enough for a shorter patience. */
const LOOK_MS = 1000
const LEAST_LOOKS = 4

/** How often in a row a connection was found as it was before. */
interface Stall {
  finished: number
  queued: number
  looks: number
}

/**
 * Closes connections whose reader has stopped reading: TCP itself would hold them, and all that waits for
 * them, for as long as the other side's system answers. One look at all connections now and then, so that a
 * request pays nothing for it. A socket's own timeout would not do: it also ends requests that take long to
 * answer. Looks are counted, not time, so that a pause of this process is held against nobody.
 *
 * The system takes no byte of a full buffer before a third of it is free, which is up to 1.3 MB: a patience of
 * two minutes asks for 11 KB a second at the worst.
 */
export class StalledReaders {
  readonly #connections = new Set<Socket>()
  readonly #stalls = new Map<Socket, Stall>()
  readonly #mostLooks: number
  readonly #mostBytes: number
  readonly #closed: (count: number) => void
  readonly #timer: NodeJS.Timeout

  constructor(server: Server, { milliseconds, mostBytes }: Patience, closed: (count: number) => void) {
    const every = Math.min(LOOK_MS, milliseconds / LEAST_LOOKS)
    this.#mostLooks = Math.ceil(milliseconds / every)
    this.#mostBytes = mostBytes
    this.#closed = closed
    server.on('connection', (socket: Socket) => {
      this.#connections.add(socket)
      socket.once('close', () => {
        this.#connections.delete(socket)
        this.#stalls.delete(socket)
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
      const looks = this.#looksSinceProgress(socket)
      if (looks >= this.#mostLooks) {
        socket.destroy()
        count++
      } else if (looks > 0) held += socket.writableLength
    }
    if (held > this.#mostBytes) count += this.#makeRoom(held)
    if (count > 0) this.#closed(count)
  }

  #looksSinceProgress(socket: Socket): number {
    if (socket.writableLength === 0) {
      if (this.#stalls.size > 0) this.#stalls.delete(socket)
      return 0
    }
    const finished = socket.bytesWritten - socket.writableLength
    // A single large write is taken in parts, which only the handle itself tells of.
    const queued = (socket as Socket & { _handle?: { writeQueueSize?: number } })._handle?.writeQueueSize ?? 0
    const stall = this.#stalls.get(socket)
    if (stall?.finished === finished && stall.queued === queued) return ++stall.looks
    this.#stalls.set(socket, { finished, queued, looks: 0 })
    return 0
  }

  /** Whoever has taken nothing for longest goes first. */
  #makeRoom(held: number): number {
    let count = 0
    for (const [socket, { looks }] of [...this.#stalls].sort(([, a], [, b]) => b.looks - a.looks)) {
      if (looks === 0 || held <= this.#mostBytes) break
      if (socket.destroyed) continue
      held -= socket.writableLength
      socket.destroy()
      count++
    }
    return count
  }
}
