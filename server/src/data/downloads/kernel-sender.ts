import type { ServerResponse } from 'node:http'
import { addBytesTaken, descriptorOf } from '../../http/sockets/node-internals.ts'

/** Bytes that one call may send: a thread of the pool is not occupied for longer than some milliseconds. */
const CALL_BYTES = 8 << 20

/** After so many calls that sent nothing, the call is not permitted, or the file system does not support it. */
const MAX_VAIN_CALLS = 3

/** The functions of the C library that Node does not have. */
interface KernelCalls {
  dup(file: number): number
  close(file: number): number
  /** Resolves to the number of bytes sent; 0 or less if the socket accepts none now, or for any error. */
  sendfile(socket: number, file: number, position: number, bytes: number): Promise<number>
}

let loading: Promise<KernelCalls | null> | undefined

/**
 * Sends parts of a file to the client of a response by sendfile(2): the kernel passes the pages of the file to the
 * socket, in a thread of the pool, without a copy in this process.
 *
 * The socket is duplicated, so that its number cannot become that of another client's socket during a call.
 *
 * See docs/decisions/own-download-sending.md.
 */
export class KernelSender {
  readonly #calls: KernelCalls
  readonly #response: ServerResponse
  readonly #socket: number
  #vainCalls = 0
  #hasSent = false

  private constructor(calls: KernelCalls, response: ServerResponse, socket: number) {
    this.#calls = calls
    this.#response = response
    this.#socket = socket
  }

  /** Null if the system has no sendfile(2) that is known here, or the connection is closed. */
  static async open(response: ServerResponse): Promise<KernelSender | null> {
    loading ??= loadCalls()
    const calls = await loading
    const descriptor = response.socket ? descriptorOf(response.socket) : null
    if (!calls || descriptor === null) return null
    const socket = calls.dup(descriptor)
    return socket < 0 ? null : new KernelSender(calls, response, socket)
  }

  /** Whether it has never sent anything, although it was tried. */
  get isVain(): boolean {
    return !this.#hasSent && this.#vainCalls >= MAX_VAIN_CALLS
  }

  /**
   * Sends bytes of a file until the socket accepts no more, and returns their number. All that was written to the
   * response before must have been accepted.
   */
  async send(file: number, from: number, to: number): Promise<number> {
    let at = from
    while (at < to && !this.#response.destroyed) {
      const bytes = await this.#calls.sendfile(this.#socket, file, at, Math.min(CALL_BYTES, to - at))
      if (bytes <= 0) {
        this.#vainCalls++
        break
      }
      this.#hasSent = true
      at += bytes
      if (this.#response.socket) addBytesTaken(this.#response.socket, bytes)
    }
    return at - from
  }

  close(): void {
    this.#calls.close(this.#socket)
  }
}

/** The library is loaded at the first large download. */
async function loadCalls(): Promise<KernelCalls | null> {
  // Other systems have a sendfile with other arguments, or none.
  if (process.platform !== 'linux') return null
  try {
    const { default: koffi } = await import('koffi')
    const library = koffi.load(null)
    const sendfile = library.func(
      'int64_t sendfile(int socket, int file, _Inout_ int64_t *position, size_t bytes)',
    )
    const dup = library.func('int dup(int file)')
    const close = library.func('int close(int file)')
    return {
      dup: (file) => Number(dup(file)),
      close: (file) => Number(close(file)),
      sendfile: (socket, file, position, bytes) =>
        new Promise((resolve, reject) => {
          sendfile.async(socket, file, [position], bytes, (error: unknown, sent: number | bigint) => {
            if (error) reject(error)
            else resolve(Number(sent))
          })
        }),
    }
  } catch {
    // There is no build of the library for this processor or C library.
    return null
  }
}
