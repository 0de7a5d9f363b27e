import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { cleanUp } from './cleanup.ts'

export interface TcpProxy {
  /** The target's URL, with the proxy's host and port. */
  url: string
  /**
   * From now on nothing is forwarded and nothing is closed, as on a link that died silently. Connections that
   * are open now stay dead; new ones are accepted, and forward nothing until `heal`.
   */
  freeze(): void
  /** Forwards again for new connections, and for those accepted while frozen. */
  heal(): void
  /** Refuses connections and closes the open ones, like a server that is down. */
  refuse(): Promise<void>
}

/** A TCP proxy on loopback that can stop forwarding without closing connections. */
export async function openTcpProxy(t: TestContext, target: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const waiting = new Set<Socket>()
  let frozen = false
  const track = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    return socket
  }
  const forward = (inward: Socket) => {
    const outward = track(connect(Number(port), hostname))
    inward.pipe(outward)
    outward.pipe(inward)
    inward.on('close', () => outward.destroy())
    outward.on('close', () => inward.destroy())
  }
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    track(socket)
    if (frozen) waiting.add(socket)
    else forward(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const destroyAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  cleanUp(t, () => {
    server.close()
    destroyAll()
  })
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    freeze() {
      frozen = true
      for (const socket of sockets) {
        socket.unpipe()
        socket.pause()
        socket.removeAllListeners('close')
        socket.on('close', () => sockets.delete(socket))
      }
    },
    heal() {
      frozen = false
      for (const socket of waiting) if (!socket.destroyed) forward(socket)
      waiting.clear()
    },
    async refuse() {
      const closed = once(server, 'close')
      server.close()
      destroyAll()
      await closed
    },
  }
}
