import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

export type LinkState =
  /** Bytes are forwarded after `delayMs`. */
  | 'open'
  /** Nothing is forwarded and nothing is closed; sent bytes arrive when the link opens again. */
  | 'frozen'
  /** Like a firewall that lost its state: connections stay open but dead. New ones get no response. */
  | 'dead'
  /** Like a server that is restarted: connections are closed, and so are new ones. */
  | 'down'

/** A TCP proxy on loopback that simulates the network between a node and its database. */
export class TcpProxy {
  readonly #server: Server
  readonly #links = new Set<Link>()
  #state: LinkState = 'open'
  delayMs = 0

  private constructor(target: { host: string; port: number }) {
    this.#server = createServer((client) => {
      if (this.#state === 'down') return void client.destroy()
      const link: Link = new Link(client, {
        connect: () => connect(target.port, target.host),
        delay: () => this.delayMs,
        state: this.#state,
        onEnd: () => this.#links.delete(link),
      })
      this.#links.add(link)
    })
  }

  /** Returns the target's URL with the proxy's host and port. `cleanUp` registers what closes the proxy. */
  static async open(
    url: string,
    cleanUp: (close: () => Promise<void>) => void,
  ): Promise<{ proxy: TcpProxy; url: string }> {
    const target = new URL(url)
    const proxy = new TcpProxy({ host: target.hostname, port: Number(target.port) })
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    cleanUp(() => proxy.close())
    target.port = String((proxy.#server.address() as AddressInfo).port)
    target.hostname = '127.0.0.1'
    return { proxy, url: target.href }
  }

  set(state: LinkState): void {
    this.#state = state
    for (const link of this.#links) {
      if (state === 'down') link.destroy()
      else link.state = state
    }
  }

  /** Kills the open connections silently. New ones are accepted, and wait until the link opens again. */
  cut(): void {
    this.set('dead')
    this.set('frozen')
  }

  /** Closes all connections and refuses new ones, like a server that is down. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const link of this.#links) link.destroy()
    await closed
  }
}

interface LinkOptions {
  connect: () => Socket
  delay: () => number
  state: LinkState
  onEnd: () => void
}

/** One connection through the proxy. */
class Link {
  readonly #client: Socket
  readonly #options: LinkOptions
  #server: Socket | null = null
  #state: LinkState
  readonly #held: (() => void)[] = []

  constructor(client: Socket, options: LinkOptions) {
    this.#client = client
    this.#options = options
    this.#state = options.state
    client.on('error', () => {})
    client.on('close', () => this.#pass(() => this.destroy()))
    client.on('data', (bytes) => this.#pass(() => this.#server?.write(bytes)))
    this.#pass(() => this.#open())
  }

  /** A link that has been dead stays dead. */
  set state(state: LinkState) {
    if (this.#state === 'dead') return
    this.#state = state
    if (state === 'dead') this.#held.length = 0
    if (state === 'open') for (const work of this.#held.splice(0)) work()
  }

  destroy(): void {
    this.#client.destroy()
    this.#server?.destroy()
    this.#options.onEnd()
  }

  #open(): void {
    const server = this.#options.connect()
    this.#server = server
    server.on('data', (bytes) => this.#pass(() => this.#client.write(bytes)))
    server.on('error', () => {})
    server.on('close', () => this.#pass(() => this.destroy()))
  }

  /** A close waits and is lost like bytes: the other side does not learn of it. */
  #pass(work: () => void): void {
    if (this.#state === 'dead') return
    if (this.#state === 'frozen') this.#held.push(work)
    else if (this.#options.delay() > 0) setTimeout(() => this.#passLate(work), this.#options.delay())
    else work()
  }

  /** After its delay, a chunk also waits if the link was frozen meanwhile. */
  #passLate(work: () => void): void {
    if (this.#state === 'frozen') this.#held.push(work)
    else if (this.#state === 'open') work()
  }
}
