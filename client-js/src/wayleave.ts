import { type Aggregate, type AggregateOptions, aggregate } from './aggregate.ts'
import { type Call, startCall } from './call.ts'
import { CHANGES_OPTIONS, type Change, type ChangesOptions, changesOf, changesPath } from './changes.ts'
import { checkFormat, checkOptions, checkTable } from './check-arguments.ts'
import type { Archive, Dataset, ExportFormat } from './contract.ts'
import { DELIVERY_OPTIONS, type DeliveryOptions, deliver, filePath, type Sink } from './deliver.ts'
import { Items, type ItemsOptions } from './items.ts'
import { type MapRequest, mapRequest } from './map-request.ts'
import { withNameHints } from './name-hints.ts'
import { Publisher } from './publisher.ts'
import type { Receipt } from './response-info.ts'
import type { Row } from './row.ts'
import { transportOf, type WayleaveOptions } from './settings.ts'
import { type NodeWritable, streamSink } from './stream-sink.ts'
import { TILES_OPTIONS, type TileSource, type TilesOptions, tileSource } from './tile-source.ts'
import { CALL_OPTIONS, type CallOptions, getJson, type Transport } from './transport.ts'

/** The result of `download`: `Buffer` in a project that has Node's types, else `Blob`. */
export type DownloadResult = typeof globalThis extends { Buffer: { prototype: infer B } } ? B : Blob

/** The name of a download format. A service may offer formats that this version of the client does not know. */
export type DownloadFormat = ExportFormat | (string & Record<never, never>)

/** Reads the datasets of a Wayleave service. */
export class Wayleave {
  readonly #transport: Transport

  /** What publishers do: publish files, release drafts, roll back, set sources. Needs a key with `write`. */
  readonly publisher: Publisher

