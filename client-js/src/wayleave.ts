import type { Archive, Dataset, Row } from './dataset.ts'
import { type DeliveryOptions, deliver, filePath } from './deliver.ts'
import { WayleaveError } from './errors.ts'
import { Items, type ItemsOptions } from './items.ts'
import { sleep } from './retry.ts'
import { type NodeWritable, streamSink } from './stream-sink.ts'
import { type ApiKey, type CallOptions, getJson, type Transport } from './transport.ts'

export interface WayleaveOptions {
  /** The key, or a function that gives one for each request. */
  apiKey: ApiKey
  /** The service's address; in a browser it defaults to the page's own origin. */
  baseUrl?: string | undefined
  /** Milliseconds without a byte after which a call is tried again or given up (60,000); 0 waits for ever. */
  timeout?: number | undefined
  /** How often a failed call is tried again (4). */
  maxRetries?: number | undefined
  fetch?: typeof fetch | undefined
  /** Between 0 and 1: spreads the pauses between tries. */
  random?: (() => number) | undefined
  sleep?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined
}

/** `Buffer` where a project has Node's types, else `Blob`: what `download` gives there. */
export type DownloadResult = typeof globalThis extends { Buffer: { prototype: infer B } } ? B : Blob

/** Reads the datasets of a Wayleave service. */
export class Wayleave {
  readonly #transport: Transport

  constructor(options: WayleaveOptions) {
    const { apiKey, timeout = 60_000, maxRetries = 4, random = Math.random } = options
    const baseUrl = options.baseUrl ?? (globalThis as { location?: Location }).location?.origin
    const key = typeof apiKey === 'string' ? apiKey.trim() : apiKey
    if (!key)
      throw new WayleaveError('There is no API key: pass apiKey. Make one on the keys page of the console.')
    if (typeof key === 'string' && !/^[!-~]+$/.test(key)) {
      throw new WayleaveError(
        'The API key holds characters that no key has: was something else copied along?',
      )
    }
    if (!baseUrl) throw new WayleaveError('There is no base URL: pass baseUrl, the address of the service.')
    this.#transport = {
      apiKey: key,
      baseUrl: baseUrl.replace(/\/+$/, ''),
      timeout,
      maxRetries,
      random,
      // Called as a function: as a method of another object, a browser's fetch refuses.
      fetch: options.fetch ?? ((input, init) => fetch(input, init)),
      sleep: options.sleep ?? sleep,
    }
  }

  /** All datasets of the service. */
  async datasets(options: CallOptions = {}): Promise<Dataset[]> {
    return (await getJson<{ data: Dataset[] }>(this.#transport, '/v1/datasets', options)).data
  }

  /** What there is to know of a dataset: its columns, size, version, price and formats. */
  dataset(table: string, options: CallOptions = {}): Promise<Dataset> {
    return getJson(this.#transport, `/v1/dataset/${encodeURIComponent(table)}`, options)
  }

  /** All versions of a dataset, the newest first. */
  async archives(table: string, options: CallOptions = {}): Promise<Archive[]> {
    const path = `/v1/dataset/${encodeURIComponent(table)}/archives`
    return (await getJson<{ data: Archive[] }>(this.#transport, path, options)).data
  }

  /** A few rows of a dataset, free of charge. */
  sample(table: string, options: CallOptions = {}): Promise<Row[]> {
    return getJson(this.#transport, `/v1/dataset/${encodeURIComponent(table)}/sample/json`, options)
  }

  /** Awaited, the first page of features; iterated with `for await`, all features. */
  items<P = Record<string, unknown>>(table: string, options: ItemsOptions = {}): Items<P> {
    return new Items<P>(this.#transport, table, options)
  }

  /** A whole dataset as a file in memory: a Buffer in Node, a Blob in browsers. Costs the dataset's credits. */
  download(table: string, format: string, options: DeliveryOptions & { as: 'blob' }): Promise<Blob>
  download(table: string, format: string, options?: DeliveryOptions): Promise<DownloadResult>
  async download(
    table: string,
    format: string,
    options: DeliveryOptions & { as?: 'blob' } = {},
  ): Promise<unknown> {
    let chunks: Uint8Array<ArrayBuffer>[] = []
    let type = ''
    const sink = {
      restart: (response: Response) => {
        chunks = []
        type = response.headers.get('content-type') ?? ''
      },
      write: (chunk: Uint8Array<ArrayBuffer>) => void chunks.push(chunk),
    }
    await deliver(this.#transport, filePath(table, format, options.version), sink, options)
    const { process, Buffer } = globalThis as {
      process?: { versions?: { node?: string } }
      Buffer?: { concat(list: Uint8Array[]): Uint8Array }
    }
    return process?.versions?.node && Buffer && options.as !== 'blob'
      ? Buffer.concat(chunks)
      : new Blob(chunks, { type })
  }

  /**
   * A whole dataset into a stream, web or Node, which is closed at the end and aborted on failure. Costs the
   * dataset's credits. Returns the number of bytes.
   */
  async downloadTo(
    table: string,
    format: string,
    stream: WritableStream<Uint8Array> | NodeWritable,
    options: DeliveryOptions = {},
  ): Promise<number> {
    const sink = streamSink(stream)
    try {
      const bytes = await deliver(this.#transport, filePath(table, format, options.version), sink, options)
      await sink.end()
      return bytes
    } catch (error) {
      sink.fail(error)
      throw error
    }
  }
}
