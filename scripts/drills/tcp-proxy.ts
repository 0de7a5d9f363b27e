import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import type { DrillRun } from './drill.ts'

export type LinkState =
  /** Bytes are forwarded after `delayMs`. */
  | 'open'
  /** Nothing is forwarded and nothing is closed; sent bytes arrive when the link opens again. */
  | 'frozen'
  /** Like a firewall that lost its state: connections stay open but dead. New ones get no response. */
  | 'dead'

/** A TCP proxy on loopback that simulates the network between a node and its database. */
export class TcpProxy {
  readonly #server: Server
  readonly #links = new Set<Link>()
  #state: LinkState = 'open'
  delayMs = 0

  private constructor(target: { host: string; port: number }) {
    this.#server = createServer((client) => {
      const link = new Link(
        client,
        () => connect(target.port, target.host),
        () => this.delayMs,
      )
      this.#links.add(link)
      link.onEnd(() => this.#links.delete(link))
      link.state = this.#state
    })
  }

  static async open(run: DrillRun, url: string): Promise<{ proxy: TcpProxy; url: string }> {
    const target = new URL(url)
    const proxy = new TcpProxy({ host: target.hostname, port: Number(target.port) })
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    run.cleanUp(() => proxy.close())
    target.port = String((proxy.#server.address() as AddressInfo).port)
    target.hostname = '127.0.0.1'
    return { proxy, url: target.href }
  }

  set(state: LinkState): void {
    this.#state = state
    for (const link of this.#links) link.state = state
  }

  close(): void {
    this.#server.close()
    for (const link of this.#links) link.destroy()
  }
}

/** One connection through the proxy. */
class Link {
  readonly #client: Socket
  readonly #connect: () => Socket
  readonly #delay: () => number
  #server: Socket | null = null
  #state: LinkState = 'open'
  readonly #held: (() => void)[] = []

  constructor(client: Socket, connectServer: () => Socket, delay: () => number) {
    this.#client = client
    this.#connect = connectServer
    this.#delay = delay
    client.on('error', () => this.destroy())
    client.on('close', () => this.destroy())
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

  onEnd(work: () => void): void {
    this.#client.once('close', work)
  }

  destroy(): void {
    this.#client.destroy()
    this.#server?.destroy()
  }

  #open(): void {
    const server = this.#connect()
    this.#server = server
    server.on('data', (bytes) => this.#pass(() => this.#client.write(bytes)))
    server.on('error', () => this.#pass(() => this.destroy()))
    server.on('close', () => this.#pass(() => this.destroy()))
  }

  #pass(work: () => void): void {
    if (this.#state === 'dead') return
    if (this.#state === 'frozen') this.#held.push(work)
    else if (this.#delay() > 0) setTimeout(() => this.#pass0(work), this.#delay())
    else work()
  }

  /** After its delay, a chunk also waits if the link was frozen meanwhile. */
  #pass0(work: () => void): void {
    if (this.#state === 'frozen') this.#held.push(work)
    else if (this.#state === 'open') work()
  }
}
