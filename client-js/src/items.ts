import type { Feature } from './feature.ts'
import { type CallOptions, getJson, type Transport } from './transport.ts'

export interface ItemsOptions extends CallOptions {
  /** The size of a page, not of the whole. */
  limit?: number | undefined
  /** West, south, east, north in WGS84. */
  bbox?: readonly number[] | undefined
  /** CQL2, as text or as JSON. */
  filter?: string | object | undefined
  /** An instant or an interval, such as `2024-01-01/..`. */
  datetime?: string | undefined
  /** Columns, with `-` before those to sort downwards. */
  sortby?: string | readonly string[] | undefined
  /** The columns wanted. */
  properties?: readonly string[] | undefined
}

/** A page of features: a GeoJSON FeatureCollection, ready for any map. */
export interface ItemsPage<P = Record<string, unknown>> {
  type: 'FeatureCollection'
  features: Feature<P>[]
  links: { href: string; rel: string; type?: string; title?: string }[]
  numberReturned: number
  /** How many features match in all, where the service can tell. */
  numberMatched?: number
  timeStamp?: string
  /** The following page; undefined after the last. */
  readonly next: () => Promise<ItemsPage<P> | undefined>
}

/** Awaited, the first page; iterated, the features of all pages. Nothing is asked for before. */
export class Items<P = Record<string, unknown>>
  implements PromiseLike<ItemsPage<P>>, AsyncIterable<Feature<P>>
{
  readonly #first: () => Promise<ItemsPage<P>>

  constructor(transport: Transport, table: string, options: ItemsOptions) {
    const path = `/v1/ogc/collections/${encodeURIComponent(table)}/items`
    const page = async (query: string): Promise<ItemsPage<P>> => {
      const body = await getJson<ItemsPage<P>>(transport, path + query, options)
      const link = body.links?.find(({ rel }) => rel === 'next')?.href
      // The query alone: the key goes to the base URL and nowhere else, whatever a link says.
      const next = async () => (link ? page(link.slice(link.indexOf('?'))) : undefined)
      // Not enumerable, so that the page can be copied to a worker.
      return Object.defineProperty(body, 'next', { value: next })
    }
    this.#first = () => page(queryOf(options))
  }

  // biome-ignore lint/suspicious/noThenProperty: one call gives the page to those who await it, all to those who iterate.
  then<A = ItemsPage<P>, B = never>(
    resolve?: ((page: ItemsPage<P>) => A | PromiseLike<A>) | null,
    reject?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#first().then(resolve, reject)
  }

  async *pages(): AsyncGenerator<ItemsPage<P>, void, undefined> {
    for (let page: ItemsPage<P> | undefined = await this.#first(); page; page = await page.next()) yield page
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Feature<P>, void, undefined> {
    for await (const page of this.pages()) yield* page.features
  }
}

function queryOf({ limit, bbox, filter, datetime, sortby, properties }: ItemsOptions): string {
  const json = typeof filter === 'object'
  const given = {
    limit,
    bbox,
    filter: json ? JSON.stringify(filter) : filter,
    'filter-lang': filter && (json ? 'cql2-json' : 'cql2-text'),
    datetime,
    sortby,
    properties,
  }
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(given)) if (value !== undefined) query.set(name, String(value))
  return `?${query}`
}
