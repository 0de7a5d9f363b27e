import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** A TCP proxy in front of the real service, for failures that a service does not produce on demand. */
export class TestProxy {
  /** For each of the next connections: the number of response bytes after which it is cut. */
  cuts: number[] = []
  /** How many of the next connections get no response. */
  stalls = 0
  /** Transforms the bytes of responses. */
  change = (data: Buffer) => data
  /** Everything that clients sent. */
  received = ''
  readonly #server: Server
  readonly #open = new Set<Socket>()

  private constructor(upstream: number) {
    this.#server = createServer((client) => this.#forward(client, upstream))
  }

  static async open(upstream: number): Promise<TestProxy> {
    const proxy = new TestProxy(upstream)
    await once(proxy.#server.listen(0, '127.0.0.1'), 'listening')
    return proxy
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as { port: number }).port}`
  }

  /** The values of the Range headers so far. */
  get ranges(): string[] {
    return [...this.received.matchAll(/^range: (.*)\r$/gim)].map((match) => match[1]!)
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#open) socket.destroy()
  }

  #forward(client: Socket, upstream: number): void {
    const cut = this.cuts.shift()
    const stalls = this.stalls-- > 0
    const server = connect(upstream, '127.0.0.1')
    let sent = 0
    for (const socket of [client, server]) {
      this.#open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        client.destroy()
        server.destroy()
      })
    }
    client.on('data', (data) => {
      this.received += data.toString('latin1')
      server.write(data)
    })
    server.on('data', (data) => {
      if (stalls) return
      const bytes = this.change(data)
      if (cut !== undefined && sent + bytes.length >= cut) {
        server.pause()
        client.end(bytes.subarray(0, cut - sent))
        return
      }
      sent += bytes.length
      // Backpressure: a slow reader slows the sender, as on any network.
      if (!client.write(bytes)) {
        server.pause()
        client.once('drain', () => server.resume())
      }
    })
  }
}
