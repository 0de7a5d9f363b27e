import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'

/*
 * Everything in which the server relies on fields of Node that are not documented. A newer Node may rename them,
 * so `canBypassHead` is asked at start-up; without it the socket transport stays off and all responses go through
 * the documented way.
 */

interface Head {
  _header: string | null
  _headerSent: boolean
}

/** Whether a response of this Node can be told that its head is sent, tried on one that is never sent. */
export function canBypassHead(): boolean {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  const { _header, _headerSent } = response as ServerResponse & Partial<Head>
  if (_header !== null || _headerSent !== false || response.headersSent) return false
  markHeadSent(response, 'HTTP/1.1 200 OK')
  return response.headersSent
}

/** Tells a response that its head is sent: it will write none of its own, and only has to be ended. */
export function markHeadSent(response: ServerResponse, statusLine: string): void {
  const head = response as ServerResponse & Head
  head._header = statusLine
  head._headerSent = true
}

/** The response that is being sent on a socket, if there is one. */
export function responseOn(socket: Socket): ServerResponse | null {
  return (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage ?? null
}

/**
 * How many bytes the operating system has taken from a socket. `socket.bytesWritten` counts a large write only
 * when all of it is taken; the handle counts its parts. Without a handle the public number has to do.
 */
export function bytesTaken(socket: Socket): number {
  const { _handle: handle } = socket as Socket & {
    _handle?: { bytesWritten?: number; writeQueueSize?: number } | null
  }
  if (handle?.bytesWritten === undefined || handle.writeQueueSize === undefined) {
    return socket.bytesWritten - socket.writableLength
  }
  return handle.bytesWritten - handle.writeQueueSize
}