  constructor(options: WayleaveOptions = {}) {
    this.#transport = transportOf(options)
    this.publisher = new Publisher(this.#transport)
  }

  /** All datasets of the service. Needs no key. */
  datasets(options: CallOptions = {}): Call<Dataset[]> {
    return startCall(async (receipt) => {
      checkOptions('datasets()', options, CALL_OPTIONS)
      const path = '/v1/datasets'
      return (await getJson<{ data: Dataset[] }>(this.#transport, path, options, receipt)).data
    })
  }

  /** A dataset's metadata: its columns, size, version, price and formats. Needs no key. */
  dataset(table: string, options: CallOptions = {}): Call<Dataset> {
    return startCall((receipt) => this.#read<Dataset>('dataset()', table, '', options, receipt))
  }

  /** All versions of a dataset, the newest first. Needs no key. */
  archives(table: string, options: CallOptions = {}): Call<Archive[]> {
    return startCall(async (receipt) => {
      type List = { data: Archive[] }
      return (await this.#read<List>('archives()', table, '/archives', options, receipt)).data
    })
  }

  /** Some rows of a dataset, free of charge. Needs no key. */
  sample(table: string, options: CallOptions = {}): Call<Row[]> {
    return startCall((receipt) => this.#read<Row[]>('sample()', table, '/sample/json', options, receipt))
  }

  /** Awaited, the first page of features; iterated with `for await`, all features. */
  items<P = Record<string, unknown>>(table: string, options: ItemsOptions = {}): Items<P> {
    return new Items<P>(this.#transport, table, options)
  }

  /**
   * Groups of the features that match, with measures of each group: how many, how much, where, since when. Costs
   * nothing.
   */
  aggregate(table: string, options: AggregateOptions = {}): Call<Aggregate> {
    return startCall((receipt) => aggregate(this.#transport, table, options, receipt))
  }

  /**
   * The vector tiles of a dataset, as MapLibre's `addSource` takes them: all features, or those that a filter
   * selects. The tiles' layer has the table's name.
   */
  tiles(table: string, options: TilesOptions = {}): Call<TileSource> {
    return startCall(async (receipt) => {
      checkTable('tiles()', table)
      checkOptions('tiles()', options, TILES_OPTIONS)
      return withNameHints(this.#transport, { table }, options, () =>
        tileSource(this.#transport, table, options, receipt),
      )
    })
  }

  /** A whole dataset as a file in memory: a Buffer in Node, a Blob in browsers. Costs the dataset's credits. */
  download(table: string, format: DownloadFormat, options: DeliveryOptions & { as: 'blob' }): Call<Blob>
  download(table: string, format: DownloadFormat, options?: DeliveryOptions): Call<DownloadResult>
  download(
    table: string,
    format: DownloadFormat,
    options: DeliveryOptions & { as?: 'blob' } = {},
  ): Call<unknown> {
    return startCall(async (receipt) => {
      checkOptions('download()', options, ['as', ...DELIVERY_OPTIONS])
      let chunks: Uint8Array<ArrayBuffer>[] = []
      let type = ''
      const sink = {
        restart: (response: Response) => {
          chunks = []
          type = response.headers.get('content-type') ?? ''
        },
        write: (chunk: Uint8Array<ArrayBuffer>) => void chunks.push(chunk),
      }
      await this.#deliver('download()', table, format, sink, options, receipt)
      const { process, Buffer } = globalThis as {
        process?: { versions?: { node?: string } }
        Buffer?: { concat(list: Uint8Array[]): Uint8Array }
      }
      return process?.versions?.node && Buffer && options.as !== 'blob'
        ? Buffer.concat(chunks)
        : new Blob(chunks, { type })
    })
  }

  /**
   * Writes a whole dataset to a stream, web or Node, which is closed at the end and aborted on failure. Costs the
   * dataset's credits. Returns the number of bytes.
   */
  downloadTo(
    table: string,
    format: DownloadFormat,
    stream: WritableStream<Uint8Array> | NodeWritable,
    options: DeliveryOptions = {},
  ): Call<number> {
    return startCall(async (receipt) => {
      const sink = streamSink(stream)
      try {
        checkOptions('downloadTo()', options, DELIVERY_OPTIONS)
        const bytes = await this.#deliver('downloadTo()', table, format, sink, options, receipt)
        await sink.end()
        return bytes
      } catch (error) {
        sink.fail(error)
        throw error
      }
    })
  }

  /**
   * The features that were added, removed and changed since a version. Costs the dataset's credits once, however many
   * versions have followed.
   */
  changes<P = Record<string, unknown>>(table: string, options: ChangesOptions): Call<Change<P>[]> {
    return startCall(async (receipt) => {
      checkTable('changes()', table)
      checkOptions('changes()', options, CHANGES_OPTIONS)
      const path = changesPath(table, options)
      return withNameHints(this.#transport, { table }, options, async () => {
        let chunks: Uint8Array<ArrayBuffer>[] = []
        const sink = {
          restart: () => {
            chunks = []
          },
          write: (chunk: Uint8Array<ArrayBuffer>) => void chunks.push(chunk),
        }
        await deliver(this.#transport, path, sink, options, receipt)
        return changesOf<P>(chunks)
      })
    })
  }

  /**
   * MapLibre's `transformRequest`: adds the key to requests for this service's API, and returns undefined for all
   * other addresses, so that the key is never sent to another server.
   */
  readonly transformRequest = (url: string): MapRequest | Promise<MapRequest> | undefined =>
    mapRequest(this.#transport, url)

  async #read<T>(
    call: string,
    table: string,
    path: string,
    options: CallOptions,
    receipt: Receipt,
  ): Promise<T> {
    checkTable(call, table)
    checkOptions(call, options, CALL_OPTIONS)
    const address = `/v1/dataset/${encodeURIComponent(table)}${path}`
    return withNameHints(this.#transport, { table }, options, () =>
      getJson<T>(this.#transport, address, options, receipt),
    )
  }

  async #deliver(
    call: string,
    table: string,
    format: string,
    sink: Sink,
    options: DeliveryOptions,
    receipt: Receipt,
  ): Promise<number> {
    checkTable(call, table)
    checkFormat(call, format)
    return withNameHints(this.#transport, { table, format }, options, () =>
      deliver(this.#transport, filePath(table, format, options.version), sink, options, receipt),
    )
  }
}
