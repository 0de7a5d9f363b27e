import { BoundedCache } from '@wayleave/geodata/base'
import { type Clock, MINUTE } from '../../base/clock.ts'
import { outsideRequest } from '../../base/outside/outside-request.ts'
import { type Client, type ClientMetadata, readClient } from './client.ts'

const MAX_BYTES = 10_000
const TIMEOUT_MS = 5000
const KEPT_MS = 10 * MINUTE
const MAX_KEPT = 200

/** Clients whose id is the address of a document about them (OAuth Client ID Metadata Document). */
export class ClientDocuments {
  readonly #allowInternal: boolean
  readonly #clock: Clock
  readonly #kept = new BoundedCache<string, { client: Client; until: number }>(MAX_KEPT)

  constructor(options: { allowInternal: boolean; clock: Clock }) {
    this.#allowInternal = options.allowInternal
    this.#clock = options.clock
  }

  /** Null if there is no such document, or if it does not say what it must. */
  async find(id: string): Promise<Client | null> {
    const kept = this.#kept.get(id)
    const now = this.#clock().getTime()
    if (kept && kept.until > now) return kept.client
    const client = await this.#read(id).catch(() => null)
    if (client) this.#kept.set(id, { client, until: now + KEPT_MS })
    return client
  }

  async #read(id: string): Promise<Client | null> {
    const url = URL.parse(id)
    if (!url || url.href !== id || url.pathname === '/' || url.search !== '' || url.hash !== '') return null
    if (url.protocol !== 'https:' && !this.#allowInternal) return null
    const response = await outsideRequest(url, {
      headers: { accept: 'application/json' },
      allowInternal: this.#allowInternal,
      timeoutMs: TIMEOUT_MS,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > MAX_BYTES) return null
      chunks.push(chunk)
    }
    if (response.statusCode !== 200) return null
    const metadata = JSON.parse(Buffer.concat(chunks).toString()) as ClientMetadata & { client_id?: unknown }
    return metadata.client_id === id ? readClient(id, url.host, metadata) : null
  }
}
