import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { bytesTaken } from './node-internals.ts'

export interface Patience {
  /** How long a reader may take nothing, or almost nothing, of what waits for it, in milliseconds. */
  milliseconds: number
  /** What readers that take nothing may hold together before the most idle of them are sent away sooner. */
  mostBytes: number
  /** What a reader takes at least, on the average of its patience. */
  leastBytesASecond?: number
}

/** Looks come this often, or often enough for a shorter patience. */
const LOOK_MS = 1000
const LEAST_LOOKS = 4

/** Far below any link that would ever bring a file to its end; nobody holds a connection for days with less. */
const LEAST_BYTES_A_SECOND = 1024

/** A connection for whose reader something has waited at every look. */
interface Wait {
  taken: number
  /** How often in a row nothing was taken. */
  looks: number
  /** Where the reader stood when this stretch of a whole patience began, and how many looks it is old. */
  takenBefore: number
  stretch: number
}

/**
 * Closes connections whose reader has stopped reading, or all but stopped: TCP itself would hold them, and all
 * that waits for them, for as long as the other side's system answers. One look at all connections now and
 * then, so that a request pays nothing for it. A socket's own timeout would not do: it also ends requests that
 * take long to answer. Looks are counted, not time, so that a pause of this process is held against nobody.
 *
 * The system takes no byte of a full buffer before a third of it is free, which is up to 1.3 MB: a patience of
 * two minutes asks for 11 KB a second at the worst. Where it takes bytes in smaller steps, 2 KB a second are
 * always enough.
 */
export class StalledReaders {
  readonly #connections = new Set<Socket>()
  readonly #waits = new Map<Socket, Wait>()
  readonly #mostLooks: number
  readonly #leastBytes: number
  readonly #mostBytes: number
  readonly #closed: (count: number) => void
  readonly #timer: NodeJS.Timeout

  constructor(
    server: Server,
    { milliseconds, mostBytes, leastBytesASecond = LEAST_BYTES_A_SECOND }: Patience,
    closed: (count: number) => void,
  ) {
    const every = Math.min(LOOK_MS, milliseconds / LEAST_LOOKS)
    this.#mostLooks = Math.ceil(milliseconds / every)
    this.#leastBytes = (leastBytesASecond * milliseconds) / 1000
    this.#mostBytes = mostBytes
    this.#closed = closed
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
      if (wait.looks >= this.#mostLooks || this.#isTooSlow(wait)) {
        socket.destroy()
        count++
      } else if (wait.looks > 0) held += socket.writableLength
    }
    if (held > this.#mostBytes) count += this.#makeRoom(held)
    if (count > 0) this.#closed(count)
  }

  #waitOf(socket: Socket): Wait | null {
    if (socket.writableLength === 0) {
      if (this.#waits.size > 0) this.#waits.delete(socket)
      return null
    }
    const taken = bytesTaken(socket)
    const wait = this.#waits.get(socket)
    if (!wait) {
      const fresh = { taken, looks: 0, takenBefore: taken, stretch: 0 }
      this.#waits.set(socket, fresh)
      return fresh
    }
    wait.looks = taken === wait.taken ? wait.looks + 1 : 0
    wait.taken = taken
    wait.stretch++
    return wait
  }

  #isTooSlow(wait: Wait): boolean {
    if (wait.stretch < this.#mostLooks) return false
    const took = wait.taken - wait.takenBefore
    wait.takenBefore = wait.taken
    wait.stretch = 0
    return took < this.#leastBytes
  }

  /** Whoever has taken nothing for longest goes first. */
  #makeRoom(held: number): number {
    let count = 0
    for (const [socket, { looks }] of [...this.#waits].sort(([, a], [, b]) => b.looks - a.looks)) {
      if (looks === 0 || held <= this.#mostBytes) break
      if (socket.destroyed) continue
      held -= socket.writableLength
      socket.destroy()
      count++
    }
    return count
  }
}
