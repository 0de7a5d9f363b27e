import { writeSync, writevSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import * as http from '../../base/node-http.ts'

/*
 * All code that relies on undocumented fields of Node. A newer Node may rename them, so `canBypassHead` is
 * checked at startup; if it fails, the socket transport stays off and all responses are sent through the
 * documented API.
 */

interface Head {
  _header: string | null
  _headerSent: boolean
}

/**
 * Whether this Node allows marking a response's head as sent; tested on a response that is never sent.
 *
 * See docs/decisions/two-transports.md.
 */
export function canBypassHead(): boolean {
  const response = new http.ServerResponse(new http.IncomingMessage(new Socket()))
  const { _header, _headerSent } = response as ServerResponse & Partial<Head>
  if (_header !== null || _headerSent !== false || response.headersSent) return false
  markHeadSent(response, 'HTTP/1.1 200 OK')
  return response.headersSent
}

/** Marks the response's head as sent: it will not write its own, and only has to be ended. */
export function markHeadSent(response: ServerResponse, statusLine: string): void {
  const head = response as ServerResponse & Head
  head._header = statusLine
  head._headerSent = true
}

/**
 * Ends the body of a GET or HEAD request that has none, so that Node does not run the life cycle of an empty stream: a tenth
 * of the time of a small response. Node's option `optimizeEmptyRequests` does the same for all methods, but Fastify waits
 * for the end of a POST without a length. Does nothing if this Node has no such method.
 */
export function endEmptyBody(request: IncomingMessage): void {
  const { method, headers } = request
  if (method !== 'GET' && method !== 'HEAD') return
  if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) return
  const internals = request as IncomingMessage & { _dumpAndCloseReadable?(): void; _read(size: number): void }
  if (internals._dumpAndCloseReadable === undefined) return
  internals._dumpAndCloseReadable()
  internals._read(0)
}

/** The response that is being sent on a socket, or null. */
export function responseOn(socket: Duplex): ServerResponse | null {
  return (socket as Duplex & { _httpMessage?: ServerResponse | null })._httpMessage ?? null
}

/**
 * The number of bytes that the operating system has accepted from a socket. `socket.bytesWritten` counts a
 * large write only when all of it is accepted; the handle counts its parts. Falls back to the public number
 * if there is no handle.
 */
export function bytesTaken(socket: Socket): number {
  const { _handle: handle } = socket as Socket & {
    _handle?: { bytesWritten?: number; writeQueueSize?: number } | null
  }
  const past = takenPastNode.get(socket) ?? 0
  if (handle?.bytesWritten === undefined || handle.writeQueueSize === undefined) {
    return past + socket.bytesWritten - socket.writableLength
  }
  return past + handle.bytesWritten - handle.writeQueueSize
}

/** Bytes that the operating system accepted without Node, which does not count them. */
const takenPastNode = new WeakMap<Socket, number>()

export function addBytesTaken(socket: Socket, bytes: number): void {
  takenPastNode.set(socket, (takenPastNode.get(socket) ?? 0) + bytes)
}

/**
 * Gives bytes to the operating system without Node's stream, which takes half as long as the system itself for a small
 * response. Returns how many bytes the system has accepted: none if bytes wait in the stream, or if there is an error,
 * which the next write of the stream reports.
 */
export function writeNow(socket: Socket, parts: readonly Buffer[]): number {
  const descriptor = descriptorOf(socket)
  if (descriptor === null || socket.writableLength > 0 || socket.writableCorked > 0 || !socket.writable)
    return 0
  try {
    const accepted = parts.length === 1 ? writeSync(descriptor, parts[0]!) : writevSync(descriptor, parts)
    addBytesTaken(socket, accepted)
    return accepted
  } catch {
    return 0
  }
}

/** The number of an open TCP socket for the operating system; null for other sockets and closed ones. */
export function descriptorOf(socket: Socket): number | null {
  const { _handle: handle } = socket as Socket & { _handle?: { fd?: number } | null }
  return handle?.fd !== undefined && handle.fd >= 0 && !('encrypted' in socket) ? handle.fd : null
}
